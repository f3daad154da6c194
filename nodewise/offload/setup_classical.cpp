// Classical coarsening in a setup on a device.
#include "nodewise/device/extended_i.hpp"
#include "nodewise/offload/setup_coarsener.hpp"

namespace nodewise::offload {

namespace {

template <class Space>
class Classical final : public Coarsener<Space> {
 public:
  Classical(device::Primitives<Space>& primitives, const amg::Options& options)
      : primitives_(primitives), own_(amg::classical_options(options)), seed_(options.seed) {}

  LocalIndex coarsen(SetUpLevel<Space>& level) override {
    level.splitting = device::pmis(primitives_, level.A, strength_of(level), seed_);
    return level.splitting.n_coarse;
  }

  void interpolate(SetUpLevel<Space>& level, std::size_t /*l*/) override {
    const device::InterpolationRules rules = {
        own_.max_interpolation_entries, own_.interpolation_truncation,
        own_.isolated_couplings == amg::interpolate::ToIsolated::lumped};
    level.P = device::extended_i(primitives_, level.A, strength_of(level), level.splitting, rules);
  }

 private:
  device::Buffer<std::uint8_t, Space> strength_of(const SetUpLevel<Space>& level) {
    return device::strong_dependences(primitives_, level.A, own_.strength_threshold,
                                      own_.max_row_sum,
                                      own_.strength_measure == amg::StrengthMeasure::absolute);
  }

  device::Primitives<Space>& primitives_;
  const amg::ClassicalOptions& own_;
  int seed_;
};

}  // namespace

template <class Space>
std::unique_ptr<Coarsener<Space>> make_classical(device::Primitives<Space>& primitives,
                                                 const amg::Options& options) {
  return std::make_unique<Classical<Space>>(primitives, options);
}

template std::unique_ptr<Coarsener<device::Host>> make_classical(device::Primitives<device::Host>&,
                                                                 const amg::Options&);
#ifdef NODEWISE_CUDA
template std::unique_ptr<Coarsener<device::Cuda>> make_classical(device::Primitives<device::Cuda>&,
                                                                 const amg::Options&);
#endif

}  // namespace nodewise::offload
