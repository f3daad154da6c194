// Machine files: what docs/machines.md describes, read, written and shipped with the library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nodewise/model/machine.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::io {

/// Local. Reads and checks a machine file. Throws file_not_found, or file_format with the file, the
/// place in it ("protocols.other_node.short.rate_bytes_per_s") and what is wrong there.
model::Machine read_machine(const std::string& path);

/// Local. Writes a machine file, which appears under its name only when it is complete; one rank
/// calls this. Throws invalid_argument where the machine is none that could be read again, and
/// file_io.
void write_machine(const std::string& path, const model::Machine& machine);

/// Local. The same for text; `origin` stands for the file in messages.
model::Machine parse_machine(std::string_view text, const std::string& origin);
std::string print_machine(const model::Machine& machine);

/// Local. The JSON schema of machine files, which docs/machine.schema.json is, and the table of
/// keys in docs/machines.md: of the same table as what reads, writes and checks them.
std::string machine_schema();
std::string machine_keys();

/// The machines that are part of the library, such as "blue-waters"; ascending.
std::vector<std::string> shipped_machine_names();

/// Local. The machine of that name that is part of the library; throws unknown_option, with the
/// names that there are.
model::Machine shipped_machine(std::string_view name);

/// Local. What a user means by a machine: a file where there is a slash in it or it ends in .json,
/// otherwise the name of a shipped one. Throws as they do.
model::Machine find_machine(const std::string& name_or_path);
/// Collective. The same, read by rank 0 for all; throws the same Error on every rank.
model::Machine find_machine(const mpi::Comm& comm, const std::string& name_or_path);

}  // namespace nodewise::io
