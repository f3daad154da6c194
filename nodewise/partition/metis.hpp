// METIS, which divides the graph of one rank.
#pragma once

#include <span>
#include <vector>

#include "nodewise/partition/point_graph.hpp"

namespace nodewise::partition {

/// Whether this build has METIS.
bool has_metis();

/// Local. The part of each point, in parts whose weights are to each other as `shares`; few values
/// are to cross between parts; of fewer than two points each they are successive ones. Throws
/// unsupported in builds without METIS and where there are more couplings than METIS can count,
/// out_of_memory, and internal where METIS fails. Source: Karypis, Kumar 1998; the objective is the
/// volume of communication.
std::vector<int> parts_by_metis(const PointGraph& graph, std::span<const int> shares);

/// Local. Likewise in parts of equal weight, where few of the `couplings` are to be cut: one for
/// each of the graph's neighbours. Parts may be empty.
std::vector<int> parts_by_metis(const PointGraph& graph, std::span<const std::int64_t> couplings,
                                int n_parts);

}  // namespace nodewise::partition
