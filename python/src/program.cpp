// The command line: as a program, and its commands as functions.
#include "cli/program.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "cli/interruption.hpp"
#include "cli/options/catalog.hpp"

namespace nodewise::python {

namespace {

/// Collective on the communicator. What main() of the program does once MPI has started.
int run_main(const Communicator& c, const std::vector<std::string>& words) {
  cli::handle_signals();
  return static_cast<int>(cli::run_program(c.comm, words));
}

/// Collective. Returns the exit code of a command that ended as commands do; others raise.
int call_command(const Communicator& c, const std::vector<std::string>& words) {
  return static_cast<int>(cli::call_program(c.comm, words, nullptr));
}

/// Collective. The same for a matrix at hand, on its communicator.
int call_command_on(const Matrix& given, const std::vector<std::string>& words) {
  return static_cast<int>(cli::call_program(given.A->shared_comm(), words, given.A));
}

/// The options that a command takes, as its help shows them.
nb::list command_options(const std::string& name) {
  const cli::Command& command = cli::Command::family().find(name);
  nb::list table;
  for (const cli::Option& option : cli::catalog()) {
    if (!option.belongs_to(command)) continue;
    nb::dict entry;
    entry["name"] = option.name;
    entry["type"] = option.type;
    entry["meaning"] = option.meaning_for(command);
    entry["range"] = option.range;
    entry["default"] = option.standard;
    entry["needs"] = option.needs;
    entry["common"] = option.common;
    table.append(entry);
  }
  return table;
}

nb::dict commands() {
  nb::dict all;
  for (const cli::Command& command : cli::Command::family()) {
    all[(*command.name).c_str()] = *command.summary;
  }
  return all;
}

}  // namespace

void bind_program(nb::module_& m) {
  using Release = nb::call_guard<nb::gil_scoped_release>;
  m.def("run_main", &run_main, Release());
  m.def("call_command", &call_command, Release());
  m.def("call_command_on", &call_command_on, Release());
  m.def("command_options", &command_options);
  m.def("commands", &commands);
}

}  // namespace nodewise::python
