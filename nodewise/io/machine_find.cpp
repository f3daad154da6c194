#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/base/options.hpp"
#include "nodewise/io/collective.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/io/shipped_machines.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

std::vector<std::string> shipped_machine_names() {
  std::vector<std::string> names;
  for (const ShippedMachine& shipped : shipped_machines()) names.emplace_back(shipped.name);
  std::sort(names.begin(), names.end());
  return names;
}

model::Machine shipped_machine(std::string_view name) {
  for (const ShippedMachine& shipped : shipped_machines()) {
    if (shipped.name == name) return parse_machine(shipped.text, shipped.name);
  }
  const std::vector<std::string> names = shipped_machine_names();
  const int near = nearest_name(name, names);
  const std::string hint =
      near < 0 ? "" : fmt::format("did you mean '{}'? ", names[static_cast<std::size_t>(near)]);
  throw Error(ErrorCode::unknown_option,
              fmt::format("there is no machine '{}' ({}there are {}; a file's name must have a "
                          "slash in it or end in .json)",
                          name, hint, fmt::join(names, ", ")));
}

model::Machine find_machine(const std::string& name_or_path) {
  const bool is_path =
      name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json");
  return is_path ? read_machine(name_or_path) : shipped_machine(name_or_path);
}

model::Machine find_machine(const mpi::Comm& comm, const std::string& name_or_path) {
  std::string text;
  std::optional<Error> error;
  if (comm.is_root()) {
    error = mpi::caught([&] { text = print_machine(find_machine(name_or_path)); });
  }
  share_error(comm, error, 0);
  text = mpi::broadcast(comm, text, 0);
  return mpi::collectively(comm, [&] { return parse_machine(text, name_or_path); });
}

}  // namespace nodewise::io
