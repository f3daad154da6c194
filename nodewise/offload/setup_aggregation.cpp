// Smoothed aggregation in a setup on a device.
#include <span>
#include <utility>

#include "nodewise/amg/setup/aggregation.hpp"
#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/device/prolongator.hpp"
#include "nodewise/offload/setup_coarsener.hpp"

namespace nodewise::offload {

namespace {

template <class Space>
class Aggregation final : public Coarsener<Space> {
 public:
  Aggregation(device::Primitives<Space>& primitives, const amg::Options& options,
              const std::vector<double>& vector)
      : options_(options), own_(options.method.options<amg::AggregationOptions>()) {
    vectors_.emplace_back(primitives.queue(), std::span<const double>(vector));
  }

  GlobalIndex coarsen(SetUpLevel<Space>& level) override {
    level.aggregates = find_aggregates(
        level.at, level.A, *level.halo,
        {amg::aggregation_threshold(1, own_), own_.aggregation_distance, options_.seed});
    return level.aggregates->layout.n_global();
  }

  void interpolate(SetUpLevel<Space>& level, std::size_t l) override {
    if (options_.smoother->needs_spectral_radius) {
      level.spectral_radius = radius_of(level, amg::SpectrumOptions{}.steps, options_.seed);
    } else if (own_.needs_radius_for_smoothing()) {
      level.spectral_radius = radius_of(level, amg::steps_for_smoothing, options_.seed);
    }
    vectors_.resize(l + 1);
    auto [P, coarse_vector] =
        tentative_prolongator(level.at, level.A.rows, *level.aggregates, vectors_[l].data());
    vectors_.push_back(std::move(coarse_vector));
    const bool knows_damping = !own_.scale_prolongation_weight || level.spectral_radius > 0;
    if (own_.prolongation_sweeps > 0 && knows_damping) smooth(level, P);
    level.P = std::move(P);
  }

  std::size_t bytes() const override {
    std::size_t sum = 0;
    for (const auto& vector : vectors_) sum += vector.bytes();
    return sum;
  }

 private:
  void smooth(const SetUpLevel<Space>& level, DistCsr<Space>& P) const {
    const double damping =
        own_.prolongation_weight / (own_.scale_prolongation_weight ? level.spectral_radius : 1.0);
    const mpi::Comm& comm = level.A.rows.comm();
    const DistCsr<Space> jacobi = {
        level.A.rows, level.A.cols, level.A.ghosts,
        level.at.together(
            comm,
            [&] { return device::jacobi_matrix(*level.at.primitives, level.A.local, damping); }),
        level.A.outline};
    for (int sweep = 0; sweep < own_.prolongation_sweeps; ++sweep) {
      P = multiply(level.at, jacobi, P);
    }
    give_outline(P, OutlineRows::none);
  }

  const amg::Options& options_;
  const amg::AggregationOptions& own_;
  std::vector<device::Buffer<double, Space>> vectors_;  // the near null space of each level
};

}  // namespace

template <class Space>
std::unique_ptr<Coarsener<Space>> make_aggregation(device::Primitives<Space>& primitives,
                                                   const amg::Options& options,
                                                   const std::vector<double>& vector) {
  return std::make_unique<Aggregation<Space>>(primitives, options, vector);
}

template std::unique_ptr<Coarsener<device::Host>> make_aggregation(
    device::Primitives<device::Host>&, const amg::Options&, const std::vector<double>&);
#ifdef NODEWISE_CUDA
template std::unique_ptr<Coarsener<device::Cuda>> make_aggregation(
    device::Primitives<device::Cuda>&, const amg::Options&, const std::vector<double>&);
#endif

}  // namespace nodewise::offload
