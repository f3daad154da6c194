// Planning a route: rounds of messages between the ranks, each round a pure function.
#pragma once

#include <cstdint>
#include <memory>
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
class Planner {
 public:
  virtual ~Planner() = default;
  virtual int n_rounds() const = 0;  ///< the same on every rank
  /// Whether all messages of a round stay on their node, so that nodes need not wait for another.
  virtual bool stays_on_node(int round) const = 0;
  /// Whether every message of the round before is answered by one, and nothing else is sent: then
  /// all know whom to wait for, and there is no other synchronisation.
  virtual bool answers(int /*round*/) const { return false; }
  virtual Words step(int round, const Words& arrived) = 0;
  virtual Plan plan(const Words& arrived) = 0;
};

/// Collective. Runs the rounds as sparse exchanges over `comm`, or over the ranks of each node.
/// Where a rank fails every rank throws the same Error, after the last round.
Plan run(const mpi::Comm& comm, Planner& planner);

/// Local. Runs the rounds for virtual ranks: planners[r] is the one of rank r, and used up.
std::vector<Plan> run_virtually(std::vector<std::unique_ptr<Planner>>& planners);

}  // namespace nodewise::comm::route
