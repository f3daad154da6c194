#include "cli/commands/calibrate.hpp"

#include <optional>

#include <fmt/format.h>

#include "nodewise/io/machine_file.hpp"

#include "cli/agreed.hpp"
#include "cli/calibrate_fit.hpp"
#include "cli/calibrate_measure.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/machine.hpp"
#include "cli/print/calibrate_tables.hpp"
#include "cli/print/console.hpp"
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

CalibrateRecord measure_all(const std::shared_ptr<const mpi::Comm>& comm, const Settings& settings,
                            Console& console) {
  CalibrateRecord record;
  record.host = describe_host();
  Stopwatch stopwatch(comm, console, settings.calibrate.seconds, MeasureWeights::total);
  const double largest = settings.calibrate.largest_message;
  measure_ping_pong(stopwatch, largest, record);
  measure_injection(stopwatch, largest, record);
  measure_queue(stopwatch, record);
  measure_contention(stopwatch, record);
  measure_overheads(stopwatch, record);
  measure_overlap(stopwatch, record);
  measure_allreduce(stopwatch, record);
  measure_triad(stopwatch, record);
  measure_spmv(stopwatch, record);
  record.seconds = stopwatch.elapsed();
  return record;
}

/// On the root: fits, files, tables.
void report(const CalibrateRecord& record, const std::optional<model::Machine>& base,
            const Settings& settings, Console& console) {
  const model::Machine* known = base ? &*base : nullptr;
  const CalibrateFits fits = fit_measurements(record, known);
  std::optional<model::Machine> machine;
  if (base || record.machine.ranks_per_node.size() > 1) {
    machine = make_machine(record, fits, known, settings.calibrate.name);
  }
  const ResultOptions& result = settings.result;
  if (!result.json.empty()) {
    write_text_file(result.json, calibrate_json(record, fits, machine, settings));
  }
  if (!result.output.empty()) write_text_file(result.output, io::print_machine(*machine));
  print_calibration(console, record, fits);
}

}  // namespace

ExitCode calibrate_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& settings,
                           std::span<const std::string> command_line) {
  const auto comm = make_comm(*world, settings.placement, settings.communication);
  const std::optional<model::Machine> base = prepare(*comm, settings);
  Console console(world->is_root(), settings.console);
  const Machine machine = describe_machine(*comm, settings);
  print_machine(console, machine);
  if (!console.is_live()) console.line("Measuring");
  CalibrateRecord record = measure_all(comm, settings, console);
  record.machine = machine;
  record.command_line.assign(command_line.begin(), command_line.end());
  if (!console.is_live()) console.line();
  on_root(*comm, [&] { report(record, base, settings, console); });
  return ExitCode::success;
}

}  // namespace nodewise::cli
