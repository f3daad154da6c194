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

/// What planners tell each other: numbers, in a form only they know.
using Words = Messages<std::int64_t>;

/// One rank's part in the planning of a route. In round r every rank sends step(r, arrived), where
/// `arrived` holds what the others sent in the round before (nothing in round 0), ordered by
/// source; after the last round plan(arrived) is the result. Without MPI, so that the ranks can be
/// those of a communicator or virtual ones in one process.
///
/// What leaves the node goes in rounds of known sources: such a round takes one message's way
/// through the network and no synchronisation. The price is that a rank must send what others wait
/// for even when it has failed. So there are two functions for what a rank sends: step(), which may
/// throw, and step_after_failure(), which knows only whom to write to.
class Planner {
 public:
  virtual ~Planner() = default;
  virtual int n_rounds() const = 0;  ///< the same on every rank
  virtual Words step(int round, const Words& arrived) = 0;
  /// In the place of step() on a rank where that or anything before it has failed: a message, if
  /// need be empty, to every rank that has this one among its sources, with what that rank needs in
  /// order to know its own sources and destinations later. It needs no more memory than a few words
  /// for each of these, which is taken to be there: it must not throw.
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
