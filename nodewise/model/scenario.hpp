// The scenarios of Gahvari, Gropp, Jordan, Schulz and Yang, "Algebraic multigrid on a dragonfly
// network", 2014, section 5.2: what messages between nodes are charged beside alpha + n beta.
#pragma once

#include "nodewise/base/family.hpp"

namespace nodewise::model {

/// The penalties that their model knows beside its baseline, alpha + n beta for a message of n
/// doubles.
struct Penalties {
  bool distance = false;            ///< alpha(h) = alpha(h_m) + (h - h_m) gamma
  bool bandwidth = false;           ///< beta times (B_max / B + m / l)
  bool multicore_latency = false;   ///< alpha(h_m) times ceil(t P_i / P)
  bool multicore_distance = false;  ///< gamma times ceil(t P_i / P)

  bool operator==(const Penalties&) const = default;
};

/// A choice of penalties.
struct Scenario : MethodInfo {
  Required<Penalties> penalties;

  /// In the order of section 5.2, each but the last two with more penalties than those before it.
  /// Left open, a machine's own counts: Machine::scenario.
  static Family<Scenario>& family();
};

}  // namespace nodewise::model
