// A machine as data: what its messages, its network and its arithmetic cost.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "nodewise/model/scenario.hpp"

namespace nodewise::model {

/// The locality of two ranks.
enum class Locality { same_socket, same_node, other_node };
inline constexpr int n_localities = 3;
/// The protocol of a message, by its length: inside the envelope, into a buffer of the receiver's
/// library, or after the receiver has answered.
enum class Protocol { in_envelope, eager, rendezvous };
inline constexpr int n_protocols = 3;

/// The name of the key in a machine file: same_socket, same_node, other_node.
const char* to_string(Locality locality) noexcept;
/// Likewise: short, eager, rendezvous.
const char* to_string(Protocol protocol) noexcept;

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

/// The cost of one message by the max-rate model: latency alpha, rate R_b = 1 / beta, and the rate
/// R_N at which all ranks of a node together can put bytes into the network.
struct MessageParameters {
  double latency_s = 0;
  double rate_bytes_per_s = 0;
  double injection_bytes_per_s = unlimited;

  bool operator==(const MessageParameters&) const = default;
};

/// The messages of one locality, by protocol; what was not measured is missing.
using PathParameters = std::array<std::optional<MessageParameters>, n_protocols>;

/// The longest messages that go by the first two protocols. They depend on the MPI library.
struct SwitchSizes {
  std::int64_t short_bytes = 0;
  std::int64_t eager_bytes = 0;

  bool operator==(const SwitchSizes&) const = default;
};

/// Switches in `levels` layers; each of the lowest layer connects nodes_per_switch nodes, each
/// above as many switches of the layer below. As much bandwidth above as below.
struct FatTree {
  int nodes_per_switch = 1;
  int levels = 1;

  bool operator==(const FatTree&) const = default;
};

/// Routers in a grid of any number of dimensions, each row of which is closed to a ring.
struct Torus {
  std::vector<int> dimensions;
  int nodes_per_router = 1;

  bool operator==(const Torus&) const = default;
};

/// Groups of routers, each group linked to each other. The routers of a group stand in a rectangle
/// and are linked along its rows and columns, all with all (Aries: 6 rows of 16).
struct Dragonfly {
  int groups = 1;
  int rows = 1;     ///< of routers in a group
  int columns = 1;  ///< of routers in a group
  int nodes_per_router = 1;
  double links_between_groups = 1;  ///< what the connection of two groups counts for, in links

  bool operator==(const Dragonfly&) const = default;
};

/// No shape: hops and links are unknown, and the terms that need them are left out.
using NetworkShape = std::variant<std::monostate, FatTree, Torus, Dragonfly>;

/// Time of a floating-point operation of a sparse product with at most so many nonzeros a rank.
struct FlopCost {
  double up_to_nonzeros = unlimited;
  double s_per_flop = 0;

  bool operator==(const FlopCost&) const = default;
};

/// Memory bandwidth that each of so many threads has when all of them use it.
struct ThreadBandwidth {
  int threads = 1;
  double bytes_per_s = 0;

  bool operator==(const ThreadBandwidth&) const = default;
};

/// One level of cache, from the first to the last.
struct Cache {
  double bytes = 0;
  int cores = 1;  ///< that share it

  bool operator==(const Cache&) const = default;
};

/// A copy, or a message, that begins or ends in the memory of a GPU. Only a message's rate may be
/// `unlimited`: none was seen.
struct CopyPath {
  double latency_s = 0;
  double rate_bytes_per_s = unlimited;

  bool operator==(const CopyPath&) const = default;
};

/// Copies to the host that several processes make at once, each of its part.
struct SharedCopy {
  int processes = 1;
  CopyPath path;  ///< of one of them, by its own bytes

  bool operator==(const SharedCopy&) const = default;
};

/// Messages from GPU to GPU, by length.
struct GpuMessages {
  CopyPath to_switch, beyond;

  bool operator==(const GpuMessages&) const = default;
};

struct GpuPaths {
  int gpus_per_node = 1;
  CopyPath to_host;                       ///< between the GPU and the memory of its socket
  CopyPath to_device;                     ///< likewise
  std::vector<SharedCopy> shared_copies;  ///< ascending in processes
  std::int64_t switch_bytes = 0;          ///< the longest of GpuMessages::to_switch
  std::array<std::optional<GpuMessages>, n_localities> direct;  ///< by Locality
  double injection_bytes_per_s = unlimited;  ///< R_N of what goes from GPUs straight to other nodes

  bool operator==(const GpuPaths&) const = default;
};

/// The cost of a message for the processors at its ends and for the network card, apart from its
/// way.
struct MessageOverheads {
  double send_on_node_s = 0;
  double receive_on_node_s = 0;
  double send_other_node_s = 0;
  double receive_other_node_s = 0;
  double nic_gap_s = 0;  ///< between two messages that leave a node

  bool operator==(const MessageOverheads&) const = default;
};

/// One measured allreduce.
struct AllreduceTime {
  double bytes = 0;  ///< of the vector
  double seconds = 0;

  bool operator==(const AllreduceTime&) const = default;
};

/// Allreduces as they were measured, by algorithm, ascending in bytes; empty where one was not.
struct MeasuredAllreduces {
  int ranks = 1;
  int nodes = 1;
  std::vector<AllreduceTime> mpi;         ///< of the MPI library
  std::vector<AllreduceTime> node_aware;  ///< docs/collectives.md

  bool operator==(const MeasuredAllreduces&) const = default;
};

/// Whether the MPI library moves a message while the program computes: the part of the shorter of
/// both that the other hid, 0 to 1 (Schubert, Fehske, Hager, Wellein 2011, listing 2).
struct Progress {
  double bytes = 0;
  std::optional<double> receive;  ///< of a rank that receives while it computes
  std::optional<double> send;     ///< likewise that sends

  bool operator==(const Progress&) const = default;
};

/// A machine. Times are in seconds, sizes in bytes, rates in bytes a second. Missing values are
/// unknown; formulas say what they do then. docs/machines.md has the file format, key by key.
struct Machine {
  std::string name;
  std::string source;  ///< where the numbers come from
  bool measured = false;
  std::vector<std::string> notes;

  int sockets_per_node = 1;
  int cores_per_node = 1;

  std::array<PathParameters, n_localities> paths;  ///< by Locality
  SwitchSizes switch_sizes;
  /// By Locality, where they are others there: a library that has shared memory on the node and a
  /// network between nodes switches at sizes of each.
  std::array<std::optional<SwitchSizes>, n_localities> own_switch_sizes;
  double queue_search_s = 0;  ///< gamma of (3.1) in the dissertation of Bienz: one step of a search
  /// delta of (3.3) there: waiting for a link, a byte that crosses it.
  double contention_s_per_byte_per_link = 0;

  NetworkShape network;
  /// What fits the machine best: what its messages between nodes are charged, beside alpha, beta
  /// and the terms of Bienz 2018.
  Choice<Scenario> scenario;
  double hop_latency_s = 0;  ///< gamma of Gahvari et al.: each hop beyond the fewest possible
  /// B_max of Gahvari et al.: what the hardware of a node could carry.
  std::optional<double> hardware_bytes_per_s;

  std::vector<double> s_per_flop_by_level;   ///< t_i; the last one holds for all coarser levels
  std::vector<FlopCost> s_per_flop_by_size;  ///< ascending; the last one holds beyond
  std::vector<ThreadBandwidth> thread_bandwidth;  ///< b_j, ascending in threads
  std::vector<Cache> caches;

  std::optional<GpuPaths> gpu;
  std::optional<MessageOverheads> overheads;
  std::optional<MeasuredAllreduces> allreduces;
  std::vector<Progress> progress;  ///< ascending in bytes; empty: not measured

  const PathParameters& path(Locality locality) const {
    return paths[static_cast<std::size_t>(locality)];
  }
  PathParameters& path(Locality locality) { return paths[static_cast<std::size_t>(locality)]; }

  /// The switch sizes of a locality: its own, or those of all.
  const SwitchSizes& switches(Locality locality) const {
    const auto& own = own_switch_sizes[static_cast<std::size_t>(locality)];
    return own ? *own : switch_sizes;
  }
  /// The locality whose parameters count for messages of `locality`: itself; where it was not
  /// measured, the other one on the node, or else other_node. Throws invalid_argument where nothing
  /// is known of any.
  Locality measured_as(Locality locality) const;
  /// The protocol that a message of so many bytes takes.
  Protocol protocol_of(Locality locality, double bytes) const;
  /// Returns the cost parameters for a message of this length. Where its protocol was not measured,
  /// that of longer messages counts, or else of shorter ones. Where its locality was not, that of
  /// measured_as() counts, with its switch sizes. Throws as that does.
  const MessageParameters& parameters(Locality locality, double bytes) const;

  bool operator==(const Machine&) const = default;
};

/// Local. Throws invalid_argument, naming the value by its place in a machine file, where a rate is
/// not positive, a time is negative or not finite, a size or count is senseless, or messages to
/// other nodes have no parameters at all. Only the rate of injection may be `unlimited`.
void check(const Machine& machine);

}  // namespace nodewise::model
