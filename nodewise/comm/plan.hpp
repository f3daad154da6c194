// The way of a Pattern's entries, as data: stages of messages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::comm {

/// One round of messages. Entries are named by their position in the rank's *pool*: first the
/// owned entries, then everything received, stage by stage, in the order of recv_ranks.
struct Stage {
  std::vector<int> send_ranks;
  std::vector<LocalIndex> send_offsets = {0};
  std::vector<LocalIndex>
      send_entries;  ///< pool positions, those of send_ranks[i] at send_offsets[i]
  std::vector<int> recv_ranks;
  std::vector<LocalIndex> recv_offsets = {0};  ///< counts of the entries appended to the pool

  LocalIndex n_received() const { return recv_offsets.back(); }
};

/// A route (comm/route/) makes this of a Pattern. It is all that the Exchange needs: forwards to
/// bring ghosts, backwards to return contributions to their owners. No message to oneself; no empty
/// message.
struct Plan {
  LocalIndex n_owned = 0;
  LocalIndex n_ghosts = 0;
  std::vector<Stage> stages;
  /// The pool position of each ghost: of an owned entry in plans that only run forwards. Empty when
  /// all that is received are the ghosts in their order, as in a plan of one stage, and when there
  /// are no ghosts.
  std::vector<LocalIndex> ghost_entries;

  LocalIndex pool_size() const;
  /// The pool position of one ghost.
  LocalIndex ghost_entry(LocalIndex ghost) const {
    return ghost_entries.empty() ? n_owned + ghost : ghost_entries[static_cast<std::size_t>(ghost)];
  }
  /// Sets ghost_entries, when the stages are complete: to nothing where that says the same.
  void set_ghost_entries(std::vector<LocalIndex> entries);
  /// Whether what is received is the array of ghosts, so that it can be received straight into the
  /// caller's. Not so on a rank that only passes entries on: it has no ghosts, but receives.
  bool receives_in_place() const;
  /// The owned entries that some message carries, ascending, each once.
  std::vector<LocalIndex> exported_entries() const;
};

/// Local. The plan on another communicator, where rank r is ranks[r], ascending.
Plan with_ranks(Plan plan, std::span<const int> ranks);

/// Local. The plan for a vector that has Plan::exported_entries() alone, in their order, in place
/// of all that is owned.
Plan of_exported_entries(Plan plan);

/// The place i of a rotation of `ranks` (ascending) that begins after `rank`: ranks that all sent
/// to the lowest first would meet there, and at the next, in step.
struct Rotation {
  Rotation(std::span<const int> ranks, int rank);
  std::size_t operator[](std::size_t i) const { return i + first < n ? i + first : i + first - n; }
  std::size_t first, n;
};

/// Messages and entries one rank sends in one run of a plan, by where they go. Of those on the
/// node, some stay in the rank's domain: all where the node is not divided.
struct Traffic {
  std::int64_t messages_on_node = 0;
  std::int64_t messages_off_node = 0;
  std::int64_t entries_on_node = 0;
  std::int64_t entries_off_node = 0;
  std::int64_t messages_on_domain = 0;  ///< counted in messages_on_node too
  std::int64_t entries_on_domain = 0;   ///< counted in entries_on_node too

  /// Counts one message.
  void add(const mpi::Topology& topology, int from, int to, std::int64_t entries);
};

/// Local. Counts what `rank` sends in one forward run of its plan.
Traffic traffic(const Plan& plan, const mpi::Topology& topology, int rank);

}  // namespace nodewise::comm
