#include "nodewise/roofline/overlap.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "nodewise/base/parallel.hpp"
#include "nodewise/base/timer.hpp"
#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/product_traffic.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::roofline {

namespace {

using comm::Overlap;
using Matrix = matrix::DistMatrix<double>;

/// Sets threads for as long as it lives.
class ThreadsFor {
 public:
  explicit ThreadsFor(int n) : before_(parallel::threads()) { parallel::set_threads(n); }
  ~ThreadsFor() { parallel::set_threads(before_); }
  ThreadsFor(const ThreadsFor&) = delete;
  ThreadsFor& operator=(const ThreadsFor&) = delete;

 private:
  int before_;
};

/// Something with exchanges that is done again and again, in one mode.
class OverlapRun {
 public:
  OverlapRun(OverlapCase& of, std::vector<comm::Exchange*> exchanges, std::function<void()> work)
      : mode_(of.mode),
        threads_(of.threads),
        exchanges_(std::move(exchanges)),
        work_(std::move(work)) {}

  void run() {
    const ThreadsFor threads(threads_);
    comm::OverlapTimes times;
    std::vector<Overlap> before;
    for (comm::Exchange* exchange : exchanges_) {
      before.push_back(exchange->overlap());
      exchange->set_overlap(mode_);
      exchange->observe(&times);
    }
    const Timer timer;
    work_();
    add(times, timer.seconds());
    for (std::size_t e = 0; e < exchanges_.size(); ++e) {
      exchanges_[e]->set_overlap(before[e]);
      exchanges_[e]->observe(nullptr);
    }
  }
  /// Collective. Where the time of the runs went; the first, which only warms up, does not count.
  void describe(const mpi::Comm& comm, OverlapCase& of) const {
    const std::array<OverRanks*, 4> parts = {&of.gather, &of.work, &of.wait, &of.rest};
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const calibrate::Repeats mine = {{seconds_[p].begin() + 1, seconds_[p].end()}};
      const calibrate::Repeats all = {mpi::gather_all(comm, mine.median())};
      *parts[p] = {all.quantile(0.25), all.median(), all.quantile(0.75)};
    }
  }

 private:
  void add(const comm::OverlapTimes& times, double total) {
    const double exchanging = times.gather + times.wait;
    const double covered = mode_ == Overlap::task && threads_ > 1 ? std::max(exchanging, times.work)
                                                                  : exchanging + times.work;
    seconds_[0].push_back(times.gather);
    seconds_[1].push_back(times.work);
    seconds_[2].push_back(times.wait);
    seconds_[3].push_back(total - covered);
  }

  Overlap mode_;
  int threads_;
  std::vector<comm::Exchange*> exchanges_;
  std::function<void()> work_;
  std::array<std::vector<double>, 4> seconds_;  // gather, work, wait, rest
};

/// Of one thread, and of all: the modes that differ there.
std::vector<std::pair<int, Overlap>> modes_and_threads() {
  std::vector<std::pair<int, Overlap>> all = {{1, Overlap::none}, {1, Overlap::naive}};
  const int most = parallel::threads();
  if (most == 1) return all;
  for (const Overlap mode : {Overlap::none, Overlap::naive, Overlap::task}) {
    all.emplace_back(most, mode);
  }
  return all;
}

/// Collects the cases, and what runs each.
class OverlapCases {
 public:
  explicit OverlapCases(std::shared_ptr<const mpi::Comm> comm) : comm_(std::move(comm)) {}

  /// Collective.
  void add_products(std::shared_ptr<const Matrix> A, int level, const std::string& route);
  void add_cycles(const amg::Hierarchy<double>& hierarchy);
  std::vector<Kernel> kernels() const;
  /// Collective. The cases with the times of their kernels.
  std::vector<OverlapCase> take(std::vector<Kernel> kernels);

 private:
  void add(OverlapCase of, std::vector<comm::Exchange*> exchanges, std::function<void()> work) {
    runs_.push_back(std::make_shared<OverlapRun>(of, std::move(exchanges), std::move(work)));
    cases_.push_back(std::move(of));
  }

  std::shared_ptr<const mpi::Comm> comm_;
  std::vector<OverlapCase> cases_;
  std::vector<std::shared_ptr<OverlapRun>> runs_;
};

/// Products follow each other in solves: ranks that a message delays catch up with the next.
constexpr int solve_like_row = 5;

/// The exchange that products with A use.
comm::Exchange* exchange_of(const Matrix& A) {
  return A.blocks() != nullptr ? &A.blocks()->exchange() : &A.exchange();
}

/// Collective. The sums over the ranks.
model::KernelTraffic of_all(const mpi::Comm& comm, model::KernelTraffic mine) {
  std::array<double, 4> sums = {mine.flops, mine.matrix_bytes, mine.read_bytes, mine.written_bytes};
  mpi::sum_in_place(comm, std::span<double>(sums));
  return {sums[0], sums[1], sums[2], sums[3]};
}

void OverlapCases::add_products(std::shared_ptr<const Matrix> A, int level,
                                const std::string& route) {
  const auto vectors = std::make_shared<std::array<std::vector<double>, 2>>();
  mpi::collectively(*comm_, [&] {
    (*vectors)[0].assign(static_cast<std::size_t>(A->cols().n_local()), 1.0);
    (*vectors)[1].assign(static_cast<std::size_t>(A->n_local()), 0.0);
  });
  OverlapCase of;
  of.kernel.name = "product";
  of.kernel.level = level;
  of.kernel.nonzeros = mpi::sum(*comm_, static_cast<double>(A->nnz_local()));
  of.kernel.data_bytes = mpi::sum(
      *comm_, static_cast<double>(A->memory_bytes()) + 16 * static_cast<double>(A->n_local()));
  of.route = route;
  const auto behind = of_all(*comm_, matrix::traffic_of_product_behind<double>(*A));
  const auto beside = of_all(*comm_, matrix::traffic_of_product<double>(*A));
  for (const auto& [threads, mode] : modes_and_threads()) {
    of.threads = threads;
    of.mode = mode;
    of.kernel.traffic = mode == Overlap::none ? behind : beside;
    add(of, {exchange_of(*A)}, [A, vectors] {
      matrix::multiply(*A, std::span<const double>((*vectors)[0]),
                       std::span<double>((*vectors)[1]));
    });
  }
}

void OverlapCases::add_cycles(const amg::Hierarchy<double>& hierarchy) {
  const auto n = static_cast<std::size_t>(hierarchy.layout().n_local());
  const auto vectors = std::make_shared<std::array<std::vector<double>, 2>>();
  mpi::collectively(*comm_, [&] {
    (*vectors)[0].assign(n, 1.0);
    (*vectors)[1].assign(n, 0.0);
  });
  std::vector<comm::Exchange*> exchanges;
  OverlapCase of;
  of.kernel.name = "cycle";
  of.kernel.has_traffic = false;
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    for (comm::Exchange* exchange : hierarchy.exchanges(l)) exchanges.push_back(exchange);
    of.kernel.data_bytes += 12.0 * static_cast<double>(hierarchy.levels()[l].nonzeros);
  }
  for (const auto& [threads, mode] : modes_and_threads()) {
    of.threads = threads;
    of.mode = mode;
    add(of, exchanges, [&hierarchy, vectors] {
      hierarchy.apply(std::span<const double>((*vectors)[0]), std::span<double>((*vectors)[1]));
    });
  }
}

std::vector<Kernel> OverlapCases::kernels() const {
  std::vector<Kernel> all;
  for (std::size_t k = 0; k < cases_.size(); ++k) {
    all.push_back({cases_[k].kernel, [run = runs_[k]] { run->run(); }, solve_like_row});
  }
  return all;
}

std::vector<OverlapCase> OverlapCases::take(std::vector<Kernel> kernels) {
  for (std::size_t k = 0; k < cases_.size(); ++k) {
    cases_[k].kernel = std::move(kernels[k].record);
    runs_[k]->describe(*comm_, cases_[k]);
  }
  return std::move(cases_);
}

/// The routes that nodes make a difference to, and the direct one.
std::vector<comm::Route> routes_of(const mpi::Comm& comm) {
  std::vector<comm::Route> routes;
  const bool has_nodes = comm.topology().n_nodes() > 1 && comm.topology().n_nodes() < comm.size();
  for (const comm::Route route : comm::RouteMethod::family()) {
    if (route.name() == "direct" || has_nodes) routes.push_back(route);
  }
  return routes;
}

}  // namespace

const OverlapCase* OverlapRecord::fastest(const std::string& kernel, int level) const {
  const OverlapCase* best = nullptr;
  for (const OverlapCase& one : cases) {
    if (one.kernel.name != kernel || one.kernel.level != level) continue;
    if (best == nullptr || one.kernel.times.median() < best->kernel.times.median()) best = &one;
  }
  return best;
}

const OverlapCase& OverlapRecord::naive_of(const OverlapCase& of) const {
  return *std::find_if(cases.begin(), cases.end(), [&of](const OverlapCase& one) {
    return one.mode == Overlap::naive && one.threads == of.threads && one.route == of.route &&
           one.kernel.name == of.kernel.name && one.kernel.level == of.kernel.level;
  });
}

double overlap_memory_need(const Matrix& A, const amg::Hierarchy<double>* hierarchy,
                           const run::Environment& environment, const BenchOptions& options) {
  // Two vectors for each route, the levels and the cycle, and a route's lists of ghosts.
  const double vectors =
      2.0 * static_cast<double>(routes_of(A.comm()).size()) + (hierarchy != nullptr ? 4.0 : 0.0);
  const double mine =
      8.0 * vectors * static_cast<double>(A.n_local()) + 64.0 * static_cast<double>(A.n_ghosts());
  return 3 * begin_record(A.comm(), environment, options.seconds).array_bytes +
         mpi::sum(A.comm(), mine);
}

OverlapRecord measure_overlap(const Matrix& A, const amg::Hierarchy<double>* hierarchy,
                              const run::Environment& environment, const BenchOptions& options,
                              const Progress& progress) {
  const std::shared_ptr<const mpi::Comm>& comm = A.shared_comm();
  if (parallel::threads() > 1 && !mpi::may_talk_beside_threads()) {
    throw Error(ErrorCode::unsupported,
                "bench overlap: several threads need MPI_Init_thread with MPI_THREAD_FUNNELED or "
                "more, and to be called by the thread that called it");
  }
  OverlapRecord record;
  record.measured = begin_record(*comm, environment, options.seconds);
  OverlapCases cases(comm);
  for (const comm::Route& route : routes_of(*comm)) {
    cases.add_products(std::make_shared<const Matrix>(A.with_route(route)), 0, route.name());
  }
  if (hierarchy != nullptr) {
    record.measured.levels.assign(hierarchy->levels().begin(), hierarchy->levels().end());
    for (std::size_t l = 1; l < hierarchy->levels().size(); ++l) {
      const std::shared_ptr<const Matrix> A_l = hierarchy->matrix(l);
      cases.add_products(A_l, static_cast<int>(l), hierarchy->levels()[l].routes.solve.name());
    }
    cases.add_cycles(*hierarchy);
  }
  std::vector<Kernel> kernels = cases.kernels();
  measure(comm, options.seconds, kernels, progress, record.measured);
  record.cases = cases.take(std::move(kernels));
  return record;
}

}  // namespace nodewise::roofline
