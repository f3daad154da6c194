#include "nodewise/amg/aggregate/candidate_relaxation.hpp"

#include <utility>

#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/amg/relax/smoother_method.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg {

namespace {

template <class T>
NearNullSpace<T> improve_by_jacobi(CandidateCall<T> call) {
  return improved(call.A, std::move(call.vectors), call.sweeps, call.spectral_radius);
}

/// Collective. Gauss-Seidel on A, of whole points where the smoother has them.
template <class T>
std::unique_ptr<const relax::Relaxation<T>> gauss_seidel(const matrix::DistMatrix<T>& A,
                                                         bool by_points) {
  const Choice<relax::SmootherMethod> sweeps = by_points ? "block_gauss_seidel" : "gauss_seidel";
  return mpi::collectively(A.comm(), [&] { return relax::make_relaxation(A, sweeps); });
}

template <class T>
NearNullSpace<T> improve_by_gauss_seidel(CandidateCall<T> call) {
  return improved(call.A, std::move(call.vectors), call.sweeps,
                  *gauss_seidel(call.A, call.by_points));
}

const CandidateRelaxation& jacobi_of_candidates() {
  static const CandidateRelaxation method = {
      {"jacobi", "damped Jacobi sweeps, the same on any number of ranks", ""},
      true,
      true,
      1,
      improve_by_jacobi<double>,
      improve_by_jacobi<float>};
  return method;
}

const CandidateRelaxation& gauss_seidel_of_candidates() {
  static const CandidateRelaxation method = {
      {"gauss_seidel",
       "Gauss-Seidel sweeps forward and backward, which reach further in one exchange", ""},
      false,
      false,
      1,
      improve_by_gauss_seidel<double>,
      improve_by_gauss_seidel<float>};
  return method;
}

}  // namespace

Family<CandidateRelaxation>& CandidateRelaxation::family() {
  static Family<CandidateRelaxation> relaxations(
      "candidate_relaxation", {&jacobi_of_candidates(), &gauss_seidel_of_candidates()});
  return relaxations;
}

}  // namespace nodewise::amg
