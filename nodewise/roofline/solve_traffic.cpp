#include "nodewise/roofline/solve_traffic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/roofline/traffic.hpp"

namespace nodewise::roofline {

namespace {

using Matrix = matrix::DistMatrix<double>;
using amg::SmootherKind;
using amg::SweepOrder;
using model::KernelTraffic;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

bool is_gauss_seidel(SmootherKind kind) {
  using enum SmootherKind;
  return kind == l1_gauss_seidel || kind == gauss_seidel || kind == l1_block_gauss_seidel ||
         kind == block_gauss_seidel;
}

/// Passes over the entries of the matrix that a sweep makes; without those of factors.
double passes_of_sweep(const amg::Options& options, bool from_zero) {
  if (is_gauss_seidel(options.smoother)) return from_zero ? 0.5 : 1;
  if (options.smoother == SmootherKind::chebyshev) {
    return options.chebyshev_degree - (from_zero ? 1 : 0);
  }
  return from_zero ? 0 : 1;
}

/// What is done on a level, and how often its entries are read.
struct Work {
  KernelTraffic traffic;
  double passes = 0;

  void add(double times, const KernelTraffic& more, double more_passes) {
    traffic += times * more;
    passes += times * more_passes;
  }
};

/// The relaxation of one level as amg::Smoother<V> runs it.
template <class V>
class LevelRelaxation {
 public:
  LevelRelaxation(const Matrix& A, const amg::Options& options) : A_(A), options_(options) {
    const bool doubled = options.sweep_order == SweepOrder::symmetric ||
                         options.sweep_order == SweepOrder::alternating;
    parts_ = is_gauss_seidel(options.smoother) && doubled ? 2 : 1;
  }

  /// Before the coarse correction, and the residual; `times` times.
  void add_before(double times, bool from_zero, Work& work) const {
    const int sweeps = options_.pre_sweeps * parts_;
    const bool is_first = from_zero && !begins_backward();
    if (from_zero && sweeps == 0) {  // r = b, x = 0
      return work.add(times, model::vector_traffic(A_.n_local(), 1, 2, 0, sizeof(V)), 0);
    }
    add_sweeps(times, sweeps, is_first, work);
    if (is_first && sweeps == 1 && is_gauss_seidel(options_.smoother)) {
      work.add(times, traffic_of_residual_from_zero<V>(A_), 0.5);
    } else {
      work.add(times, traffic_of_residual<V>(A_), 1);
    }
  }
  void add_after(double times, Work& work) const {
    add_sweeps(times, options_.post_sweeps * parts_, false, work);
  }

 private:
  bool begins_backward() const {
    return is_gauss_seidel(options_.smoother) && options_.sweep_order == SweepOrder::backward;
  }
  void add_sweeps(double times, int sweeps, bool first_from_zero, Work& work) const {
    for (int k = 0; k < sweeps; ++k) {
      const bool from_zero = first_from_zero && k == 0;
      work.add(times, traffic_of_sweep<V>(A_, options_, from_zero),
               passes_of_sweep(options_, from_zero));
    }
  }

  const Matrix& A_;
  const amg::Options& options_;
  int parts_;
};

/// Of the matrix with values of type V.
template <class V>
double data_bytes(const Matrix& A) {
  const auto values = static_cast<double>(A.nnz_local());
  return static_cast<double>(A.memory_bytes()) - values * double(sizeof(double) - sizeof(V));
}

/// Makes the list, with the counts of this rank.
class KernelList {
 public:
  KernelList(const MeasuredSolve& solve, const amg::Options& options)
      : solve_(solve), options_(options) {
    if (options_.sweep_order == SweepOrder::automatic) {
      options_.sweep_order =
          solve.is_symmetric ? SweepOrder::forward_backward : SweepOrder::alternating;
    }
  }

  void add_krylov_product(const Matrix& A) {
    const auto runs = counts("krylov_product", mpi::no_level).runs;
    const auto n = static_cast<double>(runs);
    add({"krylov_product", 0, runs, n * traffic_of_product<double>(A),
         n * static_cast<double>(A.nnz_local()), data_bytes<double>(A), 0},
        {{"krylov_product", mpi::no_level}});
  }

  /// Of a cycle in V.
  template <class V>
  void add_level(const amg::Hierarchy<double>& hierarchy, int level) {
    const auto l = static_cast<std::size_t>(level);
    const Matrix& P = *hierarchy.interpolation(l);
    const Matrix* R = hierarchy.restriction(l);
    if (counts_sweeps(options_)) add_relaxation<V>(*hierarchy.matrix(l), level);
    add_transfer<V>("restriction", level, R != nullptr ? *R : P,
                    R != nullptr ? traffic_of_product<V>(*R) : traffic_of_transposed<V>(P));
    add_transfer<V>("prolongation", level, P, traffic_of_product<V>(P));
  }

  /// Collective. With the counts of all ranks; what did not run is left out.
  std::vector<SolveKernel> take(const mpi::Comm& comm) {
    std::vector<double> sums;
    for (SolveKernel& k : kernels_) {
      for (double* count : counts_of(k)) sums.push_back(*count);
    }
    mpi::sum_in_place(comm, std::span(sums));
    auto next = sums.begin();
    for (SolveKernel& k : kernels_) {
      for (double* count : counts_of(k)) *count = *next++;
    }
    std::erase_if(kernels_, [](const SolveKernel& k) { return k.runs == 0; });
    return std::move(kernels_);
  }

 private:
  static std::vector<double*> counts_of(SolveKernel& k) {
    KernelTraffic& t = k.traffic;
    return {&t.flops, &t.matrix_bytes, &t.read_bytes, &t.written_bytes, &k.nonzeros, &k.data_bytes};
  }

  struct Counted {
    std::int64_t runs = 0;
    double seconds = 0;
  };
  Counted counts(const std::string& operation, int level) const {
    for (const mpi::SharedAccount& a : solve_.accounts) {
      if (a.operation == operation && a.level == level) {
        return {a.max.runs, a.sum.computing / solve_.environment.ranks};
      }
    }
    return {};
  }

  void add(SolveKernel kernel, const std::vector<std::pair<std::string, int>>& accounts) {
    for (const auto& [operation, level] : accounts) {
      kernel.seconds += counts(operation, level).seconds;
    }
    kernels_.push_back(std::move(kernel));
  }

  template <class V>
  void add_relaxation(const Matrix& A, int level) {
    const std::int64_t visits = counts("restriction", level).runs;
    // A level is left from zero once for each visit of the level above, but to steps of K-cycles,
    // which all begin there.
    const bool all_from_zero = level == 0 || options_.cycle == amg::CycleKind::k;
    const std::int64_t from_zero =
        all_from_zero ? visits : std::min(visits, counts("restriction", level - 1).runs);
    const LevelRelaxation<V> relaxation(A, options_);
    Work work;
    relaxation.add_before(static_cast<double>(from_zero), true, work);
    if (visits > from_zero) {
      relaxation.add_before(static_cast<double>(visits - from_zero), false, work);
    }
    relaxation.add_after(static_cast<double>(visits), work);
    const bool says_something = options_.smoother != SmootherKind::ilu0;  // factors are read, too
    add({"relaxation", level, visits, work.traffic,
         says_something ? work.passes * static_cast<double>(A.nnz_local()) : 0, data_bytes<V>(A),
         0},
        {{"smoothing", level}, {"residual", level}});
  }

  template <class V>
  void add_transfer(const char* name, int level, const Matrix& M, const KernelTraffic& traffic) {
    const std::int64_t runs = counts(name, level).runs;
    const auto n = static_cast<double>(runs);
    add({name, level, runs, n * traffic, n * static_cast<double>(M.nnz_local()), data_bytes<V>(M),
         0},
        {{name, level}});
  }

  const MeasuredSolve& solve_;
  amg::Options options_;
  std::vector<SolveKernel> kernels_;
};

/// Of all hosts, whose cores all ranks and threads share out evenly: the entry of the machine with
/// as many threads, or the next fewer. STREAM does not count the lines of a that are allocated.
std::optional<model::MemoryBandwidth> bandwidth_of(const model::Machine& costs,
                                                   const run::Environment& environment) {
  if (costs.thread_bandwidth.empty()) return std::nullopt;
  constexpr double with_allocation = 4.0 / 3;
  const int threads =
      (environment.ranks + environment.hosts - 1) / environment.hosts * environment.threads;
  const model::ThreadBandwidth* entry = &costs.thread_bandwidth.front();
  for (const model::ThreadBandwidth& b : costs.thread_bandwidth) {
    if (b.threads <= threads) entry = &b;
  }
  const double of_host = std::min(threads, entry->threads) * entry->bytes_per_s;
  const double all = environment.hosts * of_host * with_allocation;
  return model::MemoryBandwidth{all, all};
}

double caches_of(const model::Machine& costs, const run::Environment& environment) {
  if (costs.caches.empty()) return 0;
  const model::Cache& last = costs.caches.back();
  const int of_host = (costs.cores_per_node + last.cores - 1) / last.cores;
  return environment.hosts * of_host * last.bytes;
}

/// Why the cycle is not counted; empty if it is.
std::string obstacle(const amg::Options& options) {
  if (options.cycle == amg::CycleKind::additive) return "the cycle is additive";
  if (!counts_sweeps(options)) return "sweeps through coarse or fine points are not counted";
  return "";
}

}  // namespace

double SolveTraffic::share_of_bound(const SolveKernel& kernel) const {
  if (!bandwidth || !(kernel.seconds > 0)) return nothing;
  return model::least_s(kernel.traffic, *bandwidth) / kernel.seconds;
}

double SolveTraffic::kappa(const SolveKernel& kernel) const {
  const bool in_cache = cache_bytes > 0 && kernel.data_bytes <= cache_bytes;
  if (!bandwidth || in_cache || !(kernel.nonzeros > 0)) return nothing;
  return model::kappa(kernel.seconds, kernel.traffic, kernel.nonzeros, *bandwidth);
}

double SolveTraffic::measured_balance(const SolveKernel& kernel) const {
  return (kernel.traffic.bytes() + kappa(kernel) * kernel.nonzeros) / kernel.traffic.flops;
}

SolveTraffic traffic_of_solve(const MeasuredSolve& solve, const Matrix& A,
                              const amg::Hierarchy<double>* hierarchy, const amg::Options& given) {
  amg::Options options = given;
  amg::complete(options);
  SolveTraffic traffic;
  if (options.machine != nullptr) {
    traffic.bandwidth = bandwidth_of(*options.machine, solve.environment);
    traffic.cache_bytes = caches_of(*options.machine, solve.environment);
  }
  if (solve.has_several_vectors) {
    traffic.not_counted = "several vectors go through the kernels at once";
    return traffic;
  }
  KernelList list(solve, options);
  const auto local = mpi::caught([&] {
    list.add_krylov_product(A);
    if (hierarchy == nullptr) return;
    traffic.not_counted = obstacle(options);
    if (!traffic.not_counted.empty()) return;
    for (std::size_t l = 0; l + 1 < hierarchy->levels().size(); ++l) {
      const int level = static_cast<int>(l);
      if (hierarchy->levels()[l].is_single_precision) {
        list.add_level<float>(*hierarchy, level);
      } else {
        list.add_level<double>(*hierarchy, level);
      }
    }
  });
  mpi::agree(A.comm(), local);
  traffic.kernels = list.take(A.comm());
  return traffic;
}

}  // namespace nodewise::roofline
