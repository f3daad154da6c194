// The levels of a hierarchy, set up on a device.
#pragma once

#include <memory>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/offload/device_method.hpp"
#include "nodewise/offload/setup_coarsener.hpp"

namespace nodewise::offload {

/// Levels as amg::set_up_levels() makes them with the same options: aggregates and coarse points
/// are the same, matrices up to round-off. The finest matrix is copied to the device, the last one
/// back.
template <class Space>
class SetUpLevels {
 public:
  /// Collective, on one rank, with options that amg::examine() has completed. Throws out_of_memory.
  SetUpLevels(device::Primitives<Space>& primitives, const SetupCall& call);
  SetUpLevels(const SetUpLevels&) = delete;
  SetUpLevels& operator=(const SetUpLevels&) = delete;

  const std::vector<SetUpLevel<Space>>& levels() const { return levels_; }
  const std::vector<amg::LevelInfo>& info() const { return info_; }
  std::size_t bytes() const;

  /// Collective, on one rank. For other values on the finest matrix's pattern: transfers stay, with
  /// Reuse::splitting only aggregates do. The first call finds the places of products, further ones
  /// only sum up.
  void rebuild(const matrix::DistMatrix<double>& A, amg::Reuse reuse);

  /// Local. The last level's matrix on the host, and what its entries are sums of, as
  /// amg::CoarseSolver has them.
  matrix::DistMatrix<double> last_matrix() const;
  const std::vector<double>& last_sizes() const { return last_sizes_; }

 private:
  using Level = SetUpLevel<Space>;
  using Matrix = typename Level::Matrix;

  void set_up(const amg::LevelObserver& observe);
  void make_transfer(std::size_t l);
  void estimate_radius(Level& level);
  Matrix next_matrix(Level& level, bool keeps_product);
  void finish_next(const Level& level, Matrix& C);
  void renew_next(std::size_t l);
  void describe(const Level& level);

  device::Primitives<Space>& primitives_;
  device::Queue<Space>& queue_;
  std::shared_ptr<const mpi::Comm> comm_;
  amg::Options options_;
  std::unique_ptr<Coarsener<Space>> coarsener_;
  std::vector<Level> levels_;
  std::vector<amg::LevelInfo> info_;
  std::vector<double> last_sizes_;
};

}  // namespace nodewise::offload
