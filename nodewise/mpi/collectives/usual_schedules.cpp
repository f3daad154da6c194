#include "nodewise/mpi/collectives/usual_schedules.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace nodewise::mpi::collectives {

namespace {

/// A rank gives away what it has, and keeps it.
Stage giving(int to) {
  return {0, {Span{}}, {Round{{{to, {0}}}, {}}}};
}

/// What a rank has is replaced by what it gets.
Stage taking(int from) {
  return {0, {Span{}}, {Round{{}, {{from, {0}}}}}};
}

/// A rank adds to what it has, which stands first, what it gets.
Stage adding(int from) {
  return {0, {Span{}, Span{}}, {Round{{}, {{from, {1}}}}}};
}

/// Two ranks add the same in the same order: the lower one's stands first.
Stage exchanging(int with, bool is_lower) {
  const int own = is_lower ? 0 : 1;
  return {own, {Span{}, Span{}}, {Round{{{with, {own}}}, {{with, {1 - own}}}}}};
}

/// Recursive doubling among `ranks`, of which this is the one at `place`.
void double_among(std::span<const int> ranks, int place, std::vector<Stage>& stages) {
  const auto n = static_cast<unsigned>(ranks.size());
  const auto power = static_cast<int>(std::bit_floor(n));
  const int beyond = static_cast<int>(n) - power;
  const auto at = [&](int k) { return ranks[static_cast<std::size_t>(k)]; };
  // Of each pair 2 k, 2 k + 1 among the first 2 * beyond ranks the odd one takes part, for both.
  const bool is_paired = place < 2 * beyond;
  if (is_paired && place % 2 == 0) {
    stages.push_back(giving(at(place + 1)));
    stages.push_back(taking(at(place + 1)));
    return;
  }
  if (is_paired) stages.push_back(adding(at(place - 1)));
  const int number = is_paired ? place / 2 : place - beyond;
  for (int step = 1; step < power; step *= 2) {
    const int other = number ^ step;
    stages.push_back(
        exchanging(at(other < beyond ? 2 * other + 1 : other + beyond), (number & step) == 0));
  }
  if (is_paired) stages.push_back(giving(at(place - 1)));
}

/// A reduction has a stage at least, by which it finds its own contribution.
Schedule of_stages(std::vector<Stage> stages) {
  if (stages.empty()) stages.push_back({0, {Span{}}, {}});
  return {std::move(stages)};
}

/// Blocks of all ranks as slots, by their ranks.
Stage blocks_of_ranks(const Topology& topology, int rank) {
  Stage stage{rank, std::vector<Span>(static_cast<std::size_t>(topology.n_ranks())), {}};
  int position = 0;
  for (const int r : ranks_by_node(topology)) {
    stage.slots[static_cast<std::size_t>(r)] = {position, position + 1};
    ++position;
  }
  return stage;
}

}  // namespace

Schedule doubling_schedule(const Topology& topology, int rank) {
  std::vector<int> ranks(static_cast<std::size_t>(topology.n_ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<Stage> stages;
  double_among(ranks, rank, stages);
  return of_stages(std::move(stages));
}

Schedule node_leader_schedule(const Topology& topology, int rank) {
  const int node = topology.node(rank);
  const std::span<const int> here = topology.ranks_on(node);
  const auto place = static_cast<std::size_t>(topology.place_on_node(rank));
  std::vector<Stage> stages, down;  // down from the leaves
  for (std::size_t step = 1; step < here.size(); step *= 2) {
    if (place % (2 * step) == step) {
      stages.push_back(giving(here[place - step]));
      down.push_back(taking(here[place - step]));
      break;
    }
    if (place + step >= here.size()) continue;
    stages.push_back(adding(here[place + step]));
    down.push_back(giving(here[place + step]));
  }
  if (place == 0) {
    std::vector<int> leaders;
    for (int n = 0; n < topology.n_nodes(); ++n) leaders.push_back(topology.ranks_on(n).front());
    double_among(leaders, node, stages);
  }
  stages.insert(stages.end(), down.rbegin(), down.rend());
  return of_stages(std::move(stages));
}

Schedule ring_schedule(const Topology& topology, int rank) {
  const int n = topology.n_ranks();
  Stage stage = blocks_of_ranks(topology, rank);
  for (int step = 1; step < n; ++step) {
    const int out = (rank - step + 1 + n) % n, in = (rank - step + n) % n;
    stage.rounds.push_back({{{(rank + 1) % n, {out}}}, {{(rank - 1 + n) % n, {in}}}});
  }
  return {{std::move(stage)}};
}

Schedule bruck_schedule(const Topology& topology, int rank) {
  const int n = topology.n_ranks();
  Stage stage = blocks_of_ranks(topology, rank);
  const auto blocks = [n](int first, int count) {
    std::vector<int> slots;
    for (int k = 0; k < count; ++k) slots.push_back((first + k) % n);
    return slots;
  };
  for (int step = 1; step < n; step *= 2) {  // has the blocks rank .. rank + step - 1
    const int count = std::min(step, n - step);
    stage.rounds.push_back({{{(rank - step + n) % n, blocks(rank, count)}},
                            {{(rank + step) % n, blocks(rank + step, count)}}});
  }
  return {{std::move(stage)}};
}

}  // namespace nodewise::mpi::collectives
