// Planning a route: rounds of messages between the ranks, each round a pure function.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "nodewise/comm/discovery.hpp"
#include "nodewise/comm/plan.hpp"

namespace nodewise::comm::route {

/// A message between planners: numbers, in a form only they know.
using Words = Messages<std::int64_t>;

/// One rank's part in the planning of a route. In round r every rank sends step(r, arrived), where
/// `arrived` holds the messages of the round before (nothing in round 0), ordered by source. After
/// the last round plan(arrived) is the result. Planners know no MPI, so that ranks may be those of
/// a communicator or virtual ones in one process. Messages between nodes go in rounds of known
/// sources: such a round takes one message's time and no synchronisation. In return a rank must
/// send what others wait for even when it has failed. So two functions make a rank's messages:
/// step(), which may throw, and step_after_failure(), which knows only the destinations.
class Planner {
 public:
  virtual ~Planner() = default;
  virtual int n_rounds() const = 0;  ///< the same on every rank
  virtual Words step(int round, const Words& arrived) = 0;
  /// Replaces step() on a rank where that or anything before it has failed. Sends a message, if
  /// need be empty, to every rank that has this one among its sources, with what that rank needs to
  /// know its own sources and destinations later. Must not throw: the few words of memory a message
  /// takes are assumed to be there.
  virtual Words step_after_failure(int round, const Words& arrived) = 0;
  /// After step() or step_after_failure(): the ranks, ascending, that each send this one a message
  /// in the round. Without a list, on all ranks or none, any ranks of the node may, and no others.
  virtual std::optional<std::vector<int>> sources(int round) const = 0;
  virtual Plan plan(const Words& arrived) = 0;
};

/// Local. One message to each rank of a map.
Words to_messages(const std::map<int, std::vector<std::int64_t>>& words_to);
/// Local. An empty message to each rank.
Words empty_messages_to(std::vector<int> ranks);

/// Collective. Runs the rounds: one message to and from each partner where sources are known, else
/// a sparse exchange on each node; and one agreement. Where a rank fails every rank throws the same
/// Error, after the last round.
Plan run(const mpi::Comm& comm, Planner& planner);

/// Local. Runs the rounds for virtual ranks: planners[r] is the one of rank r, and used up. Throws
/// internal where a rank does not hear from exactly its sources, for which real ranks would wait.
std::vector<Plan> run_virtually(std::vector<std::unique_ptr<Planner>>& planners);

}  // namespace nodewise::comm::route
