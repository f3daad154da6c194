// The sparse product against the memory bandwidth that the STREAM triad draws in the same run.
#include <cstdlib>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/base/array.hpp"
#include "nodewise/matrix/operations.hpp"

#include "measure.hpp"
#include "problem.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::vector<std::string> problems = {"laplace27:140", "laplace5:4000", "rotated_fe:3000"};
  int triad_megabytes = 512;  ///< of each of the three arrays, all ranks together
  int rounds = 9;
  int products = 3;
};

/// a = b + s c (McCalpin's STREAM), on arrays far larger than any cache.
class Triad {
 public:
  Triad(const mpi::Comm& comm, int megabytes)
      : comm_(comm),
        n_(static_cast<std::size_t>(megabytes) * 1000000 / sizeof(double) /
           static_cast<std::size_t>(comm.size())),
        a_(n_, 0.0),
        b_(n_, 1.0),
        c_(n_, 2.0) {}

  /// Collective. Bytes a second of all ranks together. The store of a[i] first brings its line from
  /// memory (the compiler writes no non-temporal stores here), so 32 bytes move for each i, of
  /// which STREAM counts 24; the same is assumed for the result of the sparse product.
  double bandwidth() {
    const double seconds = timed(comm_, [&] { run(); });
    return mpi::sum(comm_, 32.0 * static_cast<double>(n_)) / seconds;
  }

 private:
  void run() {
    const double s = scale_;
    double* a = a_.data();
    const double* b = b_.data();
    const double* c = c_.data();
    for (std::size_t i = 0; i < n_; ++i) a[i] = b[i] + s * c[i];
    scale_ = 0.5 * a[n_ / 2];  // so that no sweep can be left out
  }

  const mpi::Comm& comm_;
  std::size_t n_;
  std::vector<double> a_, b_, c_;
  double scale_ = 3.0;
};

struct Result {
  double nonzeros_per_row = 0;
  double balance = 0;  ///< bytes per flop
  std::vector<double> triad_gbs, gflops, bound_gflops, percent;
};

/// Schubert, Hager, Fehske, Wellein 2011, eq. 1 with kappa = 0: 8 bytes for a value, 4 for a
/// column, 24 a row for reading x once and writing y (write-allocate included), over two flops an
/// entry.
double code_balance(double nonzeros_per_row) {
  return 6.0 + 12.0 / nonzeros_per_row;
}

Result measure(const Matrix& A, Triad& triad, const Arguments& arguments) {
  const mpi::Comm& comm = A.comm();
  const double nonzeros = static_cast<double>(A.nnz_global());
  Result result;
  result.nonzeros_per_row = nonzeros / static_cast<double>(A.rows().n_global());
  result.balance = code_balance(result.nonzeros_per_row);
  const std::vector<double> x = make_rhs(A.cols());
  std::vector<double> y(x.size(), 0.0);
  for (int round = -1; round < arguments.rounds; ++round) {  // the first one is not counted
    const double bandwidth = triad.bandwidth();
    std::vector<double> seconds;
    for (int k = 0; k < arguments.products; ++k) {
      seconds.push_back(timed(
          comm, [&] { matrix::multiply(A, std::span<const double>(x), std::span<double>(y)); }));
    }
    if (round < 0) continue;
    result.triad_gbs.push_back(bandwidth / 1e9);
    result.gflops.push_back(2.0 * nonzeros / spread(seconds).median / 1e9);
    result.bound_gflops.push_back(bandwidth / result.balance / 1e9);
    result.percent.push_back(100.0 * result.gflops.back() / result.bound_gflops.back());
  }
  return result;
}

void run(const Arguments& arguments) {
  const std::shared_ptr<const mpi::Comm> comm = mpi::Comm::create(MPI_COMM_WORLD);
  Triad triad(*comm, arguments.triad_megabytes);
  if (comm->is_root()) {
    std::cout << "| matrix | ranks | matrix, MB | entries a row | triad, GB/s (of which STREAM "
                 "counts 3/4) | bytes/flop | bound, GFlop/s | SpMV, GFlop/s | of the bound, % |\n"
                 "|---|---|---|---|---|---|---|---|---|\n";
  }
  for (const std::string& text : arguments.problems) {
    const Problem problem = parse_problem(text);
    const std::shared_ptr<const Matrix> A = make_matrix(comm, problem);
    const Result result = measure(*A, triad, arguments);
    const double bytes = mpi::sum(*comm, static_cast<double>(A->memory_bytes()));
    if (!comm->is_root()) continue;
    std::cout << fmt::format("| {}, n = {} | {} | {:.0f} | {:.2f} | {} | {:.3f} | {} | {} | {} |\n",
                             problem.name, problem.n, comm->size(), bytes / 1e6,
                             result.nonzeros_per_row, to_text(spread(result.triad_gbs), 1),
                             result.balance, to_text(spread(result.bound_gflops), 2),
                             to_text(spread(result.gflops), 2), to_text(spread(result.percent), 0))
              << std::flush;
  }
  if (comm->is_root()) std::cout << "\nLoad averages after: " << load_averages() << ".\n\n";
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Measure the sparse product against the STREAM triad; prints Markdown.");
  app.add_option("--problem", arguments.problems, "name:n, one or more");
  app.add_option("--triad-megabytes", arguments.triad_megabytes, "of each of three arrays");
  app.add_option("--rounds", arguments.rounds, "repetitions")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  try {
    run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "nodewise_bench_spmv: " << error.what() << "\n";
    return EXIT_FAILURE;  // without MPI_Finalize: mpirun ends the other ranks
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
