// The one list of findings. Each is described at the end of its own file.
#include "nodewise/advise/finding.hpp"

namespace nodewise::advise {

namespace found {
const FindingKind& stalled_coarsening_finding();
const FindingKind& operator_complexity_finding();
const FindingKind& near_zero_diagonal_finding();
const FindingKind& negative_diagonal_finding();
const FindingKind& positive_couplings_finding();
const FindingKind& null_space_finding();
const FindingKind& inconsistent_rhs_finding();
const FindingKind& indefinite_finding();
const FindingKind& undeclared_unknowns_finding();
const FindingKind& nonsymmetric_matrix_finding();
const FindingKind& indefinite_preconditioner_finding();
const FindingKind& chebyshev_nonsymmetric_finding();
const FindingKind& hybrid_sweeps_finding();
}  // namespace found

Family<FindingKind>& FindingKind::family() {
  static Family<FindingKind> kinds(
      "finding", {&found::stalled_coarsening_finding(), &found::operator_complexity_finding(),
                  &found::near_zero_diagonal_finding(), &found::negative_diagonal_finding(),
                  &found::positive_couplings_finding(), &found::null_space_finding(),
                  &found::inconsistent_rhs_finding(), &found::indefinite_finding(),
                  &found::undeclared_unknowns_finding(), &found::nonsymmetric_matrix_finding(),
                  &found::indefinite_preconditioner_finding(),
                  &found::chebyshev_nonsymmetric_finding(), &found::hybrid_sweeps_finding()});
  return kinds;
}

}  // namespace nodewise::advise
