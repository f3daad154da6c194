// How a level is joined to the next in a setup on a device.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "nodewise/amg/options.hpp"
#include "nodewise/offload/aggregates.hpp"
#include "nodewise/offload/coarse_points.hpp"
#include "nodewise/routing/route_choice.hpp"

namespace nodewise::offload {

/// A level, whose arrays are all on the device.
template <class Space>
struct SetUpLevel {
  using Matrix = DistCsr<Space>;

  Matrix A;                                             ///< its outline takes the setup's route
  Outline outline_of_solve = nullptr;                   ///< of A, over the route of a solve
  routing::LevelRoutes routes = {};                     ///< of all exchanges of the level
  Workplace<Space> at = {};                             ///< of the level's setup
  std::unique_ptr<Halo<double, Space>> halo = nullptr;  ///< of A, likewise
  std::optional<Matrix> P = {}, R = {};  ///< from and to the next level; none on the last
  std::optional<Aggregates<Space>> aggregates = {};       ///< in an aggregation
  std::optional<CoarsePoints<Space>> coarse_points = {};  ///< where they are some of the fine ones
  double spectral_radius = 0;                             ///< of D^-1 A; 0: not known
  bool has_next = false;
  bool solved_directly = false;
  std::optional<Matrix> AP = {};  ///< of SetUpLevels::rebuild() on one rank, once it was called

  std::size_t bytes() const;
};

/// A method that makes P. All functions are collective, and throw the same Error on every rank.
template <class Space>
class Coarsener {
 public:
  virtual ~Coarsener() = default;
  /// Chooses what the next level's points are; returns how many there are on all ranks.
  virtual GlobalIndex coarsen(SetUpLevel<Space>& level) = 0;
  /// Makes P of level number l, with a direct outline, from that and from the level's values.
  virtual void interpolate(SetUpLevel<Space>& level, std::size_t l) = 0;
  virtual std::size_t bytes() const { return 0; }
};

/// Local. Those of the options' method; `vector` is the near null space of an aggregation's finest
/// level. All must outlive it.
template <class Space>
std::unique_ptr<Coarsener<Space>> make_coarsener(device::Primitives<Space>& primitives,
                                                 const amg::Options& options,
                                                 const std::vector<double>& vector);

/// Collective. The spectral radius of the level's matrix by so many products.
template <class Space>
double radius_of(const SetUpLevel<Space>& level, int steps, int seed);

// Of make_coarsener(), for the kinds of methods.
template <class Space>
std::unique_ptr<Coarsener<Space>> make_aggregation(device::Primitives<Space>& primitives,
                                                   const amg::Options& options,
                                                   const std::vector<double>& vector);
template <class Space>
std::unique_ptr<Coarsener<Space>> make_classical(const amg::Options& options);

}  // namespace nodewise::offload
