#include "nodewise/solver/factors.hpp"

#include <vector>

namespace nodewise::solver {

namespace {

std::span<const Field<FactorOptions>> factor_fields() {
  static const std::vector<Field<FactorOptions>> fields = {
      field("factor_limit", &FactorOptions::factor_limit,
            "Operations a rank that the factors may take, by MUMPS's estimate; 0: any number", 0.0,
            1e30)
          .affecting(Affects::iterations)};
  return fields;
}

}  // namespace

const PreconditionerMethod& direct_preconditioner() {
  static const PreconditionerMethod method = {
      {"direct", "the factors of the matrix, by MUMPS: for what no iteration solves",
       "Amestoy, Duff, L'Excellent, Koster 2001", own_options(factor_fields)},
      false,
      [](PreconditionerCall&& call) -> Preconditioner {
        return {factorize(*call.A, call.method.options<FactorOptions>()), nullptr};
      },
      [](Preconditioner& made, const PreconditionerCall::MatrixPointer& next, amg::Reuse) {
        made.map = factorize(*next);
      },
      {.is_exact = true, .wants_diagonal = true}};
  return method;
}

}  // namespace nodewise::solver
