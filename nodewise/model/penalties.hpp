// The penalties of a scenario on the messages between nodes of one stage (Gahvari et al. 2014,
// section 4.1): every formula that costs such messages takes them from here.
#pragma once

#include <optional>

#include "nodewise/model/contention.hpp"
#include "nodewise/model/machine.hpp"

namespace nodewise::model {

/// What the messages of a stage have in common, that penalties depend on.
struct Crowd {
  int n_nodes = 1;      ///< of the job
  double messages = 0;  ///< m: between nodes, of all ranks together
  double ranks_a_node =
      1;  ///< ceil(t P_i / P): ranks of a node that have some, on average, rounded up

  /// Of what crosses the network in a stage; P_i are the ranks that send between nodes in it.
  static Crowd of(const NetworkLoad& load);
};

/// What each message between nodes is charged.
struct Charges {
  double latency_factor = 1;   ///< of alpha: the multicore penalty
  double distance_s = 0;       ///< (D - h_m) gamma; 0 where the network's shape is not known
  double distance_factor = 1;  ///< of that: the multicore penalty
  bool hardware = false;       ///< whether 1 / rate is multiplied by B_max / B + m / l instead of 1
  double shared_links = 0;     ///< m / l

  double distance() const { return distance_factor * distance_s; }
  double latency(double alpha) const { return latency_factor * alpha + distance(); }
  /// What is added to bytes over rates; `hardware_s` is the same, each times its B_max / B.
  double more_bandwidth_s(double seconds, double hardware_s) const {
    return hardware ? hardware_s - seconds + shared_links * seconds : 0;
  }
};

/// Local. By the penalties of the machine's scenario, or by others.
Charges charges(const Machine& machine, const Crowd& crowd);
Charges charges(const Machine& machine, const Penalties& penalties, const Crowd& crowd);

/// Local. B_max / B of messages with these parameters; 1 where B_max is not known.
double hardware_factor(const Machine& machine, const MessageParameters& parameters);

/// Local. The parameters of a message between nodes with its charges: alpha(h), and the rate over
/// B_max / B + m / l.
MessageParameters charged(const Machine& machine, const MessageParameters& parameters,
                          const Charges& charges);

/// Local. gamma of the distance penalty, (alpha(D) - alpha(h_m)) / (D - h_m), from the latency that
/// the machine's messages between nodes have and the largest one that was measured on so many nodes
/// (Gahvari et al. 2014, section 4.2). Not negative; nothing where hops are not known.
std::optional<double> hop_latency_s(const Machine& machine, int n_nodes, double largest_latency_s);

/// Local. Gives the machine a scenario, unless that is left open.
void take_scenario(Machine& machine, const Choice<Scenario>& wanted);

}  // namespace nodewise::model
