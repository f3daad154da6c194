// Which eigensolver a matrix is for.
#include <algorithm>
#include <cmath>

#include "nodewise/eigen/eigenpairs.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::eigen {

namespace {

/// Local. Whether the diagonal entry of row i is no less than the moduli of the others together, up
/// to the round-off of their sum; not where an entry is NaN.
bool shows_no_negative(const matrix::DistMatrix<double>& A, LocalIndex i) {
  constexpr double room = 1 + 1e-12;
  double diagonal = 0, others = 0;
  for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
    const double value = A.on().vals[static_cast<std::size_t>(k)];
    const GlobalIndex column = A.cols().to_global(A.on().cols[static_cast<std::size_t>(k)]);
    (column == A.rows().to_global(i) ? diagonal : others) +=
        column == A.rows().to_global(i) ? value : std::abs(value);
  }
  for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
    others += std::abs(A.off().vals[static_cast<std::size_t>(k)]);
  }
  return diagonal * room >= others;
}

}  // namespace

double most_vectors(const Options& options, bool with_mass) {
  const Choice<EigenMethod>& chosen = options.eigensolver;
  if (!chosen.is_automatic()) return (*chosen->vectors)(chosen, options.pairs, with_mass);
  double most = 0;
  for (const EigenMethod& method : EigenMethod::family()) {
    most = std::max(most, (*method.vectors)(method, options.pairs, with_mass));
  }
  return most;
}

Choice<EigenMethod> choose_eigensolver(const matrix::DistMatrix<double>& A, bool has_mass,
                                       bool preconditioner_is_given, Which which) {
  if (has_mass || preconditioner_is_given) return "lobpcg";
  if (which == Which::largest) return "lanczos";
  std::int64_t doubtful = 0;
  for (LocalIndex i = 0; i < A.n_local(); ++i) doubtful += shows_no_negative(A, i) ? 0 : 1;
  return mpi::sum(A.comm(), doubtful) == 0 ? "lobpcg" : "lanczos";
}

}  // namespace nodewise::eigen
