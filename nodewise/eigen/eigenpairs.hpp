// Eigenpairs at one end of the spectrum of a symmetric matrix.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nodewise/base/array.hpp"
#include "nodewise/eigen/method.hpp"
#include "nodewise/eigen/options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solve/operator.hpp"

namespace nodewise::eigen {

/// A x = lambda x, or A x = lambda B x. All have one layout.
struct Problem {
  const solve::Operator<double>& A;                         ///< symmetric
  const solve::Operator<double>* mass = nullptr;            ///< B, symmetric positive definite
  const solve::Operator<double>* preconditioner = nullptr;  ///< of A, symmetric positive definite
  /// Of B, for the norms that the bounds of the generalised problem need.
  const solve::Operator<double>* mass_preconditioner = nullptr;
};

struct Eigenpair {
  double value = 0;     ///< the Rayleigh quotient of the vector
  double residual = 0;  ///< |A x - value B x| of an x with x.Bx = 1, computed from it; 2-norm
  /// residual / ((norm + |value| mass_norm) |x|): what the tolerance is compared with.
  double relative_residual = 0;
  /// An eigenvalue is not further from the value than this, up to round-off: the residual, or of
  /// the generalised problem its norm by the inverse of B. NaN where that was not found.
  double bound = 0;
  /// How far, where the values left and right of those found close to this one are the next
  /// eigenvalues (Kato 1949; Temple 1928); none where these are not known well enough.
  std::optional<double> quadratic_bound;
  bool converged = false;
  int converged_at = -1;  ///< the iteration since which; -1: it has not
};

struct Report {
  solve::Outcome outcome = solve::Outcome::max_iterations;
  std::string diagnosis;         ///< what happened and what to try; empty when converged
  std::string method;            ///< its name: "lanczos", "lobpcg"
  std::vector<Eigenpair> pairs;  ///< from the wanted end of the spectrum on
  int iterations = 0;
  double norm = 0;       ///< of A: the root mean square of its eigenvalues, or the largest seen
  double mass_norm = 0;  ///< of B, likewise; 0 where there is none
  std::vector<double> history;  ///< the largest relative residual of all wanted, by the recurrence
  Work work;
  double seconds = 0;  ///< on this rank

  bool converged() const { return outcome == solve::Outcome::converged; }
  int n_converged() const;
};

struct Eigenpairs {
  Report report;
  /// This rank's rows x pairs, row-major, each with x.Bx = 1; empty where nothing was found.
  std::vector<double> vectors;
};

/// Collective. Finds the pairs that the options ask for; `options.eigensolver` must not be
/// automatic. The report is the same on every rank but for the seconds. Throws invalid_argument
/// where options are out of range, contradict each other or the problem, or differ between ranks;
/// unsuitable_matrix where A or B is not symmetric; dimension_mismatch where layouts differ.
/// Numeric failures throw nothing: see Report::outcome.
Eigenpairs find_eigenpairs(const Problem& problem, const Options& options,
                           const solve::Observer& observe = {});

/// Local. How many vectors the eigensolver of the options works with at most; the most of all where
/// the choice is left.
double most_vectors(const Options& options, bool with_mass);

/// Collective. The eigensolver that "auto" stands for. A preconditioner is made for matrices
/// without negative eigenvalues. These are looked for on the diagonal, then by Gershgorin's
/// theorem, which may show that there are none, and else by 30 steps of Lanczos. One pass over A
/// and two allreduces, and what the steps take.
Choice<EigenMethod> choose_eigensolver(const std::shared_ptr<const matrix::DistMatrix<double>>& A,
                                       bool has_mass, bool preconditioner_is_given, Which which);

}  // namespace nodewise::eigen
