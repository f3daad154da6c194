// Incomplete factors of each rank's rows as a preconditioner.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "nodewise/base/options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solve/operator.hpp"

namespace nodewise::solver {

struct PreconditionerMethod;

/// docs/methods/ilu.md says what they do.
struct IluOptions {
  int ilu_levels = 1;
  double ilu_drop = 0;
  double ilu_fill = 10;
  int ilu_overlap = 1;
};
std::span<const Field<IluOptions>> ilu_fields();

/// A preconditioner that can say of itself what there is to report.
class IncompleteLu : public solve::Operator<double> {
 public:
  /// Collective. Takes the values of a matrix with the same pattern, layout and blocks. Throws as
  /// incomplete_lu() does.
  virtual void rebuild(const std::shared_ptr<const matrix::DistMatrix<double>>& A) = 0;
  /// Local, the same on every rank. "ILU(1) of the rows of each rank and one layer of others, with
  /// 2.1 times the entries of the matrix".
  virtual std::string text() const = 0;
};

/// Collective. M v = R (L U)^-1 S v: every rank solves by incomplete factors for its rows and for
/// `ilu_overlap` layers of rows of other ranks around them, and keeps what it finds for its own:
/// the restricted additive Schwarz method (Cai, Sarkis 1999), block Jacobi without a layer. In
/// dense blocks where A has blocks. Rows and columns are scaled to a largest entry of about one and
/// put in the order of reverse Cuthill and McKee, where this build has it.
///
/// Cost of an application: one exchange of the numbers of the layers, none without; twice two
/// operations for each entry of the factors. For several vectors one exchange as well. Memory: the
/// factors, two vectors; ILU(k) keeps its pattern for rebuild().
///
/// Throws unsuitable_matrix on every rank where A has an entry that is not finite, and
/// index_overflow where rows are too many.
std::unique_ptr<IncompleteLu> incomplete_lu(
    const std::shared_ptr<const matrix::DistMatrix<double>>& A, const IluOptions& options);

const PreconditionerMethod& ilu_preconditioner();

}  // namespace nodewise::solver
