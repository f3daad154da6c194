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
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::vector<std::string> problems = {"laplace27:140", "laplace5:4000", "rotated_fe:3000"};
  int triad_megabytes = 512;  ///< of each of the three arrays, all ranks together
  int rounds = 9;
  int products = 3;
};

/// The bandwidth of memory, on arrays far larger than any cache: a = b + s c (McCalpin's STREAM
/// triad), and reading alone, sum of b c.
class Bandwidth {
 public:
  Bandwidth(const mpi::Comm& comm, int megabytes)
      : comm_(comm),
        n_(static_cast<std::size_t>(megabytes) * 1000000 / sizeof(double) /
           static_cast<std::size_t>(comm.size()) / 8 * 8),
        a_(n_, 0.0),
        b_(n_, 1.0),
        c_(n_, 2.0) {}

  /// Collective. Bytes a second of all ranks together as STREAM counts them: 24 for each element.
  double triad() {
    const double seconds = timed(comm_, [&] { run_triad(); });
    return mpi::sum(comm_, 24.0 * static_cast<double>(n_)) / seconds;
  }

  /// Collective. The same of a scalar product, 16 for each element.
  double reading() {
    const double seconds = timed(comm_, [&] { run_product(); });
    return mpi::sum(comm_, 16.0 * static_cast<double>(n_)) / seconds;
  }

 private:
  void run_triad() {
    const double s = scale_;
    double* a = a_.data();
    const double* b = b_.data();
    const double* c = c_.data();
    for (std::size_t i = 0; i < n_; ++i) a[i] = b[i] + s * c[i];
    scale_ = 0.5 * a[n_ / 2];  // so that no sweep can be left out
  }

  void run_product() {
    const double* b = b_.data();
    const double* c = c_.data();
    double sums[8] = {};  // so many that additions do not wait for each other
    for (std::size_t i = 0; i < n_; i += 8) {
      for (std::size_t k = 0; k < 8; ++k) sums[k] += b[i + k] * c[i + k];
    }
    for (const double sum : sums) scale_ += 1e-300 * sum;
  }

  const mpi::Comm& comm_;
  std::size_t n_;
  std::vector<double> a_, b_, c_;
  double scale_ = 3.0;
};

struct Result {
  double nonzeros_per_row = 0;
  double balance = 0;                   ///< bytes per flop
  std::vector<double> triad, reading;   ///< GB/s
  std::vector<double> gflops, product;  ///< GFlop/s, and the GB/s these stand for
};

/// Schubert, Hager, Fehske, Wellein 2011, eq. 1 with kappa = 0: 8 bytes for a value, 4 for a
/// column, 24 a row for reading x once and writing y (write-allocate included), over two flops an
/// entry.
double code_balance(double nonzeros_per_row) {
  return 6.0 + 12.0 / nonzeros_per_row;
}

Result measure(const Matrix& A, Bandwidth& bandwidth, const Arguments& arguments) {
  const double nonzeros = static_cast<double>(A.nnz_global());
  Result result;
  result.nonzeros_per_row = nonzeros / static_cast<double>(A.rows().n_global());
  result.balance = code_balance(result.nonzeros_per_row);
  const std::vector<double> x = make_rhs(A.cols());
  std::vector<double> y(x.size(), 0.0);
  for (int round = -1; round < arguments.rounds; ++round) {  // the first one is not counted
    const double triad = bandwidth.triad();
    const double reading = bandwidth.reading();
    std::vector<double> seconds;
    for (int k = 0; k < arguments.products; ++k) {
      seconds.push_back(timed(A.comm(), [&] {
        matrix::multiply(A, std::span<const double>(x), std::span<double>(y));
      }));
    }
    if (round < 0) continue;
    result.triad.push_back(triad / 1e9);
    result.reading.push_back(reading / 1e9);
    result.gflops.push_back(2.0 * nonzeros / spread(seconds).median / 1e9);
    result.product.push_back(result.gflops.back() * result.balance);
  }
  return result;
}

/// What the product has drawn of factor * bandwidth, in percent, round by round.
std::string percent(const Result& result, const std::vector<double>& bandwidth, double factor) {
  std::vector<double> values = ratios(result.product, bandwidth);
  for (double& value : values) value *= 100.0 / factor;
  return to_text(spread(values), 0);
}

void print(const Problem& problem, const Matrix& A, double megabytes, const Result& result) {
  std::cout << fmt::format("| {}, n = {} | {} | {:.0f} | {:.2f} | {:.2f} |", problem.name,
                           problem.n, A.comm().size(), megabytes, result.nonzeros_per_row,
                           result.balance)
            << fmt::format(
                   " {} | {} | {} | {} | {} | {} | {} |\n", to_text(spread(result.triad), 1),
                   to_text(spread(result.reading), 1), to_text(spread(result.gflops), 2),
                   to_text(spread(result.product), 1), percent(result, result.triad, 1.0),
                   percent(result, result.triad, 4.0 / 3.0), percent(result, result.reading, 1.0))
            << std::flush;
}

void run(const Arguments& arguments) {
  const std::shared_ptr<const mpi::Comm> comm = mpi::Comm::create(MPI_COMM_WORLD);
  Bandwidth bandwidth(*comm, arguments.triad_megabytes);
  if (comm->is_root()) {
    std::cout << "| matrix | ranks | MB | entries a row | bytes/flop | triad, GB/s | reading, GB/s "
                 "| SpMV, GFlop/s | SpMV, GB/s | of the triad, % | of 4/3 triad, % | of reading, % "
                 "|\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  }
  for (const std::string& text : arguments.problems) {
    const Problem problem = parse_problem(text);
    const std::shared_ptr<const Matrix> A = make_matrix(comm, problem);
    const Result result = measure(*A, bandwidth, arguments);
    const double bytes = mpi::sum(*comm, static_cast<double>(A->memory_bytes()));
    if (comm->is_root()) print(problem, *A, bytes / 1e6, result);
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
  return run_program(app, argc, argv, [&] { run(arguments); });
}
