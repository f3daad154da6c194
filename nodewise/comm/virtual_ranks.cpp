#include "nodewise/comm/virtual_ranks.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "nodewise/comm/route/planner.hpp"

namespace nodewise::comm {

namespace {

/// Makes the patterns, one receiver after the other.
class Patterns {
 public:
  explicit Patterns(std::span<const GlobalIndex> starts) : starts_(starts) {
    if (starts.empty() || !std::is_sorted(starts.begin(), starts.end())) {
      throw Error(ErrorCode::invalid_argument, "virtual ranks: their ranges must ascend");
    }
    all_.resize(starts.size() - 1);
    for (std::size_t r = 0; r < all_.size(); ++r) {
      all_[r].n_owned = narrow<LocalIndex>(starts[r + 1] - starts[r], "rows of a rank:");
    }
  }

  void add_receiver(std::size_t r, std::span<const GlobalIndex> ghosts) {
    if (std::adjacent_find(ghosts.begin(), ghosts.end(), std::greater_equal<>()) != ghosts.end()) {
      throw Error(ErrorCode::invalid_argument, "virtual ranks: ghosts must ascend, each once");
    }
    all_[r].n_ghosts = narrow<LocalIndex>(ghosts.size(), "ghosts of a rank:");
    while (!ghosts.empty()) {
      const auto above = std::upper_bound(starts_.begin(), starts_.end(), ghosts.front());
      if (above == starts_.begin() || above == starts_.end()) {
        throw Error(ErrorCode::invalid_argument, "virtual ranks: a ghost is outside all ranges");
      }
      const auto owner = static_cast<std::size_t>(above - starts_.begin()) - 1;
      if (owner == r) {
        throw Error(ErrorCode::invalid_argument, "virtual ranks: a ghost is the rank's own");
      }
      const auto end = std::lower_bound(ghosts.begin(), ghosts.end(), *above);
      const auto count = static_cast<std::size_t>(end - ghosts.begin());
      add_message(owner, r, ghosts.first(count));
      ghosts = ghosts.subspan(count);
    }
  }

  std::vector<Pattern> take() { return std::move(all_); }

 private:
  void add_message(std::size_t owner, std::size_t r, std::span<const GlobalIndex> entries) {
    Pattern& to = all_[r];
    to.recv_ranks.push_back(static_cast<int>(owner));
    to.recv_offsets.push_back(to.recv_offsets.back() + static_cast<LocalIndex>(entries.size()));
    Pattern& from = all_[owner];
    from.send_ranks.push_back(static_cast<int>(r));
    for (const GlobalIndex i : entries) {
      from.send_entries.push_back(static_cast<LocalIndex>(i - starts_[owner]));
    }
    from.send_offsets.push_back(narrow<LocalIndex>(from.send_entries.size(), "entries sent:"));
  }

  std::span<const GlobalIndex> starts_;
  std::vector<Pattern> all_;
};

}  // namespace

std::vector<Pattern> virtual_patterns(std::span<const GlobalIndex> starts,
                                      const Records<GlobalIndex>& ghosts) {
  Patterns patterns(starts);
  if (ghosts.size() + 1 != starts.size()) {
    throw Error(ErrorCode::invalid_argument, "virtual ranks: needs the ghosts of every rank");
  }
  for (std::size_t r = 0; r < ghosts.size(); ++r) patterns.add_receiver(r, ghosts[r]);
  return patterns.take();
}

std::vector<Plan> virtual_plans(std::span<const Pattern> patterns, const mpi::Topology& topology,
                                const Route& route, const route::NodeMapping& mapping) {
  if (std::cmp_not_equal(patterns.size(), topology.n_ranks())) {
    throw Error(ErrorCode::invalid_argument, "virtual ranks: the placement is of other ranks");
  }
  std::vector<std::unique_ptr<route::Planner>> planners;
  planners.reserve(patterns.size());
  for (std::size_t r = 0; r < patterns.size(); ++r) {
    planners.push_back(make_planner(route, patterns[r], topology, static_cast<int>(r), mapping));
  }
  return route::run_virtually(planners);
}

std::vector<Traffic> virtual_traffic(std::span<const Plan> plans, const mpi::Topology& topology) {
  std::vector<Traffic> sent;
  sent.reserve(plans.size());
  for (std::size_t r = 0; r < plans.size(); ++r) {
    sent.push_back(traffic(plans[r], topology, static_cast<int>(r)));
  }
  return sent;
}

namespace {

std::size_t stages_of(std::span<const Plan> plans) {
  return plans.empty() ? 0 : plans.front().stages.size();
}

/// Of one rank, in the order in which it posts them.
template <class Visit>
void visit_in_order(std::span<const int> ranks, std::span<const LocalIndex> offsets, int rank,
                    const mpi::Topology& topology, const Visit& visit) {
  const Rotation rotation(ranks, rank);
  for (const bool on_node : {false, true}) {
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      const std::size_t i = rotation[k];
      if (topology.same_node(rank, ranks[i]) != on_node) continue;
      visit(i, ranks[i], offsets[i + 1] - offsets[i]);
    }
  }
}

/// Runs the plans of all ranks on the lengths of records instead of the records.
class RecordRun {
 public:
  RecordRun(std::span<const Plan> plans, const mpi::Topology& topology,
            std::span<const Offset> offsets, const MessageVisitor& visit)
      : plans_(plans), topology_(topology), visit_(visit), received_(plans.size()) {
    std::size_t first = 0;
    for (const Plan& plan : plans) {
      const auto n = static_cast<std::size_t>(plan.n_owned);
      if (first + n >= offsets.size()) {
        throw Error(ErrorCode::invalid_argument, "virtual ranks: too few records");
      }
      owned_.push_back(offsets.subspan(first, n + 1));
      first += n;
    }
  }

  void run() {
    for (std::size_t s = 0; s < stages_of(plans_); ++s) run_stage(s);
  }

 private:
  Offset length(std::size_t rank, LocalIndex entry) const {
    const auto e = static_cast<std::size_t>(entry);
    const auto owned = owned_[rank];
    return e + 1 < owned.size() ? owned[e + 1] - owned[e] : received_[rank][e + 1 - owned.size()];
  }

  void run_stage(std::size_t s) {
    // What arrives in a stage is not sent on before the next. Since sources are taken in order,
    // it lands as the plan of the receiver expects it.
    std::vector<std::vector<Offset>> arriving(plans_.size());
    for (std::size_t r = 0; r < plans_.size(); ++r) {
      const Stage& stage = plans_[r].stages[s];
      const int from = static_cast<int>(r);
      visit_in_order(stage.send_ranks, stage.send_offsets, from, topology_,
                     [&](std::size_t i, int rank, LocalIndex) {
                       auto& to = arriving[static_cast<std::size_t>(rank)];
                       Offset items = 0;
                       for (LocalIndex k = stage.send_offsets[i]; k < stage.send_offsets[i + 1];
                            ++k) {
                         to.push_back(length(r, stage.send_entries[static_cast<std::size_t>(k)]));
                         items += to.back();
                       }
                       if (items > 0) visit_(s, from, rank, items);
                     });
    }
    for (std::size_t r = 0; r < plans_.size(); ++r) {
      received_[r].insert(received_[r].end(), arriving[r].begin(), arriving[r].end());
    }
  }

  std::span<const Plan> plans_;
  const mpi::Topology& topology_;
  const MessageVisitor& visit_;
  std::vector<std::vector<Offset>> received_;   // lengths of what each rank received
  std::vector<std::span<const Offset>> owned_;  // offsets of its own
};

}  // namespace

void visit_messages(std::span<const Plan> plans, const mpi::Topology& topology,
                    const MessageVisitor& visit) {
  for (std::size_t s = 0; s < stages_of(plans); ++s) {
    for (std::size_t r = 0; r < plans.size(); ++r) {
      const Stage& stage = plans[r].stages[s];
      const int from = static_cast<int>(r);
      visit_in_order(stage.send_ranks, stage.send_offsets, from, topology,
                     [&](std::size_t, int to, LocalIndex entries) { visit(s, from, to, entries); });
    }
  }
}

void visit_reversed_messages(std::span<const Plan> plans, const mpi::Topology& topology,
                             const MessageVisitor& visit) {
  const std::size_t n_stages = stages_of(plans);
  for (std::size_t s = 0; s < n_stages; ++s) {
    for (std::size_t r = 0; r < plans.size(); ++r) {
      const Stage& stage = plans[r].stages[n_stages - 1 - s];
      const int from = static_cast<int>(r);
      visit_in_order(stage.recv_ranks, stage.recv_offsets, from, topology,
                     [&](std::size_t, int to, LocalIndex entries) { visit(s, from, to, entries); });
    }
  }
}

void visit_record_messages(std::span<const Plan> plans, const mpi::Topology& topology,
                           std::span<const Offset> offsets, const MessageVisitor& visit) {
  RecordRun(plans, topology, offsets, visit).run();
}

std::vector<Traffic> virtual_record_traffic(std::span<const Plan> plans,
                                            const mpi::Topology& topology,
                                            std::span<const Offset> offsets) {
  std::vector<Traffic> sent(plans.size());
  visit_record_messages(plans, topology, offsets,
                        [&](std::size_t, int from, int to, std::int64_t items) {
                          sent[static_cast<std::size_t>(from)].add(topology, from, to, items);
                        });
  return sent;
}

}  // namespace nodewise::comm
