#include "cli/commands/calibrate.hpp"

#include <optional>

#include "nodewise/calibrate/calibrate.hpp"
#include "nodewise/io/machine_file.hpp"

#include "cli/agreed.hpp"
#include "cli/calibrate_json.hpp"
#include "cli/command_records.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/machine.hpp"
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
  CalibrateRecord record;
  record.run.command_line.assign(command_line.begin(), command_line.end());
  record.run.machine = describe_machine(*comm, settings);
  print_machine(console, record.run.machine);
  if (!console.is_live()) console.line("Measuring");
  record.found = calibrate::calibrate(comm, record.run.machine, settings.calibrate,
                                      base ? &*base : nullptr, part_progress(console));
  if (!console.is_live()) console.line();
  on_root(*comm, [&] {
    const ResultOptions& result = settings.result;
    if (!result.json.empty()) write_text_file(result.json, calibrate_json(record, settings));
    if (!result.output.empty()) {
      write_text_file(result.output, io::print_machine(*record.found.machine));
    }
    print_calibration(console, record.found);
  });
  return ExitCode::success;
}

}  // namespace nodewise::cli
