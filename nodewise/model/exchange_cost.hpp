// What an exchange between ranks on nodes costs on a machine, term by term.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/route/message_estimate.hpp"
#include "nodewise/model/contention.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/model/penalties.hpp"
#include "nodewise/model/queue_search.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::model {

/// Seconds of an exchange, or of several, by cause: one member for each CostTerm.
struct ExchangeCost {
  double latency_s = 0;            ///< alpha of every message of the busiest rank
  double distance_s = 0;           ///< hops of each of them beyond the fewest possible
  double multicore_s = 0;          ///< what other ranks of its node that send add to both
  double bandwidth_s = 0;          ///< its bytes, at the rate at which one rank can send them
  double limited_bandwidth_s = 0;  ///< what unused hardware and shared links add to that
  double injection_s = 0;          ///< what the limit of its node adds to both
  double queue_s = 0;              ///< searching the queue for the messages that reach it
  double contention_s = 0;         ///< waiting for links

  double total() const;
  ExchangeCost& operator+=(const ExchangeCost& other);
};
ExchangeCost operator*(double times, ExchangeCost cost);

/// What one rank has to do in one stage of an exchange, before the limits of its node are known.
/// Receiving counts as much as sending, and both go on at a time.
struct RankLoad {
  struct Direction {
    double latency_s = 0;
    double longest_latency_s = 0;           ///< of a message
    double off_node_latency_s = 0;          ///< of those between nodes; in latency_s, too
    double longest_off_node_latency_s = 0;  ///< likewise
    double on_node_s = 0;                   ///< bytes over rates, on the node
    double off_node_s = 0;                  ///< likewise, between nodes
    double off_node_hardware_s = 0;         ///< each of these times B_max / B
    double injection_s = 0;  ///< bytes between nodes over the limit of the whole node
    double off_node_bytes = 0;
    double messages = 0;
    double off_node_messages = 0;

    /// Counts one message.
    void add(const Machine& machine, Locality locality, double bytes);
    /// What one of several cores has to do that share the messages; what it says of the node and
    /// of the network stays.
    Direction of_core(int cores) const;
    Direction& operator+=(const Direction& other);
  };
  Direction sent, received;
  double byte_hops = 0;  ///< bytes that it sends between nodes times the links that they cross
};

/// Local. Where two ranks are to each other, as far as the topology and the machine tell: ranks of
/// an undivided node are on different sockets where the node has several, which costs no less.
Locality locality(const mpi::Topology& topology, const Machine& machine, int a, int b);

/// Local. The cost of one stage for one rank, whose messages between nodes have these charges.
/// `node_sent_s` and `node_received_s` are the sums of
/// injection_s over the ranks of its node. The node-aware max-rate model for messages of any
/// lengths: of both directions the longer, of latencies + bytes on the node + max(the rank's bytes
/// between nodes at its own rate, the node's at the limit). For one message of equal length from
/// each of ppn ranks this is eq. 2.2. Where several cores share the rank's messages, that of one of
/// them with its share. Contention is no matter of one rank and not in it.
ExchangeCost stage_cost(const Machine& machine, const RankLoad& load, const Charges& charges,
                        double node_sent_s, double node_received_s, Arrival arrival, int cores = 1);

struct ExchangeCostOptions {
  /// A vector of doubles is 8, k of them at once 8 k; of what is visited as items of records, the
  /// bytes of an item.
  double bytes_per_entry = 8;
  Arrival arrival = usual_arrival;
  /// h, where it is known; otherwise contention_hops() tells.
  std::optional<double> average_hops;
  int cores = 1;  ///< that share the messages of a rank
};

/// Adds up messages of an exchange among all ranks, in any order, and says what they cost.
/// O(ranks x stages) memory.
class ExchangeTally {
 public:
  /// Keeps references: both must outlive it. Throws invalid_argument where the machine is no
  /// sensible one, as check() does.
  ExchangeTally(const Machine& machine, const mpi::Topology& topology,
                const ExchangeCostOptions& options = {});

  /// Local. Counts a message. Throws invalid_argument for a rank that is none.
  void add(std::size_t stage, int from, int to, double bytes);

  std::size_t n_stages() const { return stages_.size(); }
  /// One stage: that of its busiest rank, and the contention.
  ExchangeCost stage(std::size_t s) const;
  /// The stages one after the other.
  ExchangeCost total() const;
  /// The rank that is busiest in a stage; the lowest of several.
  int busiest_rank(std::size_t s) const;
  /// The most of any stage, that penalties depend on.
  Crowd most_crowded() const;

 private:
  using Stage = std::vector<RankLoad>;
  struct Busiest {
    int rank = 0;
    ExchangeCost cost;
  };
  Busiest busiest(const Stage& stage) const;
  NetworkLoad network_load(const Stage& stage) const;

  const Machine* machine_;
  const mpi::Topology* topology_;
  ExchangeCostOptions options_;
  std::vector<Stage> stages_;
};

/// Local. The plans of all ranks (comm::virtual_plans), run forwards.
ExchangeCost forward_cost(std::span<const comm::Plan> plans, const mpi::Topology& topology,
                          const Machine& machine, const ExchangeCostOptions& options = {});
/// Local. Run reversed, with addition.
ExchangeCost reversed_cost(std::span<const comm::Plan> plans, const mpi::Topology& topology,
                           const Machine& machine, const ExchangeCostOptions& options = {});
/// Local. With records of varying length, as comm::visit_record_messages() has them: record i of
/// all ranks has offsets[i + 1] - offsets[i] items of options.bytes_per_entry bytes. Their
/// lengths, of 8 bytes each, are in the same messages.
ExchangeCost record_cost(std::span<const comm::Plan> plans, const mpi::Topology& topology,
                         const Machine& machine, std::span<const Offset> offsets,
                         const ExchangeCostOptions& options = {});

/// Local. What the rank of a plan has to do in each of its stages, run forwards. Reversed, sent and
/// received change places and the stages their order.
std::vector<RankLoad> rank_loads(const comm::Plan& plan, const mpi::Topology& topology, int rank,
                                 const Machine& machine, const ExchangeCostOptions& options = {});
/// Local. Likewise of messages that are known, or foreseen, without a plan.
std::vector<RankLoad> rank_loads(std::span<const comm::StageSizes> stages,
                                 const mpi::Topology& topology, int rank, const Machine& machine,
                                 const ExchangeCostOptions& options = {});

}  // namespace nodewise::model
