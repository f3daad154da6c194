// Classical coarsening in a setup on a device, of one rank.
#include <utility>

#include "nodewise/device/extended_i.hpp"
#include "nodewise/offload/setup_coarsener.hpp"

namespace nodewise::offload {

namespace {

template <class Space>
class Classical final : public Coarsener<Space> {
 public:
  explicit Classical(const amg::Options& options)
      : own_(amg::classical_options(options)), seed_(options.seed) {}

  GlobalIndex coarsen(SetUpLevel<Space>& level) override {
    level.at.together(level.A.rows.comm(), [&] {
      level.splitting =
          device::pmis(*level.at.primitives, level.A.local, strength_of(level), seed_);
    });
    return level.splitting.n_coarse;
  }

  void interpolate(SetUpLevel<Space>& level, std::size_t /*l*/) override {
    const device::InterpolationRules rules = {
        own_.max_interpolation_entries, own_.interpolation_truncation,
        own_.isolated_couplings == amg::interpolate::ToIsolated::lumped};
    auto P = level.at.together(level.A.rows.comm(), [&] {
      return device::extended_i(*level.at.primitives, level.A.local, strength_of(level),
                                level.splitting, rules);
    });
    const auto coarse =
        comm::Layout::from_local_size(level.A.rows.shared_comm(), level.splitting.n_coarse);
    level.P = DistCsr<Space>{level.A.rows, coarse, {}, std::move(P)};
    give_outline(*level.P, OutlineRows::none);
  }

 private:
  device::Buffer<std::uint8_t, Space> strength_of(const SetUpLevel<Space>& level) const {
    return device::strong_dependences(*level.at.primitives, level.A.local, own_.strength_threshold,
                                      own_.max_row_sum,
                                      own_.strength_measure == amg::StrengthMeasure::absolute);
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
