// The ranks of a node that handle its exchange with each other node.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace nodewise::comm::route {

/// A node that this one sends to, or receives from, and how many distinct entries.
struct PartnerNode {
  int node;
  std::int64_t entries;
};

enum class Direction { send, receive };

/// Gives for each partner of `node` the places (0 .. n_ranks - 1) of its ranks that handle it: at
/// least one, distinct. A pair of nodes is split over as many ranks as both sides name.
using NodeMapping = std::function<std::vector<std::vector<int>>(
    int node, std::span<const PartnerNode> partners, int n_ranks, Direction direction)>;

/// Local. The rule of Bienz 2018, section 5.4.1: partners are taken by descending number of
/// entries (equal ones by their number) and get the places 0, 1, ... in turn where the node sends,
/// n_ranks - 1, n_ranks - 2, ... where it receives. Where there are no more than half as many
/// partners as ranks each gets as many ranks as all can have.
std::vector<std::vector<int>> map_by_size(int node, std::span<const PartnerNode> partners,
                                          int n_ranks, Direction direction);

}  // namespace nodewise::comm::route
