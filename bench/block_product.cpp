// The product of a matrix in dense blocks against that of the same matrix by rows, in turns.
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

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

/// Collective. Seconds of a product.
double time_products(const Matrix& A, std::span<const double> x, std::span<double> y, int n) {
  return timed(A.comm(),
               [&] {
                 for (int k = 0; k < n; ++k) matrix::multiply(A, x, y);
               }) /
         n;
}

void measure(const Matrix& A, const std::string& name, const Arguments& arguments) {
  const Matrix blocks = A.with_blocks(arguments.unknowns);
  const std::vector<double> x = make_rhs(A.cols());
  std::vector<double> y(static_cast<std::size_t>(A.n_local()));
  std::vector<double> by_rows, by_blocks;
  for (int round = -1; round < arguments.rounds; ++round) {  // the first one is not counted
    const double rows = time_products(A, x, y, arguments.products);
    const double in_blocks = time_products(blocks, x, y, arguments.products);
    if (round < 0) continue;
    by_rows.push_back(1e6 * rows);
    by_blocks.push_back(1e6 * in_blocks);
  }
  if (!A.comm().is_root()) return;
  std::cout << fmt::format("| {} | {} | {} | {:.2f} | {} | {} | {} |\n", name, A.comm().size(),
                           arguments.unknowns, blocks.blocks()->fill(), to_text(spread(by_rows), 1),
                           to_text(spread(by_blocks), 1),
                           to_text(spread(ratios(by_blocks, by_rows)), 2))
            << std::flush;
}

void run(const Arguments& arguments) {
  const std::shared_ptr<const mpi::Comm> comm = mpi::Comm::create(MPI_COMM_WORLD);
  if (comm->is_root()) {
    std::cout << "| matrix | ranks | rows a block | fill | by rows, us | in blocks, us | ratio |\n"
                 "|---|---|---|---|---|---|---|\n";
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
  CLI::App app("Measure products with matrices in dense blocks; prints Markdown.");
  app.add_option("files", arguments.files, "matrices")->required();
  app.add_option("--unknowns", arguments.unknowns, "rows of a block, 2 to 6");
  app.add_option("--rounds", arguments.rounds, "repetitions")->check(CLI::PositiveNumber);
  app.add_option("--products", arguments.products, "in each")->check(CLI::PositiveNumber);
  return run_program(app, argc, argv, [&] { run(arguments); });
}
