#include "support.hpp"

#include <algorithm>

#include "nodewise/base/hash.hpp"

namespace nodewise::test {
namespace {

std::shared_ptr<const mpi::Comm>& comm_slot() {
  static std::shared_ptr<const mpi::Comm> comm;
  return comm;
}

template <class NodeOf>
NodeMap make_map(std::string name, int n_ranks, NodeOf node_of) {
  NodeMap map{std::move(name), std::vector<int>(static_cast<std::size_t>(n_ranks))};
  for (int r = 0; r < n_ranks; ++r) map.node_of_rank[static_cast<std::size_t>(r)] = node_of(r);
  return map;
}

// Node 7 has one rank, node 3 two, node 11 three, node 0 the rest: no order, no equal sizes.
int uneven_node(int rank) {
  if (rank < 1) return 7;
  if (rank < 3) return 3;
  return rank < 6 ? 11 : 0;
}

}  // namespace

std::shared_ptr<const mpi::Comm> test_comm() {
  if (!comm_slot()) comm_slot() = mpi::Comm::create(MPI_COMM_WORLD);
  return comm_slot();
}

void release_test_comm() {
  comm_slot().reset();
}

std::vector<NodeMap> node_maps(int n_ranks) {
  int per_node = 2;  // the smallest number that leaves the last node partly filled
  while (n_ranks > 2 && n_ranks % per_node == 0) ++per_node;
  const std::vector<NodeMap> all = {
      make_map("one_node", n_ranks, [](int) { return 0; }),
      make_map("all_separate", n_ranks, [](int r) { return r; }),
      make_map("partly_filled", n_ranks, [=](int r) { return r / per_node; }),
      make_map("interleaved", n_ranks, [](int r) { return r % 2; }),
      make_map("uneven", n_ranks, uneven_node),
      make_map(
          "shuffled", n_ranks,
          [](int r) { return static_cast<int>(hash64(static_cast<std::uint64_t>(r), 5) % 3); }),
  };
  std::vector<NodeMap> distinct;
  for (const NodeMap& map : all) {
    const auto same = [&](const NodeMap& m) { return m.node_of_rank == map.node_of_rank; };
    if (std::none_of(distinct.begin(), distinct.end(), same)) distinct.push_back(map);
  }
  return distinct;
}

}  // namespace nodewise::test
