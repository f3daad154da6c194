#include "nodewise/amg/redistribute/redistribution_decision.hpp"

#include <algorithm>
#include <set>

#include "nodewise/model/allreduce_cost.hpp"
#include "nodewise/model/cycle_cost.hpp"

namespace nodewise::amg {

std::vector<GlobalIndex> NextLevel::rows_of_ranks() const {
  std::vector<GlobalIndex> rows;
  for (std::size_t r = 0; r + 1 < starts().size(); ++r) {
    rows.push_back(starts()[r + 1] - starts()[r]);
  }
  return rows;
}

int NextLevel::active_ranks() const {
  const std::vector<GlobalIndex> rows = rows_of_ranks();
  return static_cast<int>(
      std::count_if(rows.begin(), rows.end(), [](GlobalIndex n) { return n > 0; }));
}

int NextLevel::active_nodes() const {
  std::set<int> nodes;
  for (std::size_t r = 0; r + 1 < starts().size(); ++r) {
    if (starts()[r] < starts()[r + 1]) nodes.insert(topology().node(static_cast<int>(r)));
  }
  return static_cast<int>(nodes.size());
}

double reduction_s(const model::Machine& machine, int ranks, int nodes) {
  if (ranks == 1) return 0;
  return model::allreduce_s(machine, model::AllreduceAlgorithm::recursive_doubling, nodes,
                            (ranks + nodes - 1) / nodes, sizeof(double));
}

double flop_s(const model::Machine& machine, int level, double nonzeros_per_rank) {
  // 12 bytes for two operations, at 12 GB/s.
  constexpr double of_a_core = 0.5e-9;
  if (machine.s_per_flop_by_level.empty() && machine.s_per_flop_by_size.empty()) return of_a_core;
  return model::flop_s(machine, static_cast<std::size_t>(level), nonzeros_per_rank, 1);
}

}  // namespace nodewise::amg
