// The ranks of a node that handle its exchange with each other node.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "nodewise/mpi/settings.hpp"

namespace nodewise::comm::route {

/// A node that this one sends to, or receives from, and how many distinct entries.
struct PartnerNode {
  /// What one rank of this node has of them, or needs.
  struct Part {
    int place;  ///< of the rank on the node
    std::int64_t entries;
  };
  int node;
  std::int64_t entries;
  std::vector<Part> parts = {};
};

enum class Direction { send, receive };

/// Gives for each partner of `node` the places (0 .. n_ranks - 1) of its ranks that handle it: at
/// least one, distinct. A pair of nodes is split over as many ranks as both sides name.
using NodeMapping = mpi::NodeMappingMethod::Map;

/// Local. The rule of Bienz 2018, section 5.4.1: partners are taken by descending number of
/// entries (equal ones by their number) and get the places 0, 1, ... in turn where the node sends,
/// n_ranks - 1, n_ranks - 2, ... where it receives. Where there are no more than half as many
/// partners as ranks each gets as many ranks as all can have.
std::vector<std::vector<int>> map_by_size(int node, std::span<const PartnerNode> partners,
                                          int n_ranks, Direction direction);

/// Local. Each partner gets the one rank that has most of what goes there, or needs most of what
/// comes; of several the one with fewest partners so far, then the lowest. So least is moved on the
/// node, but a rank may have many partners, and others none.
std::vector<std::vector<int>> map_to_owner(int node, std::span<const PartnerNode> partners,
                                           int n_ranks, Direction direction);

/// As map_by_size(), but what is longer than `entries` is cut: a partner gets a rank for as many,
/// up to all of the node.
NodeMapping map_split(std::int64_t entries);

}  // namespace nodewise::comm::route
