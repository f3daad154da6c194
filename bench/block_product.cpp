// Products and Gauss-Seidel sweeps of a matrix in dense blocks against those of the same matrix by
// rows, in turns.
#include <functional>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/amg/smoother.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/operations.hpp"

#include "measure.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::vector<std::string> files;
  int unknowns = 3;
  int rounds = 5;
  int products = 50;  ///< in a round
};

/// What is measured of a matrix, again and again.
using Work = std::function<void()>;

/// Collective. Seconds of one of n.
double time_of(const mpi::Comm& comm, const Work& work, int n) {
  return timed(comm,
               [&] {
                 for (int k = 0; k < n; ++k) work();
               }) /
         n;
}

/// A product, and what a V(1,1) cycle does on a level but for its products with the prolongation:
/// a sweep from zero, the residual, a sweep back.
template <class V>
class Kernels {
 public:
  explicit Kernels(const Matrix& A)
      : A_(A.template with_type<V>()),
        smoother_(A_, options()),
        b_(static_cast<std::size_t>(A_.n_local())),
        x_(b_),
        r_(b_) {
    const std::vector<double> rhs = make_rhs(A.rows());
    std::copy(rhs.begin(), rhs.end(), b_.begin());
  }
  Work product() {
    return [this] { matrix::multiply(A_, std::span<const V>(b_), std::span<V>(x_)); };
  }
  Work smoothing() {
    return [this] {
      smoother_.presmooth(b_, x_, r_);
      smoother_.postsmooth(b_, x_);
    };
  }

 private:
  static amg::Options options() {
    amg::Options options;
    options.smoother = amg::SmootherKind::l1_gauss_seidel;
    options.sweep_order = amg::SweepOrder::forward_backward;
    return options;
  }

  matrix::DistMatrix<V> A_;
  amg::Smoother<V> smoother_;
  std::vector<V> b_, x_, r_;
};

void compare(const mpi::Comm& comm, const std::string& name, const Work& rows, const Work& blocks,
             const Arguments& arguments) {
  std::vector<double> by_rows, in_blocks;
  for (int round = -1; round < arguments.rounds; ++round) {  // the first one is not counted
    const double of_rows = time_of(comm, rows, arguments.products);
    const double of_blocks = time_of(comm, blocks, arguments.products);
    if (round < 0) continue;
    by_rows.push_back(1e6 * of_rows);
    in_blocks.push_back(1e6 * of_blocks);
  }
  if (!comm.is_root()) return;
  std::cout << fmt::format("| {} | {} | {} | {} |\n", name, to_text(spread(by_rows), 1),
                           to_text(spread(in_blocks), 1),
                           to_text(spread(ratios(in_blocks, by_rows)), 2))
            << std::flush;
}

template <class V>
void measure(const Matrix& A, const Matrix& in_blocks, const std::string& name,
             const Arguments& arguments) {
  Kernels<V> rows(A), blocks(in_blocks);
  compare(A.comm(), name + " | product", rows.product(), blocks.product(), arguments);
  compare(A.comm(), name + " | sweeps", rows.smoothing(), blocks.smoothing(), arguments);
}

void measure(const Matrix& A, const std::string& file, const Arguments& arguments) {
  const Matrix blocks = A.with_blocks(arguments.unknowns);
  const std::string name = fmt::format("{} | {} | {} | {:.2f}", file, A.comm().size(),
                                       arguments.unknowns, blocks.blocks()->fill());
  measure<double>(A, blocks, name + " | double", arguments);
  measure<float>(A, blocks, name + " | single", arguments);
}

void run(const Arguments& arguments) {
  const std::shared_ptr<const mpi::Comm> comm = mpi::Comm::create(MPI_COMM_WORLD);
  if (comm->is_root()) {
    std::cout << "| matrix | ranks | rows a block | fill | precision | kernel | by rows, us | in "
                 "blocks, us | ratio |\n|---|---|---|---|---|---|---|---|---|\n";
  }
  io::ReadOptions options;
  options.together = arguments.unknowns;
  for (const std::string& file : arguments.files) {
    measure(io::read_matrix<double>(comm, file, options), file.substr(file.rfind('/') + 1),
            arguments);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Measure products and sweeps of matrices in dense blocks; prints Markdown.");
  app.add_option("files", arguments.files, "matrices")->required();
  app.add_option("--unknowns", arguments.unknowns, "rows of a block, 2 to 6");
  app.add_option("--rounds", arguments.rounds, "repetitions")->check(CLI::PositiveNumber);
  app.add_option("--products", arguments.products, "in each")->check(CLI::PositiveNumber);
  return run_program(app, argc, argv, [&] { run(arguments); });
}
