// What it costs when messages between nodes wait for the same links.
#pragma once

#include "nodewise/model/machine.hpp"

namespace nodewise::model {

/// What crosses the network in one stage.
struct NetworkLoad {
  double bytes = 0;      ///< from all nodes together
  double byte_hops = 0;  ///< each byte times the links it crosses
  int n_nodes = 1;       ///< that take part
  double messages = 0;   ///< from all nodes together
  double senders = 0;    ///< ranks that send some

  /// h, the links that a byte crosses on average.
  double average_hops() const { return bytes > 0 ? byte_hops / bytes : 0; }
};

/// Local. The links between two nodes by which NetworkLoad::byte_hops are counted: on a torus those
/// of the smallest cube that the nodes of the job fill in their order (Bienz 2018, section 3.4.2:
/// no knowledge of the partition is needed); otherwise hops().
int contention_hops(const NetworkShape& shape, int n_nodes, int node, int other);

/// Local. The bytes that cross each link. On a torus of d dimensions, l = h^d b ppn g with g nodes
/// a router, b ppn the mean bytes that leave a node (Bienz 2018, eq. 3.5, where d = 3, g = 2): all
/// that can cross a link, crosses it. On other networks, which the source does not treat, the mean
/// over the links, byte_hops / available_links(). 0 where the shape is not known.
double bytes_per_link(const NetworkShape& shape, const NetworkLoad& load);

/// Local. T_c = delta l, in seconds (Bienz 2018, eq. 3.3).
double contention_s(const Machine& machine, const NetworkLoad& load);

}  // namespace nodewise::model
