#include "nodewise/comm/record_plan.hpp"

#include <algorithm>
#include <numeric>

#include "nodewise/mpi/agree.hpp"

namespace nodewise::comm {

namespace {

/// The items of the records in a rank's pool: entry p has those from offsets[p] on.
class Items {
 public:
  Items(const Plan& plan, std::vector<Offset> offsets) : plan_(plan), offsets_(std::move(offsets)) {
    narrow<LocalIndex>(offsets_.back(), "items of a rank's records:");
  }

  LocalIndex begin(LocalIndex entry) const {
    return static_cast<LocalIndex>(offsets_[static_cast<std::size_t>(entry)]);
  }
  LocalIndex end(LocalIndex entry) const { return begin(entry + 1); }

  /// A stage of items. The pool entries it receives are those from `first` on; append(e, items)
  /// adds what number e of the entries it sends stands for.
  template <class Append>
  Stage stage(const Stage& entries, LocalIndex first, const Append& append) const {
    Stage items;
    for (std::size_t i = 0; i < entries.send_ranks.size(); ++i) {
      for (LocalIndex e = entries.send_offsets[i]; e < entries.send_offsets[i + 1]; ++e) {
        append(static_cast<std::size_t>(e), items.send_entries);
      }
      const auto end = narrow<LocalIndex>(items.send_entries.size(), "items sent:");
      if (end == items.send_offsets.back()) continue;  // no empty messages
      items.send_ranks.push_back(entries.send_ranks[i]);
      items.send_offsets.push_back(end);
    }
    for (std::size_t i = 0; i < entries.recv_ranks.size(); ++i) {
      const LocalIndex n =
          begin(first + entries.recv_offsets[i + 1]) - begin(first + entries.recv_offsets[i]);
      if (n == 0) continue;
      items.recv_ranks.push_back(entries.recv_ranks[i]);
      items.recv_offsets.push_back(items.recv_offsets.back() + n);
    }
    return items;
  }

  /// Calls f(s, first): stage s receives the pool entries from `first` on.
  template <class F>
  void for_each_stage(const F& f) const {
    LocalIndex first = plan_.n_owned;
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      f(s, first);
      first += plan_.stages[s].n_received();
    }
  }

  /// Completes a plan whose stages are there.
  void finish(Plan& items, std::vector<LocalIndex> ghost_entries) const {
    items.n_owned = begin(plan_.n_owned);
    items.n_ghosts = narrow<LocalIndex>(ghost_entries.size(), "items of ghosts:");
    items.set_ghost_entries(std::move(ghost_entries));
  }

 private:
  const Plan& plan_;
  std::vector<Offset> offsets_;
};

/// The same stages; the ghosts are all that is received, also what is only passed on.
Plan with_pool_as_ghosts(Plan plan) {
  plan.n_ghosts = plan.pool_size() - plan.n_owned;
  plan.ghost_entries.clear();
  return plan;
}

/// One stage by itself: entry k is the k-th it sends.
Plan single_stage(Stage stage) {
  Plan plan;
  plan.n_owned = static_cast<LocalIndex>(stage.send_entries.size());
  plan.n_ghosts = stage.n_received();
  std::iota(stage.send_entries.begin(), stage.send_entries.end(), LocalIndex{0});
  plan.stages.push_back(std::move(stage));
  return plan;
}

Records<GlobalIndex> slice(const Records<GlobalIndex>& records, LocalIndex first, LocalIndex n) {
  Records<GlobalIndex> part;
  const auto begin = records.offsets.begin() + first;
  part.offsets.assign(begin, begin + n + 1);
  const Offset start = part.offsets.front();
  part.data.assign(records.data.begin() + start, records.data.begin() + part.offsets.back());
  for (Offset& offset : part.offsets) offset -= start;
  return part;
}

/// Appends extra's record k to record entries[k], and sorts out the keys of every record.
Records<GlobalIndex> united(const Records<GlobalIndex>& base, std::span<const LocalIndex> entries,
                            const Records<GlobalIndex>& extra) {
  auto merged = detail::Merge<GlobalIndex>(base, entries, extra).run(base, entries, extra);
  detail::combine_records(merged, 0, [](std::span<GlobalIndex> keys) {
    std::sort(keys.begin(), keys.end());
    return static_cast<std::size_t>(std::unique(keys.begin(), keys.end()) - keys.begin());
  });
  return merged;
}

}  // namespace

Plan plan_of_items(const std::shared_ptr<const mpi::Comm>& comm, const Plan& plan,
                   std::span<const Offset> offsets) {
  const auto n_owned = static_cast<std::size_t>(plan.n_owned);
  std::vector<Offset> lengths;
  std::vector<Offset> received;
  std::unique_ptr<Exchange> exchange;
  mpi::collectively(*comm, [&] {
    lengths.resize(n_owned);
    for (std::size_t i = 0; i < n_owned; ++i) lengths[i] = offsets[i + 1] - offsets[i];
    exchange = std::make_unique<Exchange>(comm, with_pool_as_ghosts(plan));
    received.resize(static_cast<std::size_t>(exchange->plan().n_ghosts));
  });
  exchange->forward(std::span<const Offset>(lengths), std::span<Offset>(received));
  return mpi::collectively(*comm, [&] {
    std::vector<Offset> starts(offsets.begin(), offsets.end());
    for (const Offset length : received) starts.push_back(starts.back() + length);
    const Items items(plan, std::move(starts));
    const auto append = [&](LocalIndex entry, std::vector<LocalIndex>& to) {
      for (LocalIndex k = items.begin(entry); k < items.end(entry); ++k) to.push_back(k);
    };
    Plan of_items;
    items.for_each_stage([&](std::size_t s, LocalIndex first) {
      const Stage& stage = plan.stages[s];
      of_items.stages.push_back(items.stage(
          stage, first,
          [&](std::size_t e, std::vector<LocalIndex>& to) { append(stage.send_entries[e], to); }));
    });
    std::vector<LocalIndex> ghost_entries;
    for (LocalIndex g = 0; g < plan.n_ghosts; ++g) append(plan.ghost_entry(g), ghost_entries);
    items.finish(of_items, std::move(ghost_entries));
    return of_items;
  });
}

SumPlan plan_of_sums(const std::shared_ptr<const mpi::Comm>& comm, const Plan& plan,
                     const Records<GlobalIndex>& keys) {
  Records<GlobalIndex> pool;
  std::vector<std::unique_ptr<Exchange>> stages(plan.stages.size());
  std::vector<Records<GlobalIndex>> returned(plan.stages.size());
  mpi::collectively(*comm, [&] {
    std::vector<LocalIndex> places;
    for (LocalIndex g = 0; g < plan.n_ghosts; ++g) places.push_back(plan.ghost_entry(g));
    pool.offsets.assign(static_cast<std::size_t>(plan.pool_size()) + 1, 0);
    pool = united(pool, places, keys);
    for (std::size_t s = 0; s < stages.size(); ++s) {
      stages[s] = std::make_unique<Exchange>(comm, single_stage(plan.stages[s]));
    }
  });
  const auto take_in = [&](std::size_t s) {
    pool = united(pool, plan.stages[s].send_entries, returned[s]);
  };
  LocalIndex end = plan.pool_size();
  for (std::size_t s = stages.size(); s-- > 0;) {
    const LocalIndex n_sent = plan.stages[s].n_received();
    end -= n_sent;
    const auto sent = [&] {
      if (s + 1 < stages.size()) take_in(s + 1);
      return slice(pool, end, n_sent);
    };
    returned[s] = stages[s]->reverse_records(
        sent, [](std::span<GlobalIndex> record) { return record.size(); });
  }
  return mpi::collectively(*comm, [&] {
    if (!stages.empty()) take_in(0);
    const Items items(plan, pool.offsets);
    const auto append = [&](LocalIndex entry, std::span<const GlobalIndex> wanted,
                            std::vector<LocalIndex>& to) {
      const auto all = pool[static_cast<std::size_t>(entry)];
      for (const GlobalIndex key : wanted) {
        const auto found = std::lower_bound(all.begin(), all.end(), key);
        to.push_back(items.begin(entry) + static_cast<LocalIndex>(found - all.begin()));
      }
    };
    SumPlan sums;
    items.for_each_stage([&](std::size_t s, LocalIndex first) {
      const Stage& stage = plan.stages[s];
      sums.plan.stages.push_back(
          items.stage(stage, first, [&](std::size_t e, std::vector<LocalIndex>& to) {
            append(stage.send_entries[e], returned[s][e], to);
          }));
    });
    std::vector<LocalIndex> ghost_entries;
    for (LocalIndex g = 0; g < plan.n_ghosts; ++g) {
      append(plan.ghost_entry(g), keys[static_cast<std::size_t>(g)], ghost_entries);
    }
    items.finish(sums.plan, std::move(ghost_entries));
    sums.keys = slice(pool, 0, plan.n_owned);
    return sums;
  });
}

}  // namespace nodewise::comm
