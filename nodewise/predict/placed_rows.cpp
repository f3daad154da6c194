#include "nodewise/predict/placed_rows.hpp"

#include "nodewise/amg/redistribute/move_level.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/partition/arrangement.hpp"
#include "nodewise/routing/decision_rule.hpp"

namespace nodewise::predict {

Problem with_placed_rows(Problem problem, const VirtualMachine* machine,
                         const model::Machine* costs) {
  const mpi::Comm& comm = problem.A->comm();
  const mpi::Topology& topology = machine == nullptr ? comm.topology() : machine->topology;
  partition::ArrangementOptions wanted = {{problem.partition, problem.placement, costs},
                                          problem.reorder};
  wanted.division.products = routing::exchanges_of_a_solve * problem.options.expected_solves;
  wanted.division.by_node = machine != nullptr && machine->routes.size() > 1;
  wanted.division.is_virtual = machine != nullptr;
  wanted.division.balance = problem.balance;
  const mpi::Scope scope(comm, "partition");
  const partition::Arrangement arrangement(wanted,
                                           {*problem.A, topology, problem.options.unknowns});
  problem.placement_gain = arrangement.placement();
  problem.partition_decision = arrangement.decision();
  problem.reordering_gain = arrangement.reordering();
  for (const comm::RowMove& step : arrangement.steps()) {
    amg::move_near_null_space(problem.info.near_null_space, step);
    amg::move_near_null_space(problem.info.left_near_null_space, step);
  }
  if (arrangement.moves())
    problem.A = std::make_shared<const Matrix>(arrangement.there(*problem.A));
  if (machine == nullptr) return problem;
  problem.info.virtual_starts = arrangement.virtual_starts();
  problem.info.virtual_topology = std::make_shared<const mpi::Topology>(topology);
  return problem;
}

}  // namespace nodewise::predict
