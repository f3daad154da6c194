// Solves a 27-point Poisson problem by conjugate gradients with algebraic multigrid.
//   mpirun -n 2 ./poisson [points in each direction]
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include <mpi.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/error.hpp"
#include "nodewise/base/version.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/mpi/comm.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

namespace {

bool solve(int n) {
  const auto comm = nodewise::mpi::Comm::create(MPI_COMM_WORLD);
  nodewise::io::GalleryOptions problem;
  problem.problem = "laplace27";
  problem.n = n;
  const auto matrix = std::make_shared<const nodewise::matrix::DistMatrix<double>>(
      nodewise::io::generate<double>(comm, problem));

  const nodewise::solve::MatrixOperator<double> A(matrix);
  const nodewise::amg::Hierarchy<double> M(matrix, nodewise::amg::Options{});

  // Each rank holds its own rows of the vectors.
  const auto n_local = static_cast<std::size_t>(matrix->n_local());
  const std::vector<double> b(n_local, 1.0);
  std::vector<double> x(n_local, 0.0);
  const nodewise::solve::Report report = nodewise::solve::cg<double>(
      A, &M, std::span<const double>(b), std::span<double>(x), nodewise::solve::Options{});

  if (comm->is_root()) {
    std::printf("nodewise %s, %d ranks, %zu levels\n", nodewise::version().c_str(), comm->size(),
                M.levels().size());
    std::printf("%s after %d iterations, true relative residual %.1e\n",
                nodewise::solve::to_string(report.outcome), report.iterations,
                report.true_relative_residual);
  }
  return report.converged();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    status = solve(argc > 1 ? std::atoi(argv[1]) : 32) ? 0 : 1;
  } catch (const nodewise::Error& error) {  // the same on every rank
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
