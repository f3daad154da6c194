// Which eigensolver a matrix is for.
#include <algorithm>
#include <cmath>

#include "nodewise/eigen/eigenpairs.hpp"
#include "nodewise/eigen/lanczos.hpp"
#include "nodewise/mpi/comm.hpp"
#include "nodewise/solve/matrix_operator.hpp"

namespace nodewise::eigen {

namespace {

/// Of Lanczos, which meet a negative eigenvalue unless it is close to zero.
constexpr int trial_steps = 30;

/// What rows say of the signs of eigenvalues: how many rows of this rank have no positive diagonal
/// entry, so that there is a value of zero or below, and of how many it is below the moduli of the
/// others together, up to the round-off of their sum, so that there may be one.
struct SignSurvey {
  std::int64_t without_positive = 0, doubtful = 0;
};

SignSurvey survey_signs(const matrix::DistMatrix<double>& A) {
  constexpr double room = 1 + 1e-12;
  SignSurvey survey;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    double diagonal = 0, others = 0;
    for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
      const double value = A.on().vals[static_cast<std::size_t>(k)];
      const GlobalIndex column = A.cols().to_global(A.on().cols[static_cast<std::size_t>(k)]);
      const bool is_diagonal = column == A.rows().to_global(i);
      (is_diagonal ? diagonal : others) += is_diagonal ? value : std::abs(value);
    }
    for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
      others += std::abs(A.off().vals[static_cast<std::size_t>(k)]);
    }
    survey.without_positive += diagonal > 0 ? 0 : 1;
    survey.doubtful += diagonal * room >= others ? 0 : 1;
  }
  return survey;
}

/// Collective. Whether a short run of Lanczos meets a vector with x.Ax well below zero.
bool meets_negative(const std::shared_ptr<const matrix::DistMatrix<double>>& A) {
  constexpr double round_off = 1e-10;
  Options trial;
  trial.eigensolver = "lanczos";
  trial.eigensolver.options<LanczosOptions>() = {.basis = trial_steps, .look_again = false};
  trial.max_iterations = 1;
  const solve::MatrixOperator<double> map(A);
  const Report report = find_eigenpairs({map}, trial).report;
  return report.pairs.empty() || report.pairs.front().value < -round_off * report.norm;
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

Choice<EigenMethod> choose_eigensolver(const std::shared_ptr<const matrix::DistMatrix<double>>& A,
                                       bool has_mass, bool preconditioner_is_given, Which which) {
  if (has_mass || preconditioner_is_given) return "lobpcg";
  if (which == Which::largest) return "lanczos";
  const SignSurvey mine = survey_signs(*A);
  if (mpi::sum(A->comm(), mine.without_positive) > 0) return "lanczos";
  if (mpi::sum(A->comm(), mine.doubtful) == 0) return "lobpcg";
  return meets_negative(A) ? "lanczos" : "lobpcg";
}

}  // namespace nodewise::eigen
