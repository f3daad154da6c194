#include "nodewise/solver/collective_choice.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "nodewise/comm/sdde/choice.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/collectives/allreduce.hpp"
#include "nodewise/mpi/collectives/choice.hpp"
#include "nodewise/solve/block_ops.hpp"
#include "nodewise/solver/solve_all.hpp"

namespace nodewise::solver {

namespace {

namespace collectives = mpi::collectives;
using Matrix = matrix::DistMatrix<double>;

/// The longest vector that is summed over the ranks in every iteration. GMRES sums its products
/// with all its basis, and the norm, at once, enlarged CG two small matrices, CG three numbers for
/// each right-hand side; others a few numbers.
Offset longest_sum_bytes(const solve::Options& options, solve::Method method, int n_rhs) {
  const bool has_basis = method == solve::Method::gmres || method == solve::Method::fgmres;
  const Offset factor = options.enlarging_factor;
  Offset numbers = 4;
  if (has_basis) numbers = Offset{options.restart} + 1;
  if (method == solve::Method::enlarged_cg) numbers = 2 * factor * factor + 3 * factor;
  if (solves_at_once(method, n_rhs)) {
    numbers = std::min(3 * Offset{n_rhs}, 3 * Offset{solve::max_block_width});
  }
  return numbers * static_cast<Offset>(sizeof(double));
}

run::AlgorithmChoice explain_dot_products(const mpi::Comm& comm, const solve::Options& options,
                                          solve::Method method, int n_rhs) {
  if (method == solve::Method::pipelined_cg) {
    return {"mpi", true,
            "MPI's own nonblocking algorithm, since pipelined CG goes on while it sums."};
  }
  const Offset bytes = longest_sum_bytes(options, method, n_rhs);
  const mpi::Collective setting = comm.settings().allreduce;
  const bool is_node_aware = collectives::uses_node_aware(setting, comm.topology(), bytes,
                                                          collectives::automatic_allreduce_bytes);
  return {is_node_aware ? "node_aware" : "mpi", setting == mpi::Collective::automatic,
          collectives::explain_allreduce(comm)};
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
  const comm::SparseChoice by_itself = comm::choose_sparse_exchange(comm.topology(), load);
  if (setting == mpi::SparseExchange::automatic) {
    return {comm::to_string(by_itself.algorithm), true, by_itself.reason};
  }
  return {comm::to_string(setting), false,
          fmt::format("as set; by itself {}, because {}", comm::to_string(by_itself.algorithm),
                      by_itself.reason)};
}

}  // namespace

run::CollectiveChoices explain_collectives(const matrix::DistMatrix<double>& A,
                                           const solve::Options& options, solve::Method method,
                                           int n_rhs) {
  const mpi::Comm& comm = A.comm();
  const Requests requests = mpi::collectively(comm, [&] { return Requests(A); });
  const comm::SparseLoad load = comm::measure_load(comm, requests.ranks, requests.bytes);
  return mpi::collectively(comm, [&] {
    return run::CollectiveChoices{
        explain_dot_products(comm, options, method, n_rhs),
        explain_sparse_exchange(comm, load),
    };
  });
}

}  // namespace nodewise::solver
