#include "nodewise/comm/route/node_mapping.hpp"

#include <algorithm>
#include <numeric>

namespace nodewise::comm::route {

namespace {

std::vector<std::size_t> by_descending_size(std::span<const PartnerNode> partners) {
  std::vector<std::size_t> order(partners.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return partners[a].entries != partners[b].entries ? partners[a].entries > partners[b].entries
                                                      : partners[a].node < partners[b].node;
  });
  return order;
}

/// Deals the ranks out in turn, a partner's number of them to each.
template <class RanksOf>
std::vector<std::vector<int>> deal(std::span<const PartnerNode> partners, int n_ranks,
                                   Direction direction, const RanksOf& ranks_of) {
  std::vector<std::vector<int>> places(partners.size());
  int turn = 0;
  for (const std::size_t k : by_descending_size(partners)) {
    const int n = ranks_of(partners[k]);
    for (int part = 0; part < n; ++part, turn = (turn + 1) % n_ranks) {
      places[k].push_back(direction == Direction::send ? turn : n_ranks - 1 - turn);
    }
  }
  return places;
}

/// As many ranks as every partner can have.
int even_share(std::span<const PartnerNode> partners, int n_ranks) {
  return partners.empty() ? 0 : std::max(1, n_ranks / static_cast<int>(partners.size()));
}

}  // namespace

std::vector<std::vector<int>> map_by_size(int /*node*/, std::span<const PartnerNode> partners,
                                          int n_ranks, Direction direction) {
  const int each = even_share(partners, n_ranks);
  return deal(partners, n_ranks, direction, [each](const PartnerNode&) { return each; });
}

std::vector<std::vector<int>> map_to_owner(int /*node*/, std::span<const PartnerNode> partners,
                                           int n_ranks, Direction /*direction*/) {
  std::vector<std::vector<int>> places(partners.size());
  std::vector<int> load(static_cast<std::size_t>(n_ranks), 0);
  for (const std::size_t k : by_descending_size(partners)) {
    PartnerNode::Part best = {0, -1};
    for (const PartnerNode::Part& part : partners[k].parts) {
      const auto load_of = [&](int place) { return load[static_cast<std::size_t>(place)]; };
      if (part.entries > best.entries ||
          (part.entries == best.entries && load_of(part.place) < load_of(best.place))) {
        best = part;
      }
    }
    places[k] = {best.place};
    ++load[static_cast<std::size_t>(best.place)];
  }
  return places;
}

NodeMapping map_split(std::int64_t entries) {
  return [entries](int /*node*/, std::span<const PartnerNode> partners, int n_ranks,
                   Direction direction) {
    const int each = even_share(partners, n_ranks);
    return deal(partners, n_ranks, direction, [&](const PartnerNode& partner) {
      const std::int64_t wanted = (partner.entries + entries - 1) / entries;
      return std::max(each, static_cast<int>(std::min<std::int64_t>(n_ranks, wanted)));
    });
  };
}

namespace {

struct SplitOptions {
  int split_entries = 1024;
};

std::span<const Field<SplitOptions>> split_fields() {
  static const std::vector<Field<SplitOptions>> fields = {field(
      "split_entries", &SplitOptions::split_entries,
      "Entries that a rank sends to another node at most, as long as others can take more", 1)};
  return fields;
}

const mpi::NodeMappingMethod& by_size_method() {
  static const mpi::NodeMappingMethod method = {
      {"by_size", "the node with most entries to the first rank, the next one to the next rank",
       "Bienz 2018, section 5.4.1"},
      [](const Choice<mpi::NodeMappingMethod>&) -> NodeMapping { return map_by_size; }};
  return method;
}

const mpi::NodeMappingMethod& owner_method() {
  static const mpi::NodeMappingMethod method = {
      {"owner", "each node to the rank that has, or needs, most of the entries", ""},
      [](const Choice<mpi::NodeMappingMethod>&) -> NodeMapping { return map_to_owner; }};
  return method;
}

const mpi::NodeMappingMethod& split_method() {
  static const mpi::NodeMappingMethod method = {
      {"split", "by_size, with long messages cut over the ranks of both nodes",
       "Bienz 2018, section 5.6", own_options<SplitOptions>(split_fields)},
      [](const Choice<mpi::NodeMappingMethod>& choice) {
        return map_split(choice.options<SplitOptions>().split_entries);
      }};
  return method;
}

}  // namespace

}  // namespace nodewise::comm::route

namespace nodewise::mpi {

Family<NodeMappingMethod>& NodeMappingMethod::family() {
  using namespace comm::route;
  static Family<NodeMappingMethod> family("node_mapping",
                                          {&by_size_method(), &owner_method(), &split_method()});
  return family;
}

}  // namespace nodewise::mpi
