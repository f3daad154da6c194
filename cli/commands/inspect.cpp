// `nodewise inspect`.
#include <optional>

#include "nodewise/predict/predict.hpp"
#include "nodewise/report/inspect_json.hpp"
#include "nodewise/run/memory.hpp"

#include "cli/agreed.hpp"
#include "cli/command_records.hpp"
#include "cli/commands/arguments.hpp"
#include "cli/commands/begin.hpp"
#include "cli/commands/command.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/options/catalog.hpp"
#include "cli/print/console.hpp"
#include "cli/print/inspect_tables.hpp"
#include "cli/print/progress.hpp"

namespace nodewise::cli {

namespace {

/// Describes a matrix and its hierarchy, and counts messages for virtual ranks.
ExitCode run_inspect(const Call& call) {
  const std::shared_ptr<const mpi::Comm>& world = call.world;
  Settings settings = call.settings;
  std::optional<predict::VirtualMachine> machine;
  if (settings.has_virtual_ranks()) {
    predict::check_one_process(*world, "counts");
    machine = predict::virtual_machine(settings.virtual_machine, settings.placement,
                                       settings.method.placement);
  }
  const std::string& path = settings.result.json;
  on_root(*world, [&] { check_writable(path); });
  Console console(world->is_root(), settings.console);
  const std::shared_ptr<const mpi::Comm> comm =
      machine ? world : run::place(*world, settings.placement, settings.communication);
  InspectRecord record;
  record.run = begin_run(console, *comm, call);
  record.found = predict::inspect(load_problem(*world, comm, Shape::any, settings, record.run),
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

}  // namespace

const Command& inspect_command() {
  static const Command command = {
      {"inspect", "describe a matrix and its hierarchy, and count messages for any number of ranks",
       ""},
      {.usage = "A.mtx | --problem NAME",
       .examples = {"inspect A.mtx", "inspect A.mtx --virtual-ranks 1024 --ranks-per-node 32",
                    "inspect -p laplace27 -n 20 --method aggregation --json levels.json"},
       .takes = Affects::matrix | Affects::rows | Affects::levels | Affects::placement |
                Affects::real_run | Affects::virtual_ranks | Affects::counts | Affects::report |
                Affects::details | Affects::console,
       .take_arguments = take_matrix,
       .run = run_inspect}};
  return command;
}

}  // namespace nodewise::cli
