// The preconditioners, and their one list.
#include <utility>

#include "nodewise/solve/diagonal_preconditioner.hpp"
#include "nodewise/solver/cpr.hpp"
#include "nodewise/solver/factors.hpp"
#include "nodewise/solver/field_split.hpp"
#include "nodewise/solver/ilu.hpp"
#include "nodewise/solver/preconditioner.hpp"

namespace nodewise::solver {

namespace {

using MatrixPointer = PreconditionerCall::MatrixPointer;

Preconditioner make_multigrid(PreconditionerCall&& call) {
  auto hierarchy = std::make_unique<amg::Hierarchy<double>>(call.A, call.options,
                                                            std::move(call.info), call.observe);
  amg::Hierarchy<double>* const place = hierarchy.get();
  return {std::move(hierarchy), place};
}

const PreconditionerMethod& amg_preconditioner() {
  static const PreconditionerMethod method = {
      {"amg", "a cycle of algebraic multigrid", ""},
      true,
      make_multigrid,
      [](Preconditioner& made, const MatrixPointer& next, amg::Reuse reuse) {
        made.hierarchy->rebuild(next, reuse);
      },
      {.has_cycles = true,
       .asymmetry = [](const Choice<PreconditionerMethod>&, const amg::Options& options) {
         return amg::asymmetry_of(options);
       }}};
  return method;
}

const PreconditionerMethod& jacobi_preconditioner() {
  static const PreconditionerMethod method = {
      {"jacobi", "division by the diagonal", "Saad 2003, section 10.2"},
      false,
      [](PreconditionerCall&& call) -> Preconditioner {
        return {std::make_unique<solve::DiagonalPreconditioner>(*call.A), nullptr};
      },
      [](Preconditioner& made, const MatrixPointer& next, amg::Reuse) {
        made.map = std::make_unique<solve::DiagonalPreconditioner>(*next);
      }};
  return method;
}

const PreconditionerMethod& no_preconditioner() {
  static const PreconditionerMethod method = {
      {"none", "nothing", ""},
      false,
      [](PreconditionerCall&&) { return Preconditioner(); },
      [](Preconditioner&, const MatrixPointer&, amg::Reuse) {}};
  return method;
}

}  // namespace

Family<PreconditionerMethod>& PreconditionerMethod::family() {
  static Family<PreconditionerMethod> methods(
      "preconditioner", {&amg_preconditioner(), &jacobi_preconditioner(), &ilu_preconditioner(),
                         &direct_preconditioner(), &fields_preconditioner(), &cpr_preconditioner(),
                         &no_preconditioner()});
  return methods;
}

}  // namespace nodewise::solver
