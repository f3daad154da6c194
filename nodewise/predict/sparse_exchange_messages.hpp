// The messages of a sparse dynamic data exchange among ranks that are not at hand.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nodewise/model/event_simulation.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::predict {

/// What each rank sends, each destination once; itself is no destination.
using SparseSends = std::vector<std::vector<model::SentMessage>>;

/// The messages of an algorithm, those of its collectives among them.
struct SparseExchangeMessages {
  model::MessageStages stages;
  /// Which of the stages carry data: as many messages and bytes as the algorithm's ranks book in
  /// their ledgers.
  std::vector<std::size_t> of_data;
};

/// The names that sparse_exchange_messages() takes: all algorithms of comm/sdde but `automatic`,
/// and `known_number`, where every rank knows how many messages will come to it; those for messages
/// of any sizes, or with those of one size only.
std::vector<std::string_view> sparse_exchanges(bool of_one_size);

/// Local. As docs/sparse-exchange.md has the algorithms: a reduce-scatter by recursive halving over
/// a number of 8 bytes a rank, an allreduce of 32 bytes by recursive doubling for a barrier and for
/// the end, of 48 bytes for a known number, and an answer of no bytes to every synchronous message.
/// Windows are there from an earlier call. The small allreduce beside a longer reduction is not
/// counted. One-sided algorithms take messages of one size. The nodes of `topology` may be the
/// regions of another. Throws invalid_argument for another name, or sends of another number of
/// ranks.
SparseExchangeMessages sparse_exchange_messages(std::string_view algorithm,
                                                const mpi::Topology& topology,
                                                const SparseSends& sends);

}  // namespace nodewise::predict
