// What a preconditioner says of itself. preconditioners.cpp lists them.
#pragma once

#include <memory>
#include <string>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/family.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solve/operator.hpp"
#include "nodewise/solver/field_rows.hpp"

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
  RowFields fields = {};  ///< what the caller knows of them
};

/// What is true of a preconditioner, unless it says nothing of it.
struct PreconditionerFacts {
  /// Whether it is the inverse of the matrix but for rounding: GMRES, which takes any matrix, then
  /// needs an iteration or two.
  bool is_exact = false;
  /// Whether it has cycles of multigrid, which its options then are for.
  bool has_cycles = false;
  /// Whether it gains from large entries on the diagonal, and takes a matrix that has none.
  bool wants_diagonal = false;
  /// Whether it is for matrices that are not definite.
  bool suits_indefinite = false;
  /// Whether it asks which rows are of which field.
  bool takes_fields = false;
  /// Local. What of its options, or it by its nature, makes it another map than its transpose for a
  /// symmetric matrix, as "split upper"; empty where nothing does. Null: nothing ever does.
  std::string (*asymmetry)(const Choice<PreconditionerMethod>& chosen,
                           const amg::Options& options) = nullptr;
  /// The option that would then help; empty: to drop what it is by.
  std::string symmetric_form = {};
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
  PreconditionerFacts facts = {};

  /// Local. What of these options makes it nonsymmetric for a symmetric matrix; empty: nothing.
  static std::string asymmetry_of(const Choice<PreconditionerMethod>& chosen,
                                  const amg::Options& of_cycles) {
    return chosen->facts.asymmetry ? chosen->facts.asymmetry(chosen, of_cycles) : std::string();
  }
  /// Local. Whether it is another map for every vector with these options of multigrid.
  bool varies(const amg::Options& of_cycles) const {
    return facts.has_cycles && !of_cycles.cycle->is_fixed;
  }

  /// Their list, which defines the order of help and reports.
  static Family<PreconditionerMethod>& family();
};

}  // namespace nodewise::solver
