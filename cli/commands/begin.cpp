#include "cli/commands/begin.hpp"

#include "nodewise/io/machine_file.hpp"
#include "nodewise/run/timed.hpp"

#include "cli/agreed.hpp"
#include "cli/options/reported_options.hpp"
#include "cli/options/solver_options.hpp"
#include "cli/print/summary.hpp"

namespace nodewise::cli {

run::Environment describe_machine(const mpi::Comm& comm, const Settings& settings) {
  const run::PlacementOptions& placement = settings.placement;
  run::Environment machine = run::describe_environment(comm);
  machine.domains_wanted =
      placement.domains != run::DomainChoice::none || !placement.domain_map.empty();
  const bool is_given = !placement.node_map.empty() || placement.ranks_per_node > 0;
  machine.placement_given = is_given && !settings.has_virtual_ranks();  // which it places
  return machine;
}

void take_machine(const mpi::Comm& comm, Settings& settings) {
  if (settings.predict.machine.empty()) return;
  model::Machine machine = about_files(
      ExitCode::input_file, [&] { return io::find_machine(comm, settings.predict.machine); });
  model::take_scenario(machine, settings.predict.scenario);
  settings.amg.machine = std::make_shared<const model::Machine>(std::move(machine));
}

report::RunFrame begin_run(Console& console, const mpi::Comm& comm, const Call& call) {
  report::RunFrame run;
  run.command_line.assign(call.words.begin(), call.words.end());
  run.machine = describe_machine(comm, call.settings);
  print_machine(console, run.machine);
  return run;
}

predict::Problem load_problem(const mpi::Comm& world, const std::shared_ptr<const mpi::Comm>& comm,
                              Shape shape, Settings& settings, report::RunFrame& run) {
  LoadedMatrix loaded;
  run.read_s = run::timed(*comm, [&] { loaded = load_matrix(world, comm, settings); });
  if (shape == Shape::square) check_shape(*loaded.A);
  run.matrix = describe_matrix(loaded, settings);
  run.preset = apply_preset(*loaded.A, run.matrix.symmetric, settings);
  run.options = reported_options(settings);
  const solver::MethodOptions& method = settings.method;
  return {.A = loaded.A,
          .info = make_knowledge(*loaded.A, run.matrix.symmetric, settings),
          .options = settings.amg,
          .partition = method.partition,
          .placement = method.placement,
          .balance = method.balance,
          .reorder = method.reorder};
}

}  // namespace nodewise::cli
