#include "nodewise/solver/row_placement.hpp"

#include <algorithm>

#include "nodewise/amg/redistribute/move_level.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/routing/decision_rule.hpp"
#include "nodewise/routing/network_probe.hpp"

namespace nodewise::solver {

RowPlacement::RowPlacement(const Matrix& A, const Options& options) : rows_(A.rows()) {
  partition::DivisionOptions wanted = {options.method.partition, options.method.placement,
                                       options.amg.machine.get()};
  if (wanted.is_plain()) return;
  const mpi::Comm& comm = A.comm();
  const mpi::Scope scope(comm, "partition");
  wanted.products = routing::exchanges_of_a_solve * options.amg.expected_solves;
  wanted.by_node = amg::routes_of_level(options.amg, 0).solve.name() != "direct";
  const bool looks = wanted.partition.is_automatic() && wanted.machine == nullptr;
  if (looks && comm.topology().n_nodes() > 1) wanted.machine = &routing::probe_network(comm);
  const partition::Division division =
      partition::divide(wanted, {A, comm.topology(), options.amg.unknowns});
  placement_gain_ = division.placement;
  partition_decision_ = division.decision;
  if (division.moves_rows) move_ = comm::RowMove::to_owners(rows_, division.owners);
}

std::shared_ptr<const RowPlacement::Matrix> RowPlacement::there(
    const std::shared_ptr<const Matrix>& A) const {
  if (!move_) return A;
  const mpi::Scope scope(A->comm(), "partition");
  return std::make_shared<const Matrix>(matrix::redistribute(*A, *move_));
}

std::vector<double> RowPlacement::there(std::span<const double> x, int n_vectors) const {
  std::vector<double> moved;
  mpi::collectively(rows_.comm(), [&] {
    const comm::Layout& to = move_ ? move_->to() : rows_;
    moved.resize(static_cast<std::size_t>(to.n_local()) * static_cast<std::size_t>(n_vectors));
  });
  if (move_) {
    move_->forward<double>(x, moved, n_vectors);
  } else {
    std::copy(x.begin(), x.end(), moved.begin());
  }
  return moved;
}

void RowPlacement::back(std::span<const double> x_there, std::span<double> x, int n_vectors) const {
  if (move_) {
    move_->backward<double>(x_there, x, n_vectors);
  } else {
    std::copy(x_there.begin(), x_there.end(), x.begin());
  }
}

amg::ProblemInfo<double> RowPlacement::problem_info(const Problem& problem, const Options& options,
                                                    bool symmetric) const {
  amg::ProblemInfo<double> info = solver::problem_info(rows_, problem, options, symmetric);
  if (move_) amg::move_near_null_space(info.near_null_space, *move_);
  if (move_) amg::move_near_null_space(info.left_near_null_space, *move_);
  return info;
}

}  // namespace nodewise::solver
