#include "nodewise/predict/placed_rows.hpp"

#include "nodewise/amg/redistribute/move_level.hpp"
#include "nodewise/comm/points.hpp"
#include "nodewise/comm/row_move.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/partition/division.hpp"
#include "nodewise/partition/part_order.hpp"
#include "nodewise/routing/decision_rule.hpp"

namespace nodewise::predict {

namespace {

void put_in_order(amg::NearNullSpace<double>& space, const partition::PartOrder& order) {
  const auto width = static_cast<std::size_t>(space.n_vectors);
  space.values = order.in_order(std::span<const double>(space.values), width);
}

/// On the ranks at hand.
void move_rows(Problem& problem, const partition::Division& division) {
  const Matrix& A = *problem.A;
  const comm::RowMove move = comm::RowMove::to_owners(A.rows(), division.owners);
  amg::move_near_null_space(problem.info.near_null_space, move);
  amg::move_near_null_space(problem.info.left_near_null_space, move);
  problem.A = std::make_shared<const Matrix>(matrix::redistribute(A, move));
}

/// On virtual ranks.
std::vector<GlobalIndex> put_in_order(Problem& problem, const partition::Division& division,
                                      int n_ranks) {
  partition::PartOrder order = partition::order_of_parts(division.owners, n_ranks);
  put_in_order(problem.info.near_null_space, order);
  put_in_order(problem.info.left_near_null_space, order);
  problem.A = std::make_shared<const Matrix>(partition::in_order(*problem.A, order));
  return std::move(order.starts);
}

}  // namespace

Problem with_placed_rows(Problem problem, const VirtualMachine* machine,
                         const model::Machine* costs) {
  const mpi::Comm& comm = problem.A->comm();
  const mpi::Topology& topology = machine == nullptr ? comm.topology() : machine->topology;
  partition::DivisionOptions wanted = {problem.partition, problem.placement, costs};
  wanted.products = routing::exchanges_of_a_solve * problem.options.expected_solves;
  wanted.by_node = machine != nullptr && machine->routes.size() > 1;
  wanted.is_virtual = machine != nullptr;
  const mpi::Scope scope(comm, "partition");
  const partition::Division division =
      partition::divide(wanted, {*problem.A, topology, problem.options.unknowns});
  problem.placement_gain = division.placement;
  problem.partition_decision = division.decision;
  if (machine == nullptr) {
    if (division.moves_rows) move_rows(problem, division);
    return problem;
  }
  problem.info.virtual_starts =
      division.moves_rows
          ? put_in_order(problem, division, topology.n_ranks())
          : comm::uniform_point_starts(problem.A->rows().n_global(), topology.n_ranks(),
                                       problem.options.unknowns);
  problem.info.virtual_topology = std::make_shared<const mpi::Topology>(topology);
  return problem;
}

}  // namespace nodewise::predict
