// `nodewise inspect`.
#include <optional>

#include "nodewise/mpi/memory.hpp"
#include "nodewise/predict/predict.hpp"
#include "nodewise/report/inspect_json.hpp"
#include "nodewise/solver/method_choice.hpp"

#include "cli/agreed.hpp"
#include "cli/command_records.hpp"
#include "cli/commands/arguments.hpp"
#include "cli/commands/begin.hpp"
#include "cli/commands/command.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/options/catalog.hpp"
#include "cli/options/solver_options.hpp"
#include "cli/print/console.hpp"
#include "cli/print/inspect_tables.hpp"
#include "cli/print/progress.hpp"

namespace nodewise::cli {

namespace {

void check_inspection(const Settings& s) {
  if (s.amg.sparsification->asks_costs && s.has_virtual_ranks() && !s.has("machine")) {
    fail_usage("--sparsification automatic of virtual ranks needs --machine, for its costs");
  }
  if (!s.has("machine") || s.amg.redistribution->decide != nullptr) return;
  if (s.amg.sparsification->asks_costs) return;
  if (s.has_virtual_ranks() && !s.has("redistribution")) return;
  fail_usage(
      "--machine is for the ranks of levels: of virtual ranks, or by --redistribution automatic or "
      "model_2014, and for --sparsification automatic");
}

/// Collective. Levels are on as many ranks as in a solve, or as one would have them on a machine
/// that is given.
void choose_redistribution(const mpi::Comm& comm, const predict::VirtualMachine* machine,
                           Settings& settings) {
  take_machine(comm, settings);
  if (machine == nullptr) {
    solver::Options options = solver_options(settings);
    solver::choose_communication(comm, options);
    settings.amg.route = options.amg.route;
    settings.amg.redistribution = options.amg.redistribution;
  } else if (!settings.has("redistribution") && settings.amg.machine) {
    settings.amg.redistribution = predict::usual_redistribution(machine->topology);
  }
}

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
  choose_redistribution(*comm, machine ? &*machine : nullptr, settings);
  InspectRecord record;
  record.run = begin_run(console, *comm, call);
  record.found = predict::inspect(load_problem(*world, comm, Shape::any, settings, record.run),
                                  machine ? &*machine : nullptr, predict_progress(console));
  record.found.no_hierarchy = in_words_of_command_line(record.found.no_hierarchy);
  if (console.wants_lines()) console.line();
  record.run.memory = mpi::measure_memory(*comm);
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
                Affects::real_run | Affects::virtual_ranks | Affects::counts | Affects::costs |
                Affects::report | Affects::details | Affects::console,
       .take_arguments = take_matrix,
       .run = run_inspect,
       .check = check_inspection}};
  return command;
}

}  // namespace nodewise::cli
