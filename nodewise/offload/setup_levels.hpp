// The levels of a hierarchy, set up on a device.
#pragma once

#include <memory>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/offload/departures.hpp"
#include "nodewise/offload/device_method.hpp"
#include "nodewise/offload/setup_coarsener.hpp"

namespace nodewise::offload {

/// Levels as amg::set_up_levels() makes them with the same options: aggregates and coarse points
/// are the same, matrices up to round-off. The finest matrix is copied to the device, the last one
/// back; the host keeps what exchanges need.
template <class Space>
class SetUpLevels {
 public:
  /// Collective, with options that amg::examine() has completed. Both must outlive this. Throws the
  /// same Error on every rank, such as out_of_memory.
  SetUpLevels(Card<Space>& card, device::Primitives<Space>& primitives, const SetupCall& call);
  SetUpLevels(const SetUpLevels&) = delete;
  SetUpLevels& operator=(const SetUpLevels&) = delete;

  const std::vector<SetUpLevel<Space>>& levels() const { return levels_; }
  const std::vector<amg::LevelInfo>& info() const { return info_; }
  const Departures<Space>& departures() const { return departures_; }
  std::size_t bytes() const;

  /// Collective. For other values on the finest matrix's pattern: transfers stay, with
  /// Reuse::splitting only aggregates do. On one rank the first call finds the places of products,
  /// further ones only sum up; on several, products are made anew. Throws the same Error on every
  /// rank.
  void rebuild(const matrix::DistMatrix<double>& A, amg::Reuse reuse);

  /// Collective. The last level's matrix on the host.
  matrix::DistMatrix<double> last_matrix() const;
  /// Local. What its entries are sums of, as amg::CoarseSolver has them.
  const std::vector<double>& last_sizes() const { return last_sizes_; }

 private:
  using Level = SetUpLevel<Space>;
  using Matrix = typename Level::Matrix;

  void set_up(const amg::LevelObserver& observe);
  void add_level(Matrix A, const Outline& outline);
  void choose_exchanges(std::size_t l, const Outline& outline);
  void make_transfer(std::size_t l);
  void estimate_radius(Level& level);
  Matrix next_matrix(Level& level, bool keeps_product);
  void finish_next(const Level& level, Matrix& C);
  void take_next(std::size_t l, Matrix C);
  void renew_next(std::size_t l);
  void describe(std::size_t l);

  Card<Space>& card_;
  device::Primitives<Space>& primitives_;
  std::shared_ptr<const mpi::Comm> comm_;
  DeviceOptions device_options_;
  amg::Options options_;
  Departures<Space> departures_;
  std::unique_ptr<Coarsener<Space>> coarsener_;
  std::vector<Level> levels_;
  std::vector<amg::LevelInfo> info_;
  std::vector<double> last_sizes_;
};

}  // namespace nodewise::offload
