// The exchanges of a level on the few ranks that would hold its rows.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "nodewise/amg/redistribute/redistribution_decision.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::amg {

/// Local. Adds so many messages of so many bytes together.
void add_messages(model::RankLoad::Direction& direction, const model::Machine& machine,
                  model::Locality where, double messages, double bytes);

/// Local. Seconds of a stage: those of the busiest of the ranks `holders`, which have these loads.
/// `of_nodes` is what the ranks of the node of each have to do with other nodes for it; without,
/// what it has to do itself.
double holder_stage_s(const mpi::Topology& topology, const model::Machine& machine,
                      std::span<const int> holders, std::span<const model::RankLoad> loads,
                      std::span<const model::RankLoad> of_nodes = {});

/// What a level would exchange on `groups` ranks, found without moving it: of a product between its
/// holders, and of the transfers, in which they have to do with all ranks. First all ranks are
/// added, then what those of a node have to do with each holder is summed (of_node), then all nodes
/// are added, then all is summed over the ranks.
class HolderTraffic {
 public:
  /// Local. Rank r has rows[r] rows.
  HolderTraffic(const mpi::Topology& topology, std::span<const GlobalIndex> rows, int groups);

  /// Local.
  void add(const RankExchanges& rank);
  /// Transfers that the ranks of a node have with each holder, to be added up over its ranks.
  std::span<double> of_node(int node);
  /// Local. Counts the node of these ranks, as of_node() now says it, once for all.
  void add_node(int node);
  /// Numbers that are to be added up over all ranks, after the nodes.
  std::span<double> sums() { return sums_; }

  /// The ranks that would hold the rows.
  std::span<const int> holders() const { return holders_; }
  int n_holders() const { return static_cast<int>(holders_.size()); }
  /// The nodes that have a holder.
  int n_nodes() const;
  /// Of the holder with the most.
  double most_nonzeros() const;
  /// Seconds of the exchange of a product, going straight; with `gathered` over the better of that
  /// and of gathering on the nodes first (three_step).
  double product_s(const model::Machine& machine, double bytes, bool gathered) const;
  /// Likewise of a restriction, for the ranks that hold the rows.
  double transfer_s(const model::Machine& machine, double bytes, bool gathered) const;

 private:
  enum Field : std::size_t {
    nonzeros,
    messages_on,
    messages_off,
    rows_on,
    rows_off,
    nodes_off,  // other nodes that have to do with the holder
    n_fields
  };
  static constexpr auto none = static_cast<std::size_t>(-1);

  std::size_t number_of(int rank) const;
  double& entries(std::size_t g, std::size_t h) { return sums_[g * holders_.size() + h]; }
  double entries(std::size_t g, std::size_t h) const { return sums_[g * holders_.size() + h]; }
  double& field(Field f, std::size_t h) {
    return sums_[holders_.size() * (holders_.size() + f) + h];
  }
  double field(Field f, std::size_t h) const {
    return sums_[holders_.size() * (holders_.size() + f) + h];
  }
  double ranks_of_node(std::size_t h) const;
  double stage_s(const model::Machine& machine, std::span<const model::RankLoad> loads,
                 std::span<const model::RankLoad> of_nodes = {}) const {
    return holder_stage_s(*topology_, machine, holders_, loads, of_nodes);
  }
  double straight_product_s(const model::Machine& machine, double bytes) const;
  double gathered_product_s(const model::Machine& machine, double bytes) const;
  double straight_transfer_s(const model::Machine& machine, double bytes) const;
  double gathered_transfer_s(const model::Machine& machine, double bytes) const;

  const mpi::Topology* topology_;
  std::vector<int> holder_of_;
  std::vector<int> holders_;
  std::map<int, std::size_t> number_;         // of holders
  std::map<int, std::vector<double>> nodes_;  // messages to each holder of another node
  std::vector<double> sums_;
};

}  // namespace nodewise::amg
