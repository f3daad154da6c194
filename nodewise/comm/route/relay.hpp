// Entries on their way over several ranks: makes the stages of a Plan from where each goes next.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/route/planner.hpp"

namespace nodewise::comm::route {

/// Local. Returns the ranks of a pattern to or from which at least one entry goes.
std::vector<int> ranks_with_entries(std::span<const int> ranks,
                                    std::span<const LocalIndex> offsets);

/// One entry that this rank holds, to be brought to one rank.
struct Parcel {
  LocalIndex position;  ///< in this rank's pool
  LocalIndex ordinal;   ///< which of the ghosts that `dest` has from `owner`
  int owner;
  int dest;
  int next;  ///< where the next stage takes it; this rank: it waits
  int exit;  ///< for the route's use, and carried along: where it enters the node of dest
};

/// One rank's view of all entries under way. Every stage takes the parcels to their next ranks;
/// those at the same position that have the same next rank travel as one entry. The planning
/// messages take the way of the entries themselves and are as many.
class Relay {
 public:
  /// Starts with one parcel for every entry of the pattern and rank it is sent to, waiting here.
  /// `pattern` must outlive the relay.
  Relay(const Pattern& pattern, int rank);

  int rank() const { return rank_; }
  /// The parcels that are here and not at their destination, in a fixed order.
  std::span<Parcel> parcels() { return parcels_; }

  /// Begins a stage: what has another `next` than this rank leaves. Returns what the next ranks
  /// must be told.
  Words send();
  /// Ends the stage: what arrived joins the pool, and waits here unless it has arrived for good.
  void receive(const Words& arrived);
  /// The plan, when everything has arrived. Throws internal if a ghost has not.
  Plan finish();

 private:
  void deliver(int owner, LocalIndex ordinal, LocalIndex position);

  const Pattern& pattern_;
  int rank_;
  std::vector<Parcel> parcels_;
  LocalIndex pool_size_;
  std::vector<LocalIndex> ghost_entries_;
  std::vector<Stage> stages_;
};

}  // namespace nodewise::comm::route
