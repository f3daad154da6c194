#include "cli/commands/calibrate.hpp"

#include <optional>

#include "nodewise/calibrate/calibrate.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/report/calibrate_json.hpp"

#include "cli/agreed.hpp"
#include "cli/inputs/machine.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/options/reported_options.hpp"
#include "cli/print/calibrate_tables.hpp"
#include "cli/print/console.hpp"
#include "cli/print/progress.hpp"
#include "cli/print/summary.hpp"

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
    if (!result.output.empty()) check_writable(result.output);
    if (!result.json.empty()) check_writable(result.json);
  });
  return base;
}

}  // namespace

ExitCode calibrate_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& settings,
                           std::span<const std::string> command_line) {
  const auto comm = run::place(*world, settings.placement, settings.communication);
  const std::optional<model::Machine> base = prepare(*comm, settings);
  Console console(world->is_root(), settings.console);
  report::RunFrame run;
  run.command_line.assign(command_line.begin(), command_line.end());
  run.options = reported_options(settings);
  run.machine = describe_machine(*comm, settings);
  print_machine(console, run.machine);
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

}  // namespace nodewise::cli
