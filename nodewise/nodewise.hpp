// All that most programs need: include this one header.
//
//   const auto comm = nodewise::Comm::create(MPI_COMM_WORLD);
//   const auto rows = nodewise::Layout::uniform(comm, n);
//   nodewise::Assembler<double> entries(rows, rows);
//   ...                                           // entries.add(i, j, value), rows of any rank
//   nodewise::SolverOptions options;
//   options.set("strength_threshold", "0.5");
//   nodewise::Solver solver(nodewise::shared(entries.finish()), options);
//   const auto result = solver.solve(b, x);       // result.converged(), .report().diagnosis
//   std::puts(nodewise::report::solve_json(result).c_str());
#pragma once

#include <memory>
#include <utility>

#include "nodewise/base/error.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/base/version.hpp"
#include "nodewise/comm/layout.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/comm.hpp"
#include "nodewise/report/solve_json.hpp"
#include "nodewise/solver/solver.hpp"

namespace nodewise {

using comm::Layout;
using io::GalleryOptions;
using io::generate;
using io::read_matrix;
using io::read_vector;
using io::write_matrix;
using io::write_vector;
using matrix::Assembler;
using matrix::matrix_from_rows;
using mpi::Comm;

using Matrix = matrix::DistMatrix<double>;
using SolverOptions = solver::Options;

/// The matrix as a Solver takes it.
inline std::shared_ptr<const Matrix> shared(Matrix A) {
  return std::make_shared<const Matrix>(std::move(A));
}

}  // namespace nodewise
