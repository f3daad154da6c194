#include "nodewise/solver/row_placement.hpp"

#include <algorithm>

#include "nodewise/amg/redistribute/move_level.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/routing/decision_rule.hpp"
#include "nodewise/routing/network_probe.hpp"

namespace nodewise::solver {

RowPlacement::RowPlacement(const Matrix& A, const Options& options) : rows_(A.rows()) {
  partition::ArrangementOptions wanted = {
      {options.method.partition, options.method.placement, options.amg.machine.get()},
      options.method.reorder};
  partition::DivisionOptions& division = wanted.division;
  division.balance = options.method.balance;
  if (wanted.is_plain()) return;
  const mpi::Comm& comm = A.comm();
  const mpi::Scope scope(comm, "partition");
  division.products = routing::exchanges_of_a_solve * options.amg.expected_solves;
  division.by_node = amg::routes_of_level(options.amg, 0).solve.name() != "direct";
  const bool looks = division.partition.is_automatic() && division.machine == nullptr;
  if (looks && comm.topology().n_nodes() > 1) division.machine = &routing::probe_network(comm);
  arrangement_.emplace(wanted, partition::PartitionTask{A, comm.topology(), options.amg.unknowns});
}

std::shared_ptr<const RowPlacement::Matrix> RowPlacement::there(
    const std::shared_ptr<const Matrix>& A) const {
  if (!moves()) return A;
  const mpi::Scope scope(A->comm(), "partition");
  return std::make_shared<const Matrix>(arrangement_->there(*A));
}

std::vector<double> RowPlacement::there(std::span<const double> x, int n_vectors) const {
  if (moves()) return arrangement_->there(x, n_vectors);
  return mpi::collectively(rows_.comm(), [&] { return std::vector<double>(x.begin(), x.end()); });
}

void RowPlacement::back(std::span<const double> x_there, std::span<double> x, int n_vectors) const {
  if (moves()) {
    arrangement_->back(x_there, x, n_vectors);
  } else {
    std::copy(x_there.begin(), x_there.end(), x.begin());
  }
}

amg::ProblemInfo<double> RowPlacement::problem_info(const Problem& problem, const Options& options,
                                                    bool symmetric) const {
  amg::ProblemInfo<double> info = solver::problem_info(rows_, problem, options, symmetric);
  if (!moves()) return info;
  for (const comm::RowMove& step : arrangement_->steps()) {
    amg::move_near_null_space(info.near_null_space, step);
    amg::move_near_null_space(info.left_near_null_space, step);
  }
  return info;
}

RowFields RowPlacement::fields(const RowFields& of_caller) const {
  if (of_caller.count == 0 || !moves()) return of_caller;
  const std::vector<double> moved =
      there(std::vector<double>(of_caller.of_row.begin(), of_caller.of_row.end()));
  return mpi::collectively(rows_.comm(), [&] {
    RowFields fields{{}, of_caller.count};
    for (const double field : moved) fields.of_row.push_back(static_cast<std::int32_t>(field));
    return fields;
  });
}

}  // namespace nodewise::solver
