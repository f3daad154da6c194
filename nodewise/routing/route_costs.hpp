// The cost of exchanges by a model, found by all ranks together, each from its own messages.
#pragma once

#include <span>
#include <vector>

#include "nodewise/comm/route/message_estimate.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/model/overlapped_cost.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::routing {

/// The messages of an exchange, of as many stages on every rank, and the bytes that each of its
/// entries is to have.
struct ExchangeQuestion {
  std::span<const comm::StageSizes> stages;
  double bytes_per_entry = 0;
  /// The machine as these messages meet it; null: that of all questions.
  const model::Machine* machine = nullptr;
  int cores = 1;  ///< that share the messages of a rank; `overlapped` takes them to be one
};

/// The cost of a rank's messages.
enum class MessageCosts {
  added,      ///< one after the other, as model::forward_cost() says of the plans of all ranks
  overlapped  ///< model::overlapped_stage_s(), which is what a look at a network measures
};

/// The formula that suits a machine: a look at the network measures overheads, and of the two that
/// which knows them is a few percent off.
MessageCosts message_costs(const model::Machine& machine);

/// The messages between nodes that the ranks of a node send in a stage, and receive.
struct NodeStage {
  model::NodeLoad sent, received;
};

/// Local. The seconds of a stage for one rank, without waiting for links.
double stage_seconds(const model::Machine& machine, MessageCosts costs, const model::RankLoad& load,
                     const NodeStage& node, const model::NetworkLoad& network, int cores = 1);

/// Collective. The seconds of each exchange, the same bit for bit everywhere: a reduction over each
/// node and one over all ranks, with `added` another where the machine's links make messages wait.
/// Machines of questions differ from `machine` in what messages cost alone, not in the network.
/// The numbers `most` become their maxima over the ranks by the way.
std::vector<double> exchange_seconds(const mpi::Comm& comm, const model::Machine& machine,
                                     MessageCosts costs,
                                     std::span<const ExchangeQuestion> questions,
                                     std::span<double> most);

}  // namespace nodewise::routing
