#include "nodewise/roofline/solve_traffic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "nodewise/matrix/product_traffic.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::roofline {

namespace {

using Matrix = matrix::DistMatrix<double>;
using amg::SweepOrder;
using amg::relax::SweepWork;
using matrix::traffic_of_product;
using matrix::traffic_of_residual;
using matrix::traffic_of_transposed;
using model::KernelTraffic;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// What is done on a level, and how often its entries are read; none where others are, too.
struct Work {
  KernelTraffic traffic;
  std::optional<double> passes = 0;

  void add(double times, const SweepWork& more) {
    traffic += times * more.traffic;
    if (!more.passes) passes.reset();
    if (passes) *passes += times * *more.passes;
  }
};

/// The relaxation of one level as amg::Smoother<V> runs it.
template <class V>
class LevelRelaxation {
 public:
  /// The smoother's work must be answered.
  LevelRelaxation(const Matrix& A, const amg::Options& options)
      : A_(A),
        smoother_(options.smoother),
        sweeps_(amg::sweep_counts(options.cycle)),
        order_(amg::relax::order_of(options.smoother)) {}

  /// Before the coarse correction, and the residual; `times` times.
  void add_before(double times, bool from_zero, Work& work) const {
    const int sweeps = sweeps_.pre_sweeps * parts();
    if (sweeps == 0) {  // r = b where x = 0
      return work.add(
          times, from_zero ? SweepWork{model::vector_traffic(A_.n_local(), 1, 2, 0, sizeof(V)), 0.0}
                           : SweepWork{traffic_of_residual<V>(A_), 1.0});
    }
    for (int k = 0; k < sweeps; ++k) {
      const bool is_first = from_zero && k == 0 && order_ != SweepOrder::backward;
      work.add(times, of_sweep(is_first, k + 1 == sweeps));
    }
  }
  void add_after(double times, Work& work) const {
    for (int k = 0; k < sweeps_.post_sweeps * parts(); ++k) work.add(times, of_sweep(false, false));
  }

 private:
  int parts() const { return amg::goes_both_ways(order_) ? 2 : 1; }
  SweepWork of_sweep(bool from_zero, bool with_residual) const {
    return require((*smoother_->work)({.smoother = smoother_,
                                       .A = A_,
                                       .value_bytes = sizeof(V),
                                       .from_zero = from_zero,
                                       .with_residual = with_residual}),
                   smoother_.name());
  }

  const Matrix& A_;
  const Choice<amg::relax::SmootherMethod>& smoother_;
  amg::SweepCounts sweeps_;
  SweepOrder order_;
};

/// Of the matrix with values of type V.
template <class V>
double matrix_bytes(const Matrix& A) {
  const auto values = static_cast<double>(A.nnz_local());
  return static_cast<double>(A.memory_bytes()) - values * double(sizeof(double) - sizeof(V));
}

/// Makes the list, with the counts of this rank.
class SolveKernelList {
 public:
  SolveKernelList(const MeasuredSolve& solve, const amg::Options& options)
      : solve_(solve), options_(options) {
    amg::relax::set_order(options_.smoother, amg::resolved(amg::relax::order_of(options_.smoother),
                                                           solve.is_symmetric));
  }

  void add_krylov_product(const Matrix& A) {
    const auto runs = counts("krylov_product", mpi::no_level).runs;
    const auto n = static_cast<double>(runs);
    add({"krylov_product", 0, runs, n * traffic_of_product<double>(A),
         n * static_cast<double>(A.nnz_local()), matrix_bytes<double>(A), 0},
        {{"krylov_product", mpi::no_level}});
  }

  /// Of a cycle in V.
  template <class V>
  void add_level(const amg::Hierarchy<double>& hierarchy, int level) {
    const auto l = static_cast<std::size_t>(level);
    const Matrix& P = *hierarchy.interpolation(l);
    const Matrix* R = hierarchy.restriction(l);
    add_relaxation<V>(*hierarchy.matrix(l), level);
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
    const bool all_from_zero = level == 0 || options_.cycle->visit == amg::CoarseVisit::iterate;
    const std::int64_t from_zero =
        all_from_zero ? visits : std::min(visits, counts("restriction", level - 1).runs);
    const LevelRelaxation<V> relaxation(A, options_);
    Work work;
    relaxation.add_before(static_cast<double>(from_zero), true, work);
    if (visits > from_zero) {
      relaxation.add_before(static_cast<double>(visits - from_zero), false, work);
    }
    relaxation.add_after(static_cast<double>(visits), work);
    add({"relaxation", level, visits, work.traffic,
         work.passes.value_or(0) * static_cast<double>(A.nnz_local()), matrix_bytes<V>(A), 0},
        {{"smoothing", level}, {"residual", level}});
  }

  template <class V>
  void add_transfer(const char* name, int level, const Matrix& M, const KernelTraffic& traffic) {
    const std::int64_t runs = counts(name, level).runs;
    const auto n = static_cast<double>(runs);
    add({name, level, runs, n * traffic, n * static_cast<double>(M.nnz_local()), matrix_bytes<V>(M),
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
std::string obstacle(const amg::Options& options, const Matrix& A) {
  if (options.cycle->visit == amg::CoarseVisit::add) return "the cycle is additive";
  const auto work = (*options.smoother->work)({.smoother = options.smoother, .A = A});
  const auto* const unanswered = std::get_if<Unanswered>(&work);
  return unanswered != nullptr ? unanswered->reason : "";
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
  SolveKernelList list(solve, options);
  const auto local = mpi::caught([&] {
    list.add_krylov_product(A);
    if (hierarchy == nullptr) return;
    traffic.not_counted = obstacle(options, A);
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
