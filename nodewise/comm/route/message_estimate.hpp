// The messages of a route, told from the direct plan without planning the route.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/base/error.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/route/node_mapping.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/mpi/comm.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::comm {

/// A message, as far as its cost goes.
struct MessageSize {
  int rank;  ///< the other end
  std::int64_t entries;

  friend bool operator==(const MessageSize&, const MessageSize&) = default;
};

/// What one rank sends and receives in one stage. Ranks ascend.
struct StageSizes {
  std::vector<MessageSize> sent, received;
};

/// Local. What the messages of a plan are, stage by stage.
std::vector<StageSizes> sizes_of(const Plan& plan);
/// Local. The messages and entries of them that are sent, by where they go.
Traffic traffic(std::span<const StageSizes> stages, const mpi::Topology& topology, int rank);

/// What a rank knows of the direct exchanges of its node.
struct NodeExchanges {
  struct Share {
    std::int64_t entries;   ///< distinct
    std::int64_t messages;  ///< there would be, going straight
  };
  /// What one rank has to do with other nodes.
  struct Part {
    std::map<int, Share> sent;          ///< by node
    std::map<int, std::int64_t> heard;  ///< entries, by owner
  };
  using Parts = std::map<int, Part>;  ///< by rank of the node

  const Plan& direct;          ///< of this rank
  const mpi::Topology& nodes;  ///< or domains in their place
  int rank;
  Parts parts;
  route::NodeMapping mapping;  ///< of the ranks
};

/// One rank's view of what its exchange would be over each route. Whom a rank sends its entries to
/// tells how many of them each other node needs, and an entry has one owner: so what a node sends
/// over any route follows from its ranks' send lists, and what it hears from their receive lists.
/// Only how many ranks of the other node share in an exchange of three_step is not known here: all
/// of them are assumed to. Where nodes have domains, a node is taken as a whole; where there is one
/// node only, the forecast is for its domains.
class MessageEstimate {
 public:
  /// Local. What a rank tells those of its node, in a form only forecasts know.
  static std::vector<std::int64_t> facts(const Plan& direct, const mpi::Topology& topology,
                                         int rank);
  /// Local. From what all ranks of the node have told, in their order, one behind the other. Plan
  /// and topology must outlive the forecast.
  MessageEstimate(const Plan& direct, const mpi::Topology& topology, int rank,
                  std::span<const std::int64_t> facts,
                  const route::NodeMapping& mapping = route::map_by_size);

  /// Local. The messages of the rank, stage by stage: as many stages as the route's plan has.
  ///
  /// Over two_step all messages are those of the plan. Entries are, too, except of what arrives
  /// from other nodes: no fewer than said. Over three_step the entries that a node sends to each
  /// other are exact, and what its ranks send there, too, where the other side has as many ranks
  /// for the pair; else there are no more messages than said. So are those that gather, up to
  /// entries that go to several nodes; those that spread are a good guess.
  std::vector<StageSizes> sizes(const Route& route) const;

 private:
  NodeExchanges known_;
};

/// Collective on the ranks of each node; no message leaves it. What this rank's exchange would be:
/// one gathering of a few numbers for every node, and every rank of other nodes, that a rank has to
/// do with. What fails on this rank alone is left in `failure`; the forecast is then of no use.
MessageEstimate forecast(const mpi::Comm& comm, const Plan& direct, std::optional<Error>& failure);
/// Collective likewise. Of several exchanges, as many on each rank, in one gathering.
std::vector<MessageEstimate> forecasts(const mpi::Comm& comm, std::span<const Plan> direct,
                                       std::optional<Error>& failure);

}  // namespace nodewise::comm
