// `nodewise version`.
#include "nodewise/base/version.hpp"

#include <fmt/format.h>

#include "nodewise/run/environment.hpp"

#include "cli/commands/arguments.hpp"
#include "cli/commands/command.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

namespace {

ExitCode run_version(const Call& call) {
  if (!call.world->is_root()) return ExitCode::success;
  const BuildInfo build = build_info();
  print_text(fmt::format(
      "nodewise {}\n  commit    {}\n  build     {}, {}, {}\n  MPI       {} (standard {})\n",
      build.version, build.commit, build.build_type, build.compiler, build.options,
      run::mpi_library(), run::mpi_standard()));
  return ExitCode::success;
}

}  // namespace

const Command& version_command() {
  static const Command command = {
      {"version", "print version, commit, compiler and MPI library", ""},
      {.usage = "",
       .examples = {},
       .takes = Affects::unsaid,
       .take_arguments = take_no_arguments,
       .run = run_version}};
  return command;
}

}  // namespace nodewise::cli
