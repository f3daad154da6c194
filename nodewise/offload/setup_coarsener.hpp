// How a level is joined to the next in a setup on a device.
#pragma once

#include <memory>
#include <vector>

#include "nodewise/amg/options.hpp"
#include "nodewise/device/aggregates.hpp"
#include "nodewise/device/splitting.hpp"

namespace nodewise::offload {

/// A level, whose arrays are all on the device.
template <class Space>
struct SetUpLevel {
  using Matrix = device::CsrMatrix<double, Space>;

  Matrix A;
  Matrix P, R;                           ///< from and to the next level; without rows on the last
  device::Aggregates<Space> aggregates;  ///< in an aggregation
  device::Splitting<Space> splitting;    ///< where coarse points are some of the fine ones
  double spectral_radius = 0;            ///< of D^-1 A; 0: not known
  bool has_next = false;
  bool solved_directly = false;
  Matrix AP;  ///< of SetUpLevels::rebuild(), once it was called

  std::size_t bytes() const;
};

/// A method that makes P. All functions are local, and for levels of one rank.
template <class Space>
class Coarsener {
 public:
  virtual ~Coarsener() = default;
  /// Chooses what the next level's points are; returns how many.
  virtual LocalIndex coarsen(SetUpLevel<Space>& level) = 0;
  /// Makes P of level number l from that and from the level's values.
  virtual void interpolate(SetUpLevel<Space>& level, std::size_t l) = 0;
  virtual std::size_t bytes() const { return 0; }
};

/// Local. Those of the options' method; `vector` is the near null space of an aggregation's finest
/// level. All must outlive it.
template <class Space>
std::unique_ptr<Coarsener<Space>> make_coarsener(device::Primitives<Space>& primitives,
                                                 const amg::Options& options,
                                                 const std::vector<double>& vector);

/// Local. The spectral radius of the level's matrix by so many products.
template <class Space>
double radius_of(device::Primitives<Space>& primitives, const SetUpLevel<Space>& level, int steps,
                 int seed);

// Of make_coarsener(), for the kinds of methods.
template <class Space>
std::unique_ptr<Coarsener<Space>> make_aggregation(device::Primitives<Space>& primitives,
                                                   const amg::Options& options,
                                                   const std::vector<double>& vector);
template <class Space>
std::unique_ptr<Coarsener<Space>> make_classical(device::Primitives<Space>& primitives,
                                                 const amg::Options& options);

}  // namespace nodewise::offload
