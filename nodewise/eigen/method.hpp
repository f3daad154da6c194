// What a way to find eigenpairs says of itself. methods.cpp lists them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nodewise/base/array.hpp"
#include "nodewise/base/family.hpp"
#include "nodewise/solve/operator.hpp"
#include "nodewise/solve/report.hpp"

namespace nodewise::eigen {

struct EigenMethod;
struct Options;

/// What the work took, counted alike on every rank.
struct Work {
  int products = 0;         ///< of A with a vector
  int product_calls = 0;    ///< exchanges of these: those of a block share one
  int mass_products = 0;    ///< of B with a vector
  int preconditioners = 0;  ///< applications to a vector
  int reductions = 0;       ///< allreduces of dot products
};

/// The problem A x = lambda B x for the lowest lambda.
struct EigenCall {
  const solve::Operator<double>& A;
  const solve::Operator<double>* B;  ///< null: the identity
  const solve::Operator<double>* M;  ///< the preconditioner; null: none
  const Choice<EigenMethod>& method;
  const Options& options;
  const solve::Observer& observe;
  /// Estimates of the norms of A and B: root mean squares of their eigenvalues, at random vectors.
  double norm, mass_norm;
};

/// What a method came to.
struct Found {
  solve::Outcome outcome = solve::Outcome::max_iterations;
  std::string diagnosis;  ///< what happened and what to try; empty when converged
  Array<double> X;        ///< this rank's rows x width, row-major; the wanted ones first
  std::size_t width = 0;  ///< at least the pairs wanted, unless nothing was found
  /// Whether they are the Ritz vectors of their space, orthonormal; else they are made so.
  bool are_ritz_vectors = true;
  std::vector<int> since;  ///< the iteration since which each pair has converged; -1: it has not
  /// Below all eigenvalues that are not among those found, as far as is known.
  std::optional<double> beyond;
  double largest = 0;  ///< the largest modulus of a Ritz value of A that was seen; 0 beside a B
  int iterations = 0;
  std::vector<double> history;  ///< the largest relative residual of those wanted
  Work work;
};

struct EigenFacts {
  Required<std::string> title;          ///< in words: "thick-restart Lanczos"
  Required<std::string> iteration;      ///< what it counts: "cycle"
  Required<bool> takes_mass;            ///< solves A x = lambda B x
  Required<bool> takes_preconditioner;  ///< of a matrix without negative eigenvalues
  /// Local. So many vectors it works with at most.
  Required<double (*)(const Choice<EigenMethod>& method, int pairs, bool with_mass)> vectors;
  Required<Found (*)(const EigenCall& call)> solve;  ///< collective
};

struct EigenMethod : MethodInfo, EigenFacts {
  /// Their list, which defines the order of help and reports.
  static Family<EigenMethod>& family();
};

}  // namespace nodewise::eigen
