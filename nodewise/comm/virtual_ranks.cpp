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
                                Route route) {
  if (std::cmp_not_equal(patterns.size(), topology.n_ranks())) {
    throw Error(ErrorCode::invalid_argument, "virtual ranks: the placement is of other ranks");
  }
  std::vector<std::unique_ptr<route::Planner>> planners;
  planners.reserve(patterns.size());
  for (std::size_t r = 0; r < patterns.size(); ++r) {
    planners.push_back(make_planner(route, patterns[r], topology, static_cast<int>(r)));
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

/// Runs the plans of all ranks on the lengths of records instead of the records.
class RecordRun {
 public:
  RecordRun(std::span<const Plan> plans, const mpi::Topology& topology,
            std::span<const Offset> offsets)
      : plans_(plans), topology_(topology), sent_(plans.size()), received_(plans.size()) {
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

  std::vector<Traffic> run() {
    const std::size_t n_stages = plans_.empty() ? 0 : plans_.front().stages.size();
    for (std::size_t s = 0; s < n_stages; ++s) run_stage(s);
    return std::move(sent_);
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
      for (std::size_t i = 0; i < stage.send_ranks.size(); ++i) {
        auto& to = arriving[static_cast<std::size_t>(stage.send_ranks[i])];
        Offset items = 0;
        for (LocalIndex k = stage.send_offsets[i]; k < stage.send_offsets[i + 1]; ++k) {
          to.push_back(length(r, stage.send_entries[static_cast<std::size_t>(k)]));
          items += to.back();
        }
        count(r, stage.send_ranks[i], items);
      }
    }
    for (std::size_t r = 0; r < plans_.size(); ++r) {
      received_[r].insert(received_[r].end(), arriving[r].begin(), arriving[r].end());
    }
  }

  /// Records without items make no message.
  void count(std::size_t from, int to, Offset items) {
    if (items == 0) return;
    sent_[from].add(topology_, static_cast<int>(from), to, items);
  }

  std::span<const Plan> plans_;
  const mpi::Topology& topology_;
  std::vector<Traffic> sent_;
  std::vector<std::vector<Offset>> received_;   // lengths of what each rank received
  std::vector<std::span<const Offset>> owned_;  // offsets of its own
};

}  // namespace

std::vector<Traffic> virtual_record_traffic(std::span<const Plan> plans,
                                            const mpi::Topology& topology,
                                            std::span<const Offset> offsets) {
  return RecordRun(plans, topology, offsets).run();
}

}  // namespace nodewise::comm
