// The bytes that the local kernels of a solve moved between memory and processors, beside the time
// they took.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/options.hpp"
#include "nodewise/model/code_balance.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/run/environment.hpp"

namespace nodewise::roofline {

/// One kernel on one level: of all ranks together, in all of its runs.
struct SolveKernel {
  std::string name;  ///< krylov_product, relaxation, restriction, prolongation
  int level = 0;
  std::int64_t runs = 0;
  model::KernelTraffic traffic;
  double nonzeros = 0;    ///< that it reads; 0 where kappa would say nothing
  double data_bytes = 0;  ///< of the matrix that it works on
  double seconds = 0;     ///< computing, the mean of the ranks

  /// The code balance: bytes a flop, kappa left out.
  double balance() const { return traffic.bytes() / traffic.flops; }
};

struct SolveTraffic {
  std::vector<SolveKernel> kernels;
  /// The bandwidth of all hosts together; nothing where no machine file tells it.
  std::optional<model::MemoryBandwidth> bandwidth;
  double cache_bytes = 0;   ///< the last caches of all hosts; 0: not known
  std::string not_counted;  ///< why there are no kernels, or not those of the cycle; empty if all

  /// The time that the bandwidth allows over the time taken; NaN where it is not known.
  double share_of_bound(const SolveKernel& kernel) const;
  /// NaN where it says nothing: without a bandwidth, or in a cache, as far as caches are known.
  double kappa(const SolveKernel& kernel) const;
  /// The balance with kappa: eq. 1 of the paper that model/code_balance.hpp names.
  double measured_balance(const SolveKernel& kernel) const;
};

/// A solve that was done.
struct MeasuredSolve {
  std::span<const mpi::SharedAccount> accounts;
  const run::Environment& environment;
  bool is_symmetric;         ///< the matrix
  bool has_several_vectors;  ///< went through the kernels at once
};

/// Collective; one reduction. Reads what the solve has in its accounts. `A` is the matrix of the
/// Krylov method, `hierarchy` null without multigrid, `given` the options of its cycle.
SolveTraffic traffic_of_solve(const MeasuredSolve& solve, const matrix::DistMatrix<double>& A,
                              const amg::Hierarchy<double>* hierarchy, const amg::Options& given);

}  // namespace nodewise::roofline
