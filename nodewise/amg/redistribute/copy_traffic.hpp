// The transfers to copies of a level that one rank of each node would have.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nodewise/amg/redistribute/redistribution_decision.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::amg {

/// What a level would exchange where one rank has it and one of each node a copy, found without
/// moving it: every rank sends its sums to all copies, and fetches from that of its node. All ranks
/// are added first, and then the sums over the ranks.
class CopyTraffic {
 public:
  /// Local. holders_of_copies() says who has copies.
  CopyTraffic(const mpi::Topology& topology, std::vector<int> holders);

  /// Local.
  void add(const RankExchanges& rank);
  /// Numbers that are to be added up over all ranks.
  std::span<double> sums() { return sums_; }

  int n_copies() const { return static_cast<int>(copies_.size()); }
  /// Seconds of a restriction, going straight; with `gathered` over the better of that and of
  /// gathering on the nodes first (three_step).
  double restriction_s(const model::Machine& machine, double bytes, bool gathered) const;
  /// Seconds of a prolongation, in which nothing leaves a node.
  double prolongation_s(const model::Machine& machine, double bytes) const;
  /// Seconds of bringing so many bytes from `owner` to every other copy.
  double spreading_s(const model::Machine& machine, int owner, double bytes) const;

 private:
  /// Of the ranks of a copy's node, and of the one that has it.
  enum Field : std::size_t { messages, rows, own_messages, own_rows, n_fields };

  double field(Field f, std::size_t k) const { return sums_[k * n_fields + f]; }
  double sum_of(Field f) const;
  double straight_restriction_s(const model::Machine& machine, double bytes) const;
  double gathered_restriction_s(const model::Machine& machine, double bytes) const;

  const mpi::Topology* topology_;
  std::vector<int> holders_;       // of each rank
  std::vector<int> copies_;        // ranks that have some
  std::vector<double> n_of_node_;  // ranks that go by each copy
  std::vector<double> sums_;
};

}  // namespace nodewise::amg
