#include "nodewise/comm/plan.hpp"

#include <algorithm>
#include <utility>

namespace nodewise::comm {

LocalIndex Plan::pool_size() const {
  LocalIndex size = n_owned;
  for (const Stage& stage : stages) size += stage.n_received();
  return size;
}

void Plan::set_ghost_entries(std::vector<LocalIndex> entries) {
  bool in_order = pool_size() - n_owned == n_ghosts;
  for (std::size_t g = 0; g < entries.size(); ++g) {
    in_order = in_order && std::cmp_equal(entries[g] - n_owned, g);
  }
  ghost_entries = in_order ? std::vector<LocalIndex>() : std::move(entries);
}

Plan with_ranks(Plan plan, std::span<const int> ranks) {
  for (Stage& stage : plan.stages) {
    for (int& rank : stage.send_ranks) rank = ranks[static_cast<std::size_t>(rank)];
    for (int& rank : stage.recv_ranks) rank = ranks[static_cast<std::size_t>(rank)];
  }
  return plan;
}

bool Plan::receives_in_place() const {
  return ghost_entries.empty() && pool_size() - n_owned == n_ghosts;
}

std::vector<LocalIndex> Plan::exported_entries() const {
  std::vector<LocalIndex> entries;
  for (const Stage& stage : stages) {
    std::copy_if(stage.send_entries.begin(), stage.send_entries.end(), std::back_inserter(entries),
                 [this](LocalIndex entry) { return entry < n_owned; });
  }
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  return entries;
}

Plan of_exported_entries(Plan plan) {
  const std::vector<LocalIndex> exported = plan.exported_entries();
  const auto count = static_cast<LocalIndex>(exported.size());
  const LocalIndex n_owned = plan.n_owned;
  const auto place = [&](LocalIndex entry) {
    if (entry >= n_owned) return entry - n_owned + count;
    return static_cast<LocalIndex>(std::lower_bound(exported.begin(), exported.end(), entry) -
                                   exported.begin());
  };
  for (Stage& stage : plan.stages) {
    for (LocalIndex& entry : stage.send_entries) entry = place(entry);
  }
  for (LocalIndex& entry : plan.ghost_entries) entry = place(entry);
  plan.n_owned = count;
  return plan;
}

Rotation::Rotation(std::span<const int> ranks, int rank)
    : first(static_cast<std::size_t>(std::upper_bound(ranks.begin(), ranks.end(), rank) -
                                     ranks.begin())),
      n(ranks.size()) {}

void Traffic::add(const mpi::Topology& topology, int from, int to, std::int64_t entries) {
  const bool on_node = topology.same_node(from, to);
  (on_node ? messages_on_node : messages_off_node) += 1;
  (on_node ? entries_on_node : entries_off_node) += entries;
  if (!topology.same_domain(from, to)) return;
  messages_on_domain += 1;
  entries_on_domain += entries;
}

Traffic traffic(const Plan& plan, const mpi::Topology& topology, int rank) {
  Traffic total;
  for (const Stage& stage : plan.stages) {
    for (std::size_t i = 0; i < stage.send_ranks.size(); ++i) {
      total.add(topology, rank, stage.send_ranks[i],
                stage.send_offsets[i + 1] - stage.send_offsets[i]);
    }
  }
  return total;
}

}  // namespace nodewise::comm
