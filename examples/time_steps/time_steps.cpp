// Heat on a square plate, which two sources warm apart, by implicit Euler steps of growing length:
//   (I + dt K) u_new = u + dt f
// A matrix that all ranks assemble, a hierarchy that is set up once and rebuilt for the values of
// every step, and two right-hand sides that share every message.
//   mpirun -n 3 ./time_steps [points in each direction]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <mpi.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/error.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/mpi/comm.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

namespace {

using Matrix = nodewise::matrix::DistMatrix<double>;
using nodewise::GlobalIndex;
using nodewise::comm::Layout;

constexpr int n_sources = 2;

// Adds what couples two points of the plate.
void add_link(nodewise::matrix::Assembler<double>& entries, GlobalIndex i, GlobalIndex j,
              double weight) {
  entries.add(i, i, weight);
  entries.add(j, j, weight);
  entries.add(i, j, -weight);
  entries.add(j, i, -weight);
}

// Each rank goes over its own points and adds the links to the next ones, whoever has their rows.
std::shared_ptr<const Matrix> assemble(const Layout& points, GlobalIndex n, double dt) {
  nodewise::matrix::Assembler<double> entries(points, points);
  const double weight = dt * static_cast<double>((n + 1) * (n + 1));
  for (GlobalIndex i = points.begin(); i < points.end(); ++i) {
    const GlobalIndex x = i % n;
    const GlobalIndex y = i / n;
    const int at_edge = (x == 0) + (x == n - 1) + (y == 0) + (y == n - 1);
    entries.add(i, i, 1.0 + at_edge * weight);
    if (x + 1 < n) add_link(entries, i, i + 1, weight);
    if (y + 1 < n) add_link(entries, i, i + n, weight);
  }
  return std::make_shared<const Matrix>(entries.finish());
}

// One step of both: U and F are this rank's points x n_sources, row by row. The iterations of the
// slower, or 0 where one did not converge; what has to be decided by them is the same on all ranks.
int step(const std::shared_ptr<const Matrix>& A, const nodewise::amg::Hierarchy<double>& M,
         double dt, std::span<const double> F, std::vector<double>& U) {
  std::vector<double> B(U);
  for (std::size_t k = 0; k < B.size(); ++k) B[k] += dt * F[k];
  const auto reports = nodewise::solve::simultaneous_cg<double>(
      nodewise::solve::MatrixOperator<double>(A), &M, std::span<const double>(B),
      std::span<double>(U), n_sources, {.tolerance = 1e-10});
  int iterations = 0;
  for (const auto& report : reports) {
    if (!report.converged()) {
      if (A->comm().is_root()) std::fprintf(stderr, "%s\n", report.diagnosis.c_str());
      return 0;
    }
    iterations = std::max(iterations, report.iterations);
  }
  if (A->comm().is_root()) std::printf("dt %.5f: %d iterations\n", dt, iterations);
  return iterations;
}

bool run(GlobalIndex n) {
  const auto comm = nodewise::mpi::Comm::create(MPI_COMM_WORLD);
  const Layout points = Layout::uniform(comm, n * n);
  const auto n_local = static_cast<std::size_t>(points.n_local());
  std::vector<double> U(n_local * n_sources, 0.0), F(U.size(), 0.0);
  for (std::size_t i = 0; i < n_local; ++i) {
    const GlobalIndex point = points.to_global(static_cast<nodewise::LocalIndex>(i));
    F[i * n_sources + (point % n < n / 2 ? 0 : 1)] = 1.0;  // the left half, the right half
  }

  double dt = 1e-4;
  std::shared_ptr<const Matrix> A = assemble(points, n, dt);
  std::optional<nodewise::amg::Hierarchy<double>> M(std::in_place, A, nodewise::amg::Options{});
  const int at_first = step(A, *M, dt, F, U);
  int iterations = at_first;
  for (int k = 1; k < 10 && iterations > 0; ++k) {
    dt *= 1.5;
    A = assemble(points, n, dt);
    if (iterations < 2 * at_first) {
      M->rebuild(A);  // other values on the same pattern: a fraction of a setup
    } else {
      M.emplace(A, nodewise::amg::Options{});  // interpolation does not suit them any more
    }
    iterations = step(A, *M, dt, F, U);
  }
  return iterations > 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    status = run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 100) ? 0 : 1;
  } catch (const nodewise::Error& error) {  // the same on every rank
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
