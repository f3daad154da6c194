// `nodewise calibrate`.
#include "nodewise/calibrate/calibrate.hpp"

#include <optional>

#include "nodewise/io/machine_file.hpp"
#include "nodewise/report/calibrate_json.hpp"

#include "cli/agreed.hpp"
#include "cli/commands/arguments.hpp"
#include "cli/commands/begin.hpp"
#include "cli/commands/command.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/options/reported_options.hpp"
#include "cli/print/calibrate_tables.hpp"
#include "cli/print/console.hpp"
#include "cli/print/progress.hpp"

namespace nodewise::cli {

namespace {

/// Refuses, before any work, what could not be read or written after it.
std::optional<model::Machine> prepare(const mpi::Comm& comm, const Settings& settings) {
  std::optional<model::Machine> base;
  on_root(comm, [&] {
    const ResultOptions& result = settings.result;
    if (!settings.calibrate.base.empty()) {
      base = io::find_machine(settings.calibrate.base);
    }
    if (!result.output.empty() && !base && comm.topology().n_nodes() == 1) {
      throw Failure(ExitCode::usage,
                    "--output: a machine needs the costs of messages between nodes, and all ranks "
                    "are on one; start on several nodes, or give --base MACHINE for what cannot be "
                    "measured here");
    }
    check_writable(result.output);
    check_writable(result.json);
  });
  return base;
}

/// Measures the machine and writes what the models of cost need of it.
ExitCode run_calibrate(const Call& call) {
  const std::shared_ptr<const mpi::Comm>& world = call.world;
  const Settings& settings = call.settings;
  const auto comm = run::place(*world, settings.placement, settings.communication);
  const std::optional<model::Machine> base = prepare(*comm, settings);
  Console console(world->is_root(), settings.console);
  report::RunFrame run = begin_run(console, *comm, call);
  run.options = reported_options(settings);
  if (!console.is_live()) console.line("Measuring");
  const calibrate::Calibration found = calibrate::calibrate(
      comm, run.machine, settings.calibrate, base ? &*base : nullptr, part_progress(console));
  if (!console.is_live()) console.line();
  on_root(*comm, [&] {
    const ResultOptions& result = settings.result;
    if (!result.json.empty()) write_text_file(result.json, report::calibrate_json(found, run));
    if (!result.output.empty()) {
      write_text_file(result.output, io::print_machine(*found.machine));
    }
    print_calibration(console, found);
  });
  return ExitCode::success;
}

}  // namespace

const Command& calibrate_command() {
  static const Command command = {
      {"calibrate", "measure messages, memory and products, and write a machine file of that", ""},
      {.usage = "",
       .examples = {"calibrate -o here.json --name here  # started on several nodes",
                    "calibrate --base blue-waters -o here.json  # one node: the rest is of that "
                    "machine",
                    "calibrate --seconds 30 --json measured.json"},
       .takes = Affects::placement | Affects::real_run | Affects::machine_parameters |
                Affects::report | Affects::console,
       .take_arguments = take_no_arguments,
       .run = run_calibrate,
       .output = "the machine file"}};
  return command;
}

}  // namespace nodewise::cli
