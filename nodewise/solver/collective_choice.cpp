#include "nodewise/solver/collective_choice.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "nodewise/comm/sdde/choice.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/collectives/allreduce.hpp"
#include "nodewise/solve/block_ops.hpp"
#include "nodewise/solver/solve_all.hpp"

namespace nodewise::solver {

using Matrix = matrix::DistMatrix<double>;

namespace {

namespace collectives = mpi::collectives;
/// The longest vector that is summed over the ranks in every iteration: for several right-hand
/// sides at once three numbers for each.
Offset longest_sum_bytes(const Choice<solve::KrylovMethod>& method, int n_rhs) {
  Offset numbers = (*method->cost)(method).longest_sum;
  if (solves_at_once(*method, n_rhs)) {
    numbers = std::min(3 * Offset{n_rhs}, 3 * Offset{solve::max_block_width});
  }
  return numbers * static_cast<Offset>(sizeof(double));
}

run::AlgorithmChoice explain_dot_products(const mpi::Comm& comm,
                                          const Choice<solve::KrylovMethod>& method, int n_rhs) {
  if (method->sums_in_background) {
    return {"mpi", true,
            fmt::format("MPI's own nonblocking algorithm, since {} goes on while it sums.",
                        method.name())};
  }
  const Offset bytes = longest_sum_bytes(method, n_rhs);
  const auto& setting = comm.settings().allreduce;
  return {collectives::chosen_allreduce(setting, comm.topology(), bytes).name,
          setting.is_automatic(), collectives::explain_allreduce(comm)};
}

/// Whom this rank asks for ghosts, and with how many bytes.
struct Requests {
  std::vector<int> ranks;
  std::vector<Offset> bytes;

  explicit Requests(const Matrix& A) {
    for (const GlobalIndex ghost : A.ghosts()) {  // ascending, and so are their owners
      const int owner = A.cols().owner(ghost);
      if (ranks.empty() || ranks.back() != owner) {
        ranks.push_back(owner);
        bytes.push_back(0);
      }
      bytes.back() += static_cast<Offset>(sizeof(GlobalIndex));
    }
  }
};

run::AlgorithmChoice explain_sparse_exchange(const mpi::Comm& comm, const comm::SparseLoad& load) {
  const mpi::SparseExchange setting = comm.settings().sparse_exchange;
  const mpi::Region region = comm.settings().sparse_exchange_region;
  const comm::SparseChoice by_itself =
      comm::choose_sparse_exchange(comm.regions(region), load, comm.sparse_costs(), region);
  if (setting.is_automatic()) {
    return {by_itself.algorithm.name(), true, by_itself.reason};
  }
  return {setting.name(), false,
          fmt::format("as set; by itself {}, because {}", by_itself.algorithm.name(),
                      by_itself.reason)};
}

}  // namespace

run::CollectiveChoices explain_collectives(const matrix::DistMatrix<double>& A,
                                           const Choice<solve::KrylovMethod>& method, int n_rhs) {
  const mpi::Comm& comm = A.comm();
  const Requests requests = mpi::collectively(comm, [&] { return Requests(A); });
  const comm::SparseLoad load = comm::measure_load(comm, comm.settings().sparse_exchange_region,
                                                   requests.ranks, requests.bytes);
  return mpi::collectively(comm, [&] {
    return run::CollectiveChoices{
        explain_dot_products(comm, method, n_rhs),
        explain_sparse_exchange(comm, load),
    };
  });
}

}  // namespace nodewise::solver
