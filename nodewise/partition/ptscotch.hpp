// PT-Scotch, which divides a graph that is spread over ranks.
#pragma once

#include <span>
#include <vector>

#include "nodewise/partition/dist_graph.hpp"

namespace nodewise::partition {

/// Whether this build has PT-Scotch.
bool has_ptscotch();

/// Collective. The part of each of this rank's points, in parts whose weights are to each other as
/// `shares`; few couplings are to be cut. The result depends on how many ranks there are, and on
/// who has which points. What PT-Scotch sends is not in the ledger. Throws on every rank
/// unsupported in builds without it and where there are more points or couplings than it can count,
/// and internal where it fails.
/// Source: Chevalier, Pellegrini 2008; strategy SCOTCH_STRATBALANCE as Bienz 2018, section 5.5.
std::vector<int> parts_by_ptscotch(const DistGraph& graph, std::span<const int> shares);

}  // namespace nodewise::partition
