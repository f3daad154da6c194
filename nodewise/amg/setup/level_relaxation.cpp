#include "nodewise/amg/setup/level_relaxation.hpp"

#include <memory>
#include <utility>

#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

using matrix::DistMatrix;

namespace {

template <class T>
SpectrumOptions spectrum_of(const Level<T>& level, const Options& options) {
  return spectrum_options(level.knowledge.symmetric.value_or(true), options);
}

}  // namespace

template <class T>
double radius_for_smoother(Level<T>& level, const Options& options) {
  if (level.solved_directly || !options.smoother->needs_spectral_radius) return 0;
  double& radius = level.transfer.spectral_radius;
  if (radius > 0 && !level.lost) return radius;
  const mpi::Scope scope(level.A->comm(), "spectral_radius");
  return radius = spectral_radius(*level.A, spectrum_of(level, options));
}

template <class T>
double radius_for_values(Level<T>& level, const DistMatrix<T>& A, const Options& options) {
  if (level.solved_directly || !options.smoother->needs_spectral_radius) return 0;
  const mpi::Scope scope(A.comm(), "spectral_radius");
  const SpectrumOptions spectrum = spectrum_of(level, options);
  if (!spectrum.symmetric) return spectral_radius(A, spectrum);
  if (level.radius) return level.radius->estimate(A);
  auto tracker = std::make_unique<SpectralRadiusTracker<T>>(A, spectrum);
  tracker->remember(*level.A, level.transfer.spectral_radius);
  level.radius = std::move(tracker);
  return level.radius->radius();
}

template <class T>
std::vector<relax::RowScales> row_scales(const Levels<T>& levels,
                                         std::span<const MatrixPointer<T>> matrices,
                                         const relax::SmootherMethod& smoother) {
  if (!smoother.is_l1()) return std::vector<relax::RowScales>(levels.size());
  const mpi::Comm& comm = matrices.front()->comm();
  std::vector<const DistMatrix<T>*> weighed(levels.size(), nullptr);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (levels[l]->is_elsewhere || levels[l]->solved_directly) continue;
    if (relax::needs_row_scales(smoother, matrices[l]->comm())) weighed[l] = matrices[l].get();
  }
  return relax::row_scales<T>(comm, weighed);
}

template <class T>
relax::MatrixFacts facts_of(const Level<T>& level, double radius, const relax::RowScales& scales) {
  return {.spectral_radius = radius,
          .coarse_rows = level.transfer.coarse_rows,
          .is_symmetric = level.knowledge.symmetric.value_or(false),
          .scales = &scales,
          .gives_product = level.depth == 0};
}

#define NODEWISE_INSTANTIATE(T)                                                           \
  template double radius_for_smoother(Level<T>&, const Options&);                         \
  template double radius_for_values(Level<T>&, const DistMatrix<T>&, const Options&);     \
  template std::vector<relax::RowScales> row_scales(                                      \
      const Levels<T>&, std::span<const MatrixPointer<T>>, const relax::SmootherMethod&); \
  template relax::MatrixFacts facts_of(const Level<T>&, double, const relax::RowScales&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg
