// Coarsening by local approximate ideal restriction.
#include "nodewise/amg/restriction/local_air.hpp"
#include "nodewise/amg/setup/classical.hpp"

namespace nodewise::amg {

using matrix::DistMatrix;

namespace {

template <class T>
GridTransfer<T> air_transfer(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                             const Options& options, const GridTransfer<T>* earlier) {
  const AirOptions& air = *air_options(options);
  const restriction::AirLimits limits = {air.restriction_distance, air.restriction_threshold,
                                         air.restriction_truncation};
  return transfer_by_points<T>(A, knowledge, options, earlier,
                               [&](const DistMatrix<T>& B, const coarsen::Splitting& splitting,
                                   const comm::Layout& coarse_points) {
                                 return restriction::local_air(B, splitting, coarse_points, limits);
                               });
}

}  // namespace

const LevelMethod& air_method() {
  constexpr auto asymmetry = [](const Options&) { return std::string("method air"); };
  static const LevelMethod method = {
      {"air",
       "classical, with local approximate ideal restrictions: for nonsymmetric problems, and not "
       "for conjugate gradients",
       "Manteuffel, Muenzenmaier, Ruge, Southworth 2019",
       own_options(air_fields),
       // Points that a restriction is made of are relaxed after the coarse correction only.
       {{"smoother", "fc_jacobi"}, {"sweep_order", "forward"}, {"pre_sweeps", "0"}}},
      true,
      false,
      false,
      false,
      +asymmetry,
      SetupSteps::splitting,
      LevelFunctions<double>{air_transfer<double>},
      LevelFunctions<float>{air_transfer<float>},
      "one_point"};
  return method;
}

}  // namespace nodewise::amg
