// Classical coarsening in a setup on a device.
#include "nodewise/offload/setup_coarsener.hpp"

namespace nodewise::offload {

namespace {

template <class Space>
class Classical final : public Coarsener<Space> {
 public:
  explicit Classical(const amg::Options& options)
      : own_(amg::classical_options(options)), seed_(options.seed) {}

  GlobalIndex coarsen(SetUpLevel<Space>& level) override {
    level.coarse_points = find_coarse_points(level.at, level.A, *level.halo, dependences(), seed_);
    return level.coarse_points->layout.n_global();
  }

  void interpolate(SetUpLevel<Space>& level, std::size_t /*l*/) override {
    const device::InterpolationRules rules = {
        own_.max_interpolation_entries, own_.interpolation_truncation,
        own_.isolated_couplings == amg::interpolate::ToIsolated::lumped};
    level.P =
        interpolation(level.at, level.A, *level.halo, *level.coarse_points, dependences(), rules);
    give_outline(*level.P, OutlineRows::none);
  }

 private:
  DependenceRules dependences() const {
    return {own_.strength_threshold, own_.max_row_sum,
            own_.strength_measure == amg::StrengthMeasure::absolute};
  }

  const amg::ClassicalOptions& own_;
  int seed_;
};

}  // namespace

template <class Space>
std::unique_ptr<Coarsener<Space>> make_classical(const amg::Options& options) {
  return std::make_unique<Classical<Space>>(options);
}

template std::unique_ptr<Coarsener<device::Host>> make_classical(const amg::Options&);
#ifdef NODEWISE_CUDA
template std::unique_ptr<Coarsener<device::Cuda>> make_classical(const amg::Options&);
#endif

}  // namespace nodewise::offload
