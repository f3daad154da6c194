// Products, Gauss-Seidel sweeps and the setup of an aggregation with a matrix in dense blocks
// against those with the same matrix by rows, in turns.
#include <functional>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/amg/aggregate/graph.hpp"
#include "nodewise/amg/aggregate/smooth.hpp"
#include "nodewise/amg/aggregate/tentative.hpp"
#include "nodewise/amg/cycle/smoother.hpp"
#include "nodewise/amg/setup/aggregation.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/recompute.hpp"

#include "measure.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::vector<std::string> files;
  int unknowns = 3;
  int vectors = 6;  ///< of the near null space
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
    options.set("smoother", "l1_gauss_seidel").set("sweep_order", "forward_backward");
    return options;
  }

  matrix::DistMatrix<V> A_;
  amg::Smoother<V> smoother_;
  std::vector<V> b_, x_, r_;
};

/// What the setup of an aggregation does with a level's matrix, with vectors of hashed numbers:
/// what they are makes no difference to the time. By rows the Galerkin products go by points of the
/// coarse level.
class SetupSteps {
 public:
  SetupSteps(const Matrix& A, const Matrix& tentative, const Arguments& arguments)
      : A_(A),
        tentative_(tentative),
        vectors_(arguments.vectors),
        unknowns_(arguments.unknowns),
        P_(smoothed()),
        known_(A_, P_, product(), vectors_) {}

  static Matrix tentative_prolongator(const Matrix& A, const Arguments& arguments) {
    amg::Options options;
    options.method = "aggregation";
    const auto graph =
        amg::point_graph(A, arguments.unknowns, options.method.options<amg::AggregationOptions>());
    const auto aggregates =
        amg::aggregate_points(graph.matrix(A), graph.strength, {}, false, options);
    amg::NearNullSpace<double> B{arguments.vectors, {}};
    const auto n = static_cast<std::size_t>(A.n_local()) * static_cast<std::size_t>(B.n_vectors);
    for (std::size_t k = 0; k < n; ++k) B.values.push_back(hash_uniform(k, 1) - 0.5);
    return amg::aggregate::tentative_prolongator(aggregates, arguments.unknowns, A.rows(), B)
        .prolongator;
  }

  Work norms() {
    return [this] { amg::aggregate::block_norms(A_, unknowns_); };
  }
  Work smoothing() {
    return [this] { smoothed(); };
  }
  Work galerkin() {
    return [this] { product(); };
  }
  Work new_values() {
    return [this] { known_.recompute(A_); };
  }

 private:
  Matrix smoothed() const {
    constexpr double damping = 0.6;
    return amg::aggregate::smooth_prolongator(A_, tentative_, damping, 1, vectors_);
  }
  Matrix product() const {
    return matrix::galerkin_product(A_, P_, matrix::GalerkinForm::fused, vectors_);
  }

  Matrix A_, tentative_;
  int vectors_, unknowns_;
  Matrix P_;
  matrix::GalerkinProduct<double> known_;
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

void measure_setup(const Matrix& A, const Matrix& in_blocks, const std::string& name,
                   Arguments arguments) {
  arguments.products = 1;
  const Matrix T = SetupSteps::tentative_prolongator(A, arguments);
  SetupSteps rows(A, T, arguments), blocks(in_blocks, T, arguments);
  const auto add = [&](const char* step, const Work& by_rows, const Work& by_blocks) {
    compare(A.comm(), name + " | " + step, by_rows, by_blocks, arguments);
  };
  add("norms of blocks", rows.norms(), blocks.norms());
  add("smoothed prolongator", rows.smoothing(), blocks.smoothing());
  add("Galerkin product", rows.galerkin(), blocks.galerkin());
  add("for new values", rows.new_values(), blocks.new_values());
}

void measure(const Matrix& A, const std::string& file, const Arguments& arguments) {
  const Matrix blocks = A.with_blocks(arguments.unknowns);
  const std::string name = fmt::format("{} | {} | {} | {:.2f}", file, A.comm().size(),
                                       arguments.unknowns, blocks.blocks()->fill());
  measure<double>(A, blocks, name + " | double", arguments);
  measure<float>(A, blocks, name + " | single", arguments);
  measure_setup(A, blocks, name + " | double", arguments);
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
  app.add_option("--vectors", arguments.vectors, "of the near null space");
  app.add_option("--rounds", arguments.rounds, "repetitions")->check(CLI::PositiveNumber);
  app.add_option("--products", arguments.products, "in each")->check(CLI::PositiveNumber);
  return run_program(app, argc, argv, [&] { run(arguments); });
}
