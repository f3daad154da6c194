#include "nodewise/comm/route/splice.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace nodewise::comm::route {

namespace {

/// The messages of a stage to and from the ranks of this rank's node, or the others.
Stage select(const Stage& stage, const mpi::Topology& topology, int rank, bool on_node) {
  Stage selected;
  for (std::size_t i = 0; i < stage.send_ranks.size(); ++i) {
    if (topology.same_node(rank, stage.send_ranks[i]) != on_node) continue;
    selected.send_ranks.push_back(stage.send_ranks[i]);
    selected.send_entries.insert(selected.send_entries.end(),
                                 stage.send_entries.begin() + stage.send_offsets[i],
                                 stage.send_entries.begin() + stage.send_offsets[i + 1]);
    selected.send_offsets.push_back(static_cast<LocalIndex>(selected.send_entries.size()));
  }
  for (std::size_t i = 0; i < stage.recv_ranks.size(); ++i) {
    if (topology.same_node(rank, stage.recv_ranks[i]) != on_node) continue;
    selected.recv_ranks.push_back(stage.recv_ranks[i]);
    selected.recv_offsets.push_back(selected.recv_offsets.back() + stage.recv_offsets[i + 1] -
                                    stage.recv_offsets[i]);
  }
  return selected;
}

LocalIndex pool_size_before(const Plan& plan, std::size_t s) {
  LocalIndex size = plan.n_owned;
  for (std::size_t t = 0; t < s; ++t) size += plan.stages[t].n_received();
  return size;
}

/// The places of one plan's pool entries in the pool of the plan that is made.
using Places = std::vector<LocalIndex>;

class Splicer {
 public:
  Splicer(const Plan& plan, const mpi::Topology& topology, int rank)
      : topology_(topology), rank_(rank), pool_size_(plan.n_owned) {
    spliced_.n_owned = plan.n_owned;
    spliced_.n_ghosts = plan.n_ghosts;
    for (LocalIndex i = 0; i < plan.n_owned; ++i) places_.push_back(i);
  }

  void keep(const Stage& stage) { append({{stage, places_}}); }

  void replace(const Stage& stage, const Plan& inner) {
    const Stage off_node = select(stage, topology_, rank_, false);
    const auto before = static_cast<std::ptrdiff_t>(places_.size());
    Places inner_places = places_;
    Places off_places = places_;
    for (std::size_t t = 0; t < inner.stages.size(); ++t) {
      t == 0 ? append({{inner.stages[t], inner_places}, {off_node, off_places}})
             : append({{inner.stages[t], inner_places}});
    }
    // In the order in which the stage itself would have received.
    auto off = off_places.begin() + before;
    LocalIndex on = 0;
    for (std::size_t i = 0; i < stage.recv_ranks.size(); ++i) {
      const LocalIndex n = stage.recv_offsets[i + 1] - stage.recv_offsets[i];
      if (topology_.same_node(rank_, stage.recv_ranks[i])) {
        for (const LocalIndex end = on + n; on < end; ++on) {
          places_.push_back(inner_places[static_cast<std::size_t>(inner.ghost_entry(on))]);
        }
      } else {
        places_.insert(places_.end(), off, off + n);
        off += n;
      }
    }
  }

  Plan finish(const Plan& plan) {
    std::vector<LocalIndex> ghosts;
    for (LocalIndex g = 0; g < plan.n_ghosts; ++g) {
      ghosts.push_back(places_[static_cast<std::size_t>(plan.ghost_entry(g))]);
    }
    spliced_.set_ghost_entries(std::move(ghosts));
    return std::move(spliced_);
  }

 private:
  struct Part {
    const Stage& stage;
    Places& places;
  };
  struct Message {
    int rank;
    const Part* part;
    std::size_t i;
  };

  template <class Ranks>
  static std::vector<Message> by_rank(std::initializer_list<Part> parts, const Ranks& ranks_of) {
    std::vector<Message> messages;
    for (const Part& part : parts) {
      const std::vector<int>& ranks = ranks_of(part.stage);
      for (std::size_t i = 0; i < ranks.size(); ++i) messages.push_back({ranks[i], &part, i});
    }
    std::sort(messages.begin(), messages.end(),
              [](const Message& a, const Message& b) { return a.rank < b.rank; });
    return messages;
  }

  /// Appends one stage with the messages of all parts, which differ in their ranks.
  void append(std::initializer_list<Part> parts) {
    Stage& out = spliced_.stages.emplace_back();
    for (const Message& m : by_rank(
             parts, [](const Stage& s) -> auto& { return s.send_ranks; })) {
      const Stage& in = m.part->stage;
      out.send_ranks.push_back(m.rank);
      for (LocalIndex k = in.send_offsets[m.i]; k < in.send_offsets[m.i + 1]; ++k) {
        const LocalIndex entry = in.send_entries[static_cast<std::size_t>(k)];
        out.send_entries.push_back(m.part->places[static_cast<std::size_t>(entry)]);
      }
      out.send_offsets.push_back(narrow<LocalIndex>(out.send_entries.size(), "entries sent:"));
    }
    std::vector<std::size_t> before;
    for (const Part& part : parts) {
      before.push_back(part.places.size());
      part.places.resize(part.places.size() + static_cast<std::size_t>(part.stage.n_received()));
    }
    for (const Message& m : by_rank(
             parts, [](const Stage& s) -> auto& { return s.recv_ranks; })) {
      const Stage& in = m.part->stage;
      const auto first = before[static_cast<std::size_t>(m.part - parts.begin())];
      out.recv_ranks.push_back(m.rank);
      for (LocalIndex k = in.recv_offsets[m.i]; k < in.recv_offsets[m.i + 1]; ++k) {
        m.part->places[first + static_cast<std::size_t>(k)] = pool_size_;
        pool_size_ = narrow<LocalIndex>(std::int64_t{pool_size_} + 1, "entries received:");
      }
      out.recv_offsets.push_back(out.recv_offsets.back() + in.recv_offsets[m.i + 1] -
                                 in.recv_offsets[m.i]);
    }
  }

  const mpi::Topology& topology_;
  int rank_;
  Plan spliced_;
  Places places_;  // of the pool of the plan that is spliced, as far as it is made
  LocalIndex pool_size_;
};

}  // namespace

Pattern on_node_pattern(const Plan& plan, std::size_t s, const mpi::Topology& topology, int rank) {
  Stage stage = select(plan.stages[s], topology, rank, true);
  return {.n_owned = pool_size_before(plan, s),
          .n_ghosts = stage.n_received(),
          .recv_ranks = std::move(stage.recv_ranks),
          .recv_offsets = std::move(stage.recv_offsets),
          .send_ranks = std::move(stage.send_ranks),
          .send_offsets = std::move(stage.send_offsets),
          .send_entries = std::move(stage.send_entries)};
}

Plan splice(const Plan& plan, std::span<const Replacement> replacements,
            const mpi::Topology& topology, int rank) {
  Splicer splicer(plan, topology, rank);
  auto next = replacements.begin();
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    if (next == replacements.end() || next->stage != s) {
      splicer.keep(plan.stages[s]);
    } else {
      splicer.replace(plan.stages[s], next->plan);
      ++next;
    }
  }
  return splicer.finish(plan);
}

}  // namespace nodewise::comm::route
