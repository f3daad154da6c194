// Distances of nodes in networks of known shape, and their numbers of links.
#pragma once

#include "nodewise/model/machine.hpp"

namespace nodewise::model {

/// Whether hops and links of the shape are known.
bool is_known(const NetworkShape& shape);

/// Local. Links that a message crosses between two nodes, on a shortest way; 0 for a node and
/// itself, and where the shape is not known. Nodes fill switches and routers in their order,
/// routers fill groups. In a fat tree and a dragonfly the links of the nodes count (Gahvari et al.
/// 2014, section 4.2), in a torus only those between routers (Bienz 2018, figure 3.7). Which
/// routers link two groups is not part of the shape: between groups it is the longest way. Throws
/// invalid_argument for negative numbers.
int hops(const NetworkShape& shape, int node, int other);

/// Local. h_m, the fewest hops between two nodes: 2 on an Aries network.
int fewest_hops(const NetworkShape& shape);

/// Local. D, the hops that the distance term charges each message of a job on so many nodes
/// (Gahvari et al. 2014, section 4.2): the diameter of a dragonfly (7 on an Aries network) and of a
/// fat tree, whatever the job, since other jobs are in the way. A job on a torus has a part of its
/// own, a cube or nearly so, whose diameter counts.
int charged_hops(const NetworkShape& shape, int n_nodes);

/// Local. l, the number of links that a job on so many nodes can use. Dragonfly: the mean of the
/// fewest, with groups filled one by one, and the most, with every node in a group of its own until
/// all are in use (Gahvari et al. 2014, section 4.2, which counts as links of a group one less than
/// routers in each row and column: 170 for Aries). Fat tree: one a node and level. Torus: one a
/// router and dimension. Infinite where the shape is not known: nothing is in the way.
double available_links(const NetworkShape& shape, int n_nodes);

/// The side of the smallest cube of so many dimensions that has room for n routers.
int cube_side(int n_routers, int dimensions);

/// Local. Hops between two routers of a cube of that side without closed rings, which are numbered
/// with the first direction fastest (Bienz 2018, figure 3.7).
int cube_hops(int router, int other, int side);

}  // namespace nodewise::model
