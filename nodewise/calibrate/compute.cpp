// Sums over all ranks, memory bandwidth and sparse products.
#include <algorithm>
#include <array>
#include <barrier>
#include <cmath>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/array.hpp"
#include "nodewise/base/types.hpp"
#include "nodewise/calibrate/host.hpp"
#include "nodewise/calibrate/measure.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/kernels/spmv.hpp"
#include "nodewise/mpi/collectives/allreduce.hpp"

namespace nodewise::calibrate {

namespace {

constexpr int most_compute_repeats = 31;

/// Three arrays, each thread's part of them first touched by that thread.
class Triad {
 public:
  Triad(int threads, std::size_t n) : threads_(threads), n_(n), a_(n), b_(n), c_(n) {}

  /// Each thread's part in the memory that is near to it.
  void fill() {
    run_on_parts([this](std::size_t begin, std::size_t end) {
      std::fill(a_.data() + begin, a_.data() + end, 0.0);
      std::fill(b_.data() + begin, b_.data() + end, 1.0);
      std::fill(c_.data() + begin, c_.data() + end, 2.0);
    });
  }

  /// Seconds of the longest thread, from the start that all wait for.
  double run() {
    return run_on_parts([this](std::size_t begin, std::size_t end) {
      const double* b = b_.data();
      const double* c = c_.data();
      double* a = a_.data();
      for (std::size_t i = begin; i < end; ++i) a[i] = b[i] + 3.0 * c[i];
    });
  }

 private:
  template <class Work>
  double run_on_parts(Work&& work_on) {
    std::vector<double> seconds(static_cast<std::size_t>(threads_), 0);
    std::barrier start(threads_);
    const auto work = [&](int thread) {
      const std::size_t begin = part(thread);
      const std::size_t end = part(thread + 1);
      start.arrive_and_wait();
      const Timer timer;
      work_on(begin, end);
      seconds[static_cast<std::size_t>(thread)] = timer.seconds();
    };
    std::vector<std::jthread> others;
    for (int t = 1; t < threads_; ++t) others.emplace_back(work, t);
    work(0);
    others.clear();
    return *std::max_element(seconds.begin(), seconds.end());
  }

  std::size_t part(int thread) const {
    return n_ * static_cast<std::size_t>(thread) / static_cast<std::size_t>(threads_);
  }

  int threads_;
  std::size_t n_;
  Array<double> a_, b_, c_;
};

/// 1, 2, 4, ..., and all cores.
std::vector<int> thread_counts(int cores) {
  std::vector<int> counts;
  for (int n = 1; n < cores; n *= 2) counts.push_back(n);
  counts.push_back(cores);
  return counts;
}

/// Four times the last cache, as STREAM wants; less where a short measurement would be over before
/// such arrays are filled once.
double triad_array_bytes(double cache, double seconds) {
  const double wanted = std::max(4 * cache, 67108864.0);
  const double affordable = seconds * 1e8;
  return std::clamp(affordable, 4194304.0, std::min(wanted, 1073741824.0));
}

/// A 27-point matrix of n^3 rows, on this rank alone, and vectors for it.
struct Product {
  kernels::Csr<double> A;
  std::vector<double> x, y;

  Product(const std::shared_ptr<const mpi::Comm>& self, int n) {
    A = io::generate<double>(self, {.problem = "laplace27", .n = n}).on();
    x.assign(static_cast<std::size_t>(A.n_cols), 1.0);
    y.assign(static_cast<std::size_t>(A.n_rows), 0.0);
  }
};

/// Collective. y = A x on every rank at once, ten times and once more to warm up; less where no
/// time is left.
SpmvTimes time_product(Stopwatch& stopwatch, const kernels::Csr<double>& A,
                       std::span<const double> x, std::span<double> y) {
  const auto nonzeros = static_cast<double>(A.nnz());
  const auto in_a_row = static_cast<int>(std::clamp(1e5 / nonzeros, 1.0, 100.0));
  SpmvTimes product = {static_cast<double>(A.n_rows), nonzeros, {}};
  for (int repeat = 0; repeat < 11; ++repeat) {
    if (repeat > 2 && !stopwatch.is_time_left()) break;
    mpi::check(MPI_Barrier(stopwatch.comm().get()), "MPI_Barrier");
    const Timer timer;
    for (int r = 0; r < in_a_row; ++r) kernels::spmv<double>(A, x, y);
    const double t = stopwatch.longest(timer.seconds() / in_a_row);
    if (repeat > 0) product.times.seconds.push_back(t);
  }
  return product;
}

}  // namespace

void measure_allreduce(Stopwatch& stopwatch, Record& record) {
  stopwatch.begin("sums over all ranks", MeasureWeights::allreduce);
  const mpi::Comm& comm = stopwatch.comm();
  if (comm.size() == 1) {
    record.not_measured.push_back({"sums over all ranks", "needs 2 ranks"});
    return;
  }
  const std::vector<std::string> names = {"mpi", "node_aware"};  // which machine files have
  std::vector<std::shared_ptr<const mpi::Comm>> comms;
  for (const std::string& algorithm : names) {
    comms.push_back(mpi::Comm::create(comm.get(), comm.topology(), {.allreduce = algorithm}));
  }
  for (const std::string& name : names) {
    for (const double bytes : {8.0, 64.0, 512.0, 4096.0, 32768.0}) {
      record.allreduce.push_back({name, bytes, {}});
    }
  }
  const std::size_t sizes = record.allreduce.size() / names.size();
  std::vector<double> values(4096, 1.0);
  const auto measure = [&](std::size_t k) {
    constexpr int in_a_row = 3;
    const mpi::Comm& by = *comms[k / sizes];
    const auto n = static_cast<Offset>(record.allreduce[k].bytes / sizeof(double));
    mpi::check(MPI_Barrier(comm.get()), "MPI_Barrier");
    const Timer timer;
    for (int r = 0; r < in_a_row; ++r) {
      mpi::collectives::allreduce_unchecked(by, values.data(), n, sizeof(double), MPI_DOUBLE,
                                            MPI_MAX);
    }
    return timer.seconds() / in_a_row;
  };
  measure_in_turn(
      stopwatch, record.allreduce.size(), most_compute_repeats, measure, [](std::size_t, double) {},
      [&](std::size_t k, double t) { record.allreduce[k].times.seconds.push_back(t); });
}

void measure_triad(Stopwatch& stopwatch, Record& record) {
  stopwatch.begin("memory bandwidth", MeasureWeights::triad);
  const mpi::Comm& comm = stopwatch.comm();
  const bool works = comm.is_root();
  const double cache = record.host.caches.empty() ? 0 : record.host.caches.back().bytes;
  const std::vector<int> counts = thread_counts(mpi::broadcast(comm, record.host.allowed_cores, 0));
  const double seconds = stopwatch.part_seconds() / static_cast<double>(counts.size());
  const double bytes = mpi::broadcast(comm, triad_array_bytes(cache, seconds), 0);
  for (const int threads : counts) {
    record.triad.push_back({threads, bytes, {}});
    std::optional<Triad> triad;
    mpi::collectively(comm, [&] {
      if (!works) return;
      triad.emplace(threads, static_cast<std::size_t>(bytes / sizeof(double)));
      triad->fill();
    });
    for (int repeat = 0; repeat < 6; ++repeat) {
      if (repeat > 2 && !stopwatch.is_time_left()) break;
      const double t = stopwatch.longest(works ? triad->run() : 0.0);
      if (repeat > 0) record.triad.back().times.seconds.push_back(t);
    }
  }
}

void measure_spmv(Stopwatch& stopwatch, Record& record) {
  stopwatch.begin("sparse products", MeasureWeights::spmv);
  const mpi::Comm& comm = stopwatch.comm();
  const auto self = mpi::Comm::create(MPI_COMM_SELF);
  const double most_seconds = stopwatch.part_seconds();
  for (const int n : {4, 6, 8, 12, 16, 24, 32, 48}) {
    // Data in the caches is quick to measure, and says nothing of data in the memory.
    if (n > 24 && !stopwatch.is_time_left()) break;
    Timer making;
    auto product = mpi::collectively(comm, [&] { return std::make_unique<Product>(self, n); });
    const double seconds_to_make = stopwatch.longest(making.seconds());
    record.spmv.push_back(time_product(stopwatch, product->A, product->x, product->y));
    // The next has up to four times as many rows.
    if (n >= 24 && 8 * seconds_to_make > most_seconds) break;
  }
}

void measure_level_products(Stopwatch& stopwatch, Record& record) {
  stopwatch.begin("sparse products by level", MeasureWeights::level_products);
  const auto self = mpi::Comm::create(MPI_COMM_SELF);
  const int n = stopwatch.part_seconds() < 1 ? 12 : 30;  // what the source has a core
  const auto levels = mpi::collectively(stopwatch.comm(), [&] {
    auto A = std::make_shared<const matrix::DistMatrix<double>>(
        io::generate<double>(self, {.problem = "laplace7", .n = n}));
    return std::make_unique<const amg::Hierarchy<double>>(std::move(A), amg::Options{});
  });
  for (std::size_t l = 0; l < levels->levels().size(); ++l) {
    const kernels::Csr<double>& A = levels->matrix(l)->on();
    const std::vector<double> x(static_cast<std::size_t>(A.n_cols), 1.0);
    std::vector<double> y(static_cast<std::size_t>(A.n_rows));
    record.level_products.push_back(time_product(stopwatch, A, x, y));
  }
}

}  // namespace nodewise::calibrate
