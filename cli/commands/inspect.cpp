#include "cli/commands/inspect.hpp"

#include <optional>

#include "nodewise/predict/predict.hpp"
#include "nodewise/report/inspect_json.hpp"
#include "nodewise/run/memory.hpp"
#include "nodewise/run/timed.hpp"

#include "cli/agreed.hpp"
#include "cli/command_records.hpp"
#include "cli/inputs/machine.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/options/catalog.hpp"
#include "cli/options/reported_options.hpp"
#include "cli/options/solver_options.hpp"
#include "cli/print/console.hpp"
#include "cli/print/inspect_tables.hpp"
#include "cli/print/progress.hpp"
#include "cli/print/summary.hpp"

namespace nodewise::cli {

ExitCode inspect_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& given,
                         std::span<const std::string> command_line) {
  Settings settings = given;
  std::optional<predict::VirtualMachine> machine;
  if (settings.has_virtual_ranks()) {
    predict::check_one_process(*world, "counts");
    machine = predict::virtual_machine(settings.virtual_machine, settings.placement);
  }
  const std::string& path = settings.result.json;
  on_root(*world, [&] {
    if (!path.empty()) check_writable(path);
  });
  Console console(world->is_root(), settings.console);
  const std::shared_ptr<const mpi::Comm> comm =
      machine ? world : run::place(*world, settings.placement, settings.communication);
  InspectRecord record;
  record.run.command_line.assign(command_line.begin(), command_line.end());
  record.run.machine = describe_machine(*comm, settings);
  if (machine) record.run.machine.placement_given = false;  // what is given places virtual ranks
  print_machine(console, record.run.machine);

  LoadedMatrix loaded;
  record.run.read_s = run::timed(*comm, [&] { loaded = load_matrix(*world, comm, settings); });
  record.run.matrix = describe_matrix(loaded, settings);
  const bool symmetric = record.run.matrix.symmetric;
  record.run.preset = apply_preset(*loaded.A, symmetric, settings);
  record.run.options = reported_options(settings);
  record.found =
      predict::inspect({loaded.A, make_knowledge(*loaded.A, symmetric, settings), settings.amg},
                       machine ? &*machine : nullptr, predict_progress(console));
  record.found.no_hierarchy = in_words_of_command_line(record.found.no_hierarchy);
  if (console.wants_lines()) console.line();
  record.run.memory = run::measure_memory(*comm);
  on_root(*comm, [&] {
    if (!path.empty()) write_text_file(path, report::inspect_json(record.found, record.run));
  });
  print_inspection(console, record, settings);
  return ExitCode::success;
}

}  // namespace nodewise::cli
