// The library's own communicator: a duplicate of the user's, with the topology of its ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

#include "nodewise/base/types.hpp"
#include "nodewise/mpi/settings.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::mpi {

namespace collectives {
class ScheduledAllreduce;
}

/// Throws Error{mpi} with the library's text unless `status` is MPI_SUCCESS.
void check(int status, const char* call);

/// Local. Whether nothing of MPI can be freed or sent any more.
bool is_finalized();
/// Local. Whether this thread may call MPI while others of the process compute: MPI was initialised
/// for that (MPI_THREAD_FUNNELED or more), by this thread.
bool may_talk_beside_threads();

class Ledger;
struct KeptWindow;

/// The MPI datatype of an arithmetic type.
template <class T>
MPI_Datatype datatype();

/// Owns a duplicated communicator; everything built on it shares it through a shared_ptr. The
/// user's messages can never meet the library's. Errors of MPI calls are returned, not fatal.
class Comm {
 public:
  /// Collective on `user`. Nodes are found with MPI_Comm_split_type(MPI_COMM_TYPE_SHARED). Throws
  /// invalid_argument, on every rank, for an intercommunicator or settings that differ by rank.
  static std::shared_ptr<const Comm> create(MPI_Comm user, const CommSettings& settings = {});
  /// Collective on `user`. `node_of_rank[r]` names the node of rank r, any non-negative numbers in
  /// any order. For tests, and to study another placement. Throws as the other, and where the list
  /// has another length than there are ranks, has a negative number, or differs by rank.
  static std::shared_ptr<const Comm> create(MPI_Comm user, std::span<const int> node_of_rank,
                                            const CommSettings& settings = {});
  /// Collective on `user`. The placement, with domains inside the nodes if it has any. Throws as
  /// the others.
  static std::shared_ptr<const Comm> create(MPI_Comm user, const Topology& topology,
                                            const CommSettings& settings = {});
  /// Collective on `ranks` of `of`, ascending, this rank among them; the others need not call.
  /// Returns a communicator of these alone, which has the settings, the placement and the ledger of
  /// `of`, and keeps it alive. Costs what MPI_Comm_create_group does, among these, and again among
  /// those of each node.
  static std::shared_ptr<const Comm> subset(const std::shared_ptr<const Comm>& of,
                                            std::span<const int> ranks);

  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  ~Comm();

  MPI_Comm get() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  const Topology& topology() const { return topology_; }
  /// The ranks of this rank's node, in their order; this communicator where there is one node only.
  /// It has the settings of this one.
  const Comm& node() const { return node_ ? *node_ : *this; }
  /// All regions of a kind, in the place of the nodes: the nodes, or their domains.
  const Topology& regions(Region kind) const {
    return kind == Region::domain ? topology_.domains() : topology_;
  }
  /// The ranks of this rank's region, in their order. Local, but for the first call with
  /// domains, which is collective: then the communicator is made, and kept.
  const Comm& region(Region kind) const;
  /// The window of the one-sided sparse exchange, kept from call to call. Where there is one, the
  /// communicator must come to its end on all ranks together.
  KeptWindow& kept_window() const { return *kept_window_; }
  const CommSettings& settings() const { return settings_; }
  /// By what `automatic` weighs a sparse exchange, on this communicator and its subsets; set once a
  /// machine is known, by all ranks alike.
  const SparseCosts& sparse_costs() const { return whole().sparse_costs_; }
  void set_sparse_costs(const SparseCosts& costs) const { whole().sparse_costs_ = costs; }
  /// The communicator that this one is a subset of; this one where it is none.
  const Comm& whole() const { return whole_ ? whole_->whole() : *this; }
  /// The reductions that the settings may take besides MPI's own, which are none where that is
  /// always used. The first is also what compares the arguments of the ranks.
  std::span<const std::unique_ptr<collectives::ScheduledAllreduce>> allreduces() const {
    return allreduces_;
  }

  /// Returns the messages and times so far, of this communicator and that of its node.
  Ledger& ledger() const { return *ledger_; }
  /// Local. Whoever sends a message calls this, once for each call of MPI that sends one.
  void count_message(int to, std::int64_t bytes) const;

  /// Local. Returns two tags in turn, one for every other sparse exchange. A rank that is already
  /// in the next exchange then cannot be heard by one that is still in this.
  int next_discovery_tag() const;

 private:
  Comm(MPI_Comm owned, const CommSettings& settings);
  static std::shared_ptr<Comm> duplicate(MPI_Comm user, const CommSettings& settings);
  void place(const Topology& topology);
  void set_topology(Topology topology);
  void set_node(MPI_Comm node);
  std::unique_ptr<Comm> part(MPI_Comm ranks, std::span<const int> domains) const;
  void prepare_allreduces();

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  CommSettings settings_;
  Topology topology_;
  std::unique_ptr<const Comm> node_;
  mutable std::unique_ptr<const Comm> domain_;  // null until it was asked for
  std::shared_ptr<const Comm> whole_;           // null where this is no subset
  std::shared_ptr<Ledger> ledger_;
  std::unique_ptr<KeptWindow> kept_window_;
  std::vector<std::unique_ptr<collectives::ScheduledAllreduce>> allreduces_;
  mutable unsigned discovery_calls_ = 0;
  mutable SparseCosts sparse_costs_;
};

/// Message tags of the library, all on its own communicators.
enum Tag : int {
  tag_exchange = 1,
  tag_stream = 3,
  tag_planning = 4,
  tag_discovery = 10,
  tag_allreduce = 30,
  tag_allgather = 31,
  tag_alltoallv = 32,
  tag_alltoallv_lengths = 33,
  tag_alltoallv_carried = 34,
  tag_probe = 40,
  tag_subset = 50
};

/// Collective. Reductions of one value over all ranks; the result is the same on every rank. By
/// the algorithm that the communicator's settings name (collectives/allreduce.hpp).
template <class T>
T sum(const Comm& comm, T value);
template <class T>
T max(const Comm& comm, T value);
template <class T>
T min(const Comm& comm, T value);
/// Collective. Element-wise sums or maxima over all ranks, in place.
template <class T>
void sum_in_place(const Comm& comm, std::span<T> values);
template <class T>
void max_in_place(const Comm& comm, std::span<T> values);
/// Collective. The sum over the ranks before this one; 0 on rank 0.
template <class T>
T exclusive_sum(const Comm& comm, T value);
/// Collective. One value from every rank, in rank order.
template <class T>
std::vector<T> gather_all(const Comm& comm, T value);
/// Collective. The concatenation of every rank's values, in rank order, on every rank.
template <class T>
std::vector<T> concatenate_all(const Comm& comm, std::span<const T> values);
/// Collective. The text of rank `root`, on every rank.
std::string broadcast(const Comm& comm, const std::string& text, int root);
template <class T>
T broadcast(const Comm& comm, T value, int root);

}  // namespace nodewise::mpi
