#include "nodewise/predict/placed_rows.hpp"

#include "nodewise/amg/redistribute/move_level.hpp"
#include "nodewise/comm/points.hpp"
#include "nodewise/comm/row_move.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/partition/part_order.hpp"

namespace nodewise::predict {

namespace {

void put_in_order(amg::NearNullSpace<double>& space, const partition::PartOrder& order) {
  const auto width = static_cast<std::size_t>(space.n_vectors);
  space.values = order.in_order(std::span<const double>(space.values), width);
}

/// On the ranks at hand.
void move_rows(Problem& problem) {
  const Matrix& A = *problem.A;
  const mpi::Scope scope(A.comm(), "partition");
  const std::vector<int> owners =
      partition::owners(problem.partition, {A, A.comm().topology(), problem.options.unknowns});
  const comm::RowMove move = comm::RowMove::to_owners(A.rows(), owners);
  amg::move_near_null_space(problem.info.near_null_space, move);
  amg::move_near_null_space(problem.info.left_near_null_space, move);
  problem.A = std::make_shared<const Matrix>(matrix::redistribute(A, move));
}

/// On virtual ranks.
std::vector<GlobalIndex> put_in_order(Problem& problem, const mpi::Topology& topology) {
  const std::vector<int> owners =
      partition::owners(problem.partition, {*problem.A, topology, problem.options.unknowns});
  partition::PartOrder order = partition::order_of_parts(owners, topology.n_ranks());
  put_in_order(problem.info.near_null_space, order);
  put_in_order(problem.info.left_near_null_space, order);
  problem.A = std::make_shared<const Matrix>(partition::in_order(*problem.A, order));
  return std::move(order.starts);
}

}  // namespace

Problem with_placed_rows(Problem problem, const VirtualMachine* machine) {
  const bool moves = problem.partition->moves_rows;
  if (machine == nullptr) {
    if (moves) move_rows(problem);
    return problem;
  }
  problem.info.virtual_starts =
      moves ? put_in_order(problem, machine->topology)
            : comm::uniform_point_starts(problem.A->rows().n_global(), machine->topology.n_ranks(),
                                         problem.options.unknowns);
  problem.info.virtual_topology = std::make_shared<const mpi::Topology>(machine->topology);
  return problem;
}

}  // namespace nodewise::predict
