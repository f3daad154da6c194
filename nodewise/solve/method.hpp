// What a Krylov method says of itself. methods.cpp lists them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/solve/operator.hpp"
#include "nodewise/solve/report.hpp"

namespace nodewise::solve {

struct KrylovMethod;

/// What a method is given.
template <class T>
struct KrylovCall {
  const Choice<KrylovMethod>& method;  ///< with the options that are its own
  const Operator<T>& A;
  const Operator<T>* M;  ///< the preconditioner; null: none
  std::span<const T> b;
  std::span<T> x;
  const Options& options;
  const Observer& observe;
};

/// The matrices that a method is for. The latter two are symmetric, and so must M be.
enum class SuitedFor { any_matrix, symmetric_ones, positive_definite_ones };

/// What an iteration takes.
struct KrylovCost {
  int products = 1;
  int preconditioners = 1;
  int allreduces = 2;
  int longest_sum = 4;      ///< so many numbers does the longest of these add up
  int vectors = 4;          ///< beside b and x
  int vectors_at_once = 1;  ///< that a product and a preconditioner are applied to
};

/// The functions of a method for one type of numbers.
template <class T>
struct KrylovFunctions {
  using Solve = Report (*)(const KrylovCall<T>& call);
  using SolveBlock = std::vector<Report> (*)(const Operator<T>& A, const Operator<T>* M,
                                             std::span<const T> B, std::span<T> X, int width,
                                             const Options& options, const Observer& observe);
  Solve solve = nullptr;
  SolveBlock solve_block = nullptr;  ///< for several right-hand sides at once; null: it cannot
};

/// What is true of a method, and its functions.
struct KrylovFacts {
  Required<std::string> title;  ///< in words: "conjugate gradients"
  Required<SuitedFor> suited_for;
  /// Whether it minimises a norm of the residual, and so copes with indefinite matrices.
  Required<bool> minimises_residual;
  /// Whether it can test every norm of the residual; else the unpreconditioned one alone.
  Required<bool> knows_all_norms;
  /// Whether it relies on an M that is symmetric, and on one that is the same map at every call.
  Required<bool> needs_symmetric_preconditioner, needs_fixed_preconditioner;
  Required<std::string> when_stagnated;  ///< what else to try where the residual does not fall
  Required<std::function<KrylovCost(const Choice<KrylovMethod>&)>> cost;
  Required<KrylovFunctions<double>> in_double;
  Required<KrylovFunctions<float>> in_float;
  /// Whether an M that is linear up to single precision only is too far from linear for it.
  bool needs_linear_preconditioner = false;
  /// Whether its sums go on while it computes, by MPI's nonblocking allreduce.
  bool sums_in_background = false;
  /// Whether devices have a form of it: conjugate gradients.
  bool runs_on_devices = false;
};

struct KrylovMethod : MethodInfo, KrylovFacts {
  template <class T>
  const KrylovFunctions<T>& functions() const;

  /// Their list, which defines the order of help and reports.
  static Family<KrylovMethod>& family();
};

template <>
inline const KrylovFunctions<double>& KrylovMethod::functions<double>() const {
  return in_double;
}
template <>
inline const KrylovFunctions<float>& KrylovMethod::functions<float>() const {
  return in_float;
}

/// "GMRES(50)": the title, and the first of the options that are the method's own.
std::string title_of(const Choice<KrylovMethod>& method);

/// "gmres, fgmres and bicgstab": the methods that can test every norm of the residual, or those
/// that test the unpreconditioned one alone.
std::string names_by_norms(bool know_all);

/// One of the methods, for any number type it has. Refuses on every rank, with
/// Error(invalid_argument), where the choice is still open on some.
template <class T>
Report solve_by(const Choice<KrylovMethod>& method, const Operator<T>& A,
                const Operator<T>* preconditioner, std::span<const T> b, std::span<T> x,
                const Options& options, const Observer& observe = {});

}  // namespace nodewise::solve
