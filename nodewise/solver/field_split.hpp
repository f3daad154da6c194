// A preconditioner for systems of several fields, above all saddle points, by a cycle for each.
#pragma once

#include <memory>
#include <span>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solve/operator.hpp"
#include "nodewise/solver/field_inverse.hpp"
#include "nodewise/solver/field_rows.hpp"
#include "nodewise/solver/preconditioner.hpp"

namespace nodewise::solver {

/// How rows are told apart.
enum class FieldRule {
  automatic,   ///< as the caller knows, and else by their diagonal entries (find_fields())
  interleaved  ///< the last unknown of each point is the second field
};

/// What stands for the Schur complement C - B F^-1 G of a system (F G; B C).
enum class SchurForm {
  automatic,  ///< lsc where there are two fields and C is zero, else simple
  simple,     ///< C - B D^-1 G, D being the diagonal of F
  lsc,        ///< the least-squares commutator, where C is zero
  diagonal    ///< the diagonal of the first
};

/// Which triangles of the system are kept.
enum class SplitForm {
  upper,    ///< (F G; 0 S)
  lower,    ///< (F 0; B S)
  full,     ///< the product of both triangles
  diagonal  ///< (|F| 0; 0 |S|): symmetric positive definite where the system is symmetric
};

struct FieldOptions {
  FieldRule fields = FieldRule::automatic;
  SchurForm schur = SchurForm::automatic;
  SplitForm split = SplitForm::upper;
  FieldSolve field_solve = FieldSolve::automatic;
};
std::span<const Field<FieldOptions>> field_options();

/// Collective. For a system (F G; B C), F being the first field: what SplitForm says, F^-1 and S^-1
/// being invert_field()'s, S what SchurForm says. `full` is (F 0; B S) (1 E; 0 1) with E = D^-1 G
/// where S is made with D, as in SIMPLE, and F^-1 G else. The commutator takes
///   S^-1 = -L^-1 (B D^-1 F D^-1 G) L^-1,   L = B D^-1 G.
/// Where the caller knows of more than two fields, G, B and C are those of all but the first, and
/// S^-1 is this preconditioner again, of S and the fields that are left.
/// Its messages are those of the inverses (S^-1 of the commutator has two, and `full` with it one
/// of F more) and of a product with each off-diagonal block that is kept. Throws on every rank
/// unsuitable_matrix where an entry is not finite, a field is empty, F has a zero or no diagonal
/// entry, a row of S is zero, or C is not zero or of several fields for `lsc`, and what
/// invert_field() throws, and invalid_argument where `known` is, but other fields are asked for.
/// Rows are counted from 1 in messages.
/// Sources: Murphy, Golub, Wathen 2000; Patankar, Spalding 1972; Elman, Howle, Shadid,
/// Shuttleworth, Tuminaro 2006.
std::unique_ptr<solve::Operator<double>> split_fields(
    const std::shared_ptr<const matrix::DistMatrix<double>>& A, const FieldOptions& fields,
    const amg::Options& options, const RowFields& known = {});

/// The preconditioner `fields`.
const PreconditionerMethod& fields_preconditioner();

}  // namespace nodewise::solver
