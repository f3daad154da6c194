// What a preconditioner says of itself. preconditioners.cpp lists them.
#pragma once

#include <memory>
#include <string>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/family.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solve/operator.hpp"

namespace nodewise::solver {

struct Preconditioner {
  std::unique_ptr<solve::Operator<double>> map;  ///< null: there is none
  amg::Hierarchy<double>* hierarchy = nullptr;   ///< that is the map, or null
  std::string text = {};  ///< what it came to, the same on every rank; empty: nothing to tell
};

struct PreconditionerMethod;

/// What one is set up from.
struct PreconditionerCall {
  using MatrixPointer = std::shared_ptr<const matrix::DistMatrix<double>>;

  const MatrixPointer& A;                      ///< as the solve has it
  const Choice<PreconditionerMethod>& method;  ///< with its own options
  const amg::Options& options;
  amg::ProblemInfo<double> info = {};  ///< for multigrid alone
  amg::LevelObserver observe = {};
};

struct PreconditionerMethod : MethodInfo {
  /// Whether it depends on the options of multigrid, and on what is known of the problem.
  Required<bool> is_multigrid;
  /// Collective. Sets it up.
  Required<Preconditioner (*)(PreconditionerCall&& call)> make;
  /// Collective. Sets it up for a matrix with the same pattern and other values.
  Required<void (*)(Preconditioner& made, const PreconditionerCall::MatrixPointer& next,
                    amg::Reuse reuse)>
      rebuild;
  /// Whether it is the inverse of the matrix but for rounding: GMRES, which takes any matrix, then
  /// needs an iteration or two.
  bool is_exact = false;
  /// Whether it gains from large entries on the diagonal, and takes a matrix that has none.
  bool wants_diagonal = false;
  /// Names what of its options makes another map than its transpose for a symmetric matrix; empty:
  /// nothing. Null: nothing ever, or what the options of multigrid say.
  std::string (*asymmetry)(const Choice<PreconditionerMethod>& chosen) = nullptr;

  /// Their list, which defines the order of help and reports.
  static Family<PreconditionerMethod>& family();
};

}  // namespace nodewise::solver
