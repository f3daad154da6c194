#include <algorithm>
#include <map>
#include <utility>

#include "nodewise/comm/transport/channel.hpp"
#include "nodewise/comm/transport/requests.hpp"
#include "nodewise/mpi/version.hpp"

namespace nodewise::comm::transport {

// Where the MPI has none, require_available() refuses them before a channel is asked for.
#ifndef NODEWISE_HAS_NEIGHBORHOOD_COLLECTIVES

constexpr bool has_neighborhood_collectives = false;

std::unique_ptr<Channel> neighborhood(Setting /*setting*/, Neighbours /*neighbours*/) {
  return nullptr;
}
std::unique_ptr<Channel> persistent_neighborhood(Setting /*setting*/, Neighbours /*neighbours*/) {
  return nullptr;
}

#else

constexpr bool has_neighborhood_collectives = true;

namespace {

/// MPICH before 4.2 confuses the parts where a rank sends to more ranks than it receives from, or
/// to fewer (its issue 6233): there every neighbour becomes one both ways, with empty messages.
/// Which library it is shows when it runs: one compiled for an MPICH meets others of its ABI.
bool needs_both_ways() {
  static const bool needs = mpi::is_of_mpich() && mpi::mpich_version() < 402;
  return needs;
}

void append_missing(std::vector<int>& ranks, const std::vector<int>& others) {
  const std::size_t n = ranks.size();
  for (const int rank : others) {
    const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(n);
    if (std::find(ranks.begin(), end, rank) == end) ranks.push_back(rank);
  }
}

Neighbours graph_of(Neighbours neighbours) {
  if (!needs_both_ways()) return neighbours;
  const std::vector<int> sends = neighbours.send_ranks;
  append_missing(neighbours.send_ranks, neighbours.recv_ranks);
  append_missing(neighbours.recv_ranks, sends);
  return neighbours;
}

/// Parts of an array as the w-variants of MPI's collectives take them. A part longer than
/// max_bytes becomes one item of a type of its own, so that no count overflows.
class PartTypes {
 public:
  PartTypes() = default;
  /// `degree` of them; those that parts has not are empty.
  PartTypes(std::span<const Part> parts, std::size_t degree, Offset max_bytes) {
    for (const Part& part : parts) {
      places.push_back(static_cast<MPI_Aint>(part.begin));
      if (part.bytes <= max_bytes) {
        counts.push_back(static_cast<int>(part.bytes));
        types.push_back(MPI_BYTE);
      } else {
        counts.push_back(1);
        types.push_back(long_type(part.bytes, max_bytes));
        owned_.push_back(types.back());
      }
    }
    const std::size_t size = std::max<std::size_t>(degree, 1);  // MPICH reads the first even so
    places.resize(size, 0);
    counts.resize(size, 0);
    types.resize(size, MPI_BYTE);
  }
  ~PartTypes() {
    if (mpi::is_finalized()) return;
    for (MPI_Datatype& type : owned_) MPI_Type_free(&type);
  }
  PartTypes(PartTypes&&) noexcept = default;
  PartTypes& operator=(PartTypes&& other) noexcept {
    std::swap(counts, other.counts);
    std::swap(places, other.places);
    std::swap(types, other.types);
    std::swap(owned_, other.owned_);
    return *this;
  }

  std::vector<int> counts;
  std::vector<MPI_Aint> places;
  std::vector<MPI_Datatype> types;

 private:
  /// Pieces of max_bytes, and what is left over.
  static MPI_Datatype long_type(Offset bytes, Offset max_bytes) {
    MPI_Datatype piece = MPI_DATATYPE_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    mpi::check(MPI_Type_contiguous(static_cast<int>(max_bytes), MPI_BYTE, &piece),
               "MPI_Type_contiguous");
    const Offset n = bytes / max_bytes;
    const int lengths[2] = {narrow<int>(n, "pieces:"), static_cast<int>(bytes % max_bytes)};
    const MPI_Aint places[2] = {0, static_cast<MPI_Aint>(n * max_bytes)};
    const MPI_Datatype types[2] = {piece, MPI_BYTE};
    mpi::check(MPI_Type_create_struct(2, lengths, places, types, &type), "MPI_Type_create_struct");
    mpi::check(MPI_Type_free(&piece), "MPI_Type_free");
    mpi::check(MPI_Type_commit(&type), "MPI_Type_commit");
    return type;
  }

  std::vector<MPI_Datatype> owned_;
};

/// The communicator whose neighbourhood collectives join the neighbours.
class Graph {
 public:
  Graph(const mpi::Comm& comm, Neighbours joined) {
    const Neighbours neighbours = graph_of(std::move(joined));
    n_sends = neighbours.send_ranks.size();
    n_receives = neighbours.recv_ranks.size();
    const auto degree = [](const std::vector<int>& ranks) {
      return narrow<int>(ranks.size(), "neighbours:");
    };
    mpi::check(MPI_Dist_graph_create_adjacent(
                   comm.get(), degree(neighbours.recv_ranks), neighbours.recv_ranks.data(),
                   MPI_UNWEIGHTED, degree(neighbours.send_ranks), neighbours.send_ranks.data(),
                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm_),
               "MPI_Dist_graph_create_adjacent");
  }
  ~Graph() {
    if (!mpi::is_finalized()) MPI_Comm_free(&comm_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  MPI_Comm get() const { return comm_; }

  std::size_t n_sends, n_receives;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// What the collective sends, as far as the caller can know: a message for each part.
void count_messages(const mpi::Comm& comm, const Neighbours& neighbours, const Transfer& transfer) {
  for (std::size_t i = 0; i < transfer.sends.size(); ++i) {
    comm.count_message(neighbours.send_ranks[i], transfer.sends[i].bytes);
  }
}

class Neighborhood : public Channel {
 public:
  Neighborhood(Setting setting, Neighbours neighbours)
      : setting_(std::move(setting)),
        neighbours_(std::move(neighbours)),
        graph_(*setting_.comm, neighbours_) {}

  void start(const Transfer& transfer) override {
    count_messages(*setting_.comm, neighbours_, transfer);
    sends_ = PartTypes(transfer.sends, graph_.n_sends, setting_.max_message_bytes);
    receives_ = PartTypes(transfer.receives, graph_.n_receives, setting_.max_message_bytes);
    mpi::check(MPI_Ineighbor_alltoallw(
                   transfer.send_data, sends_.counts.data(), sends_.places.data(),
                   sends_.types.data(), transfer.recv_data, receives_.counts.data(),
                   receives_.places.data(), receives_.types.data(), graph_.get(), &request_),
               "MPI_Ineighbor_alltoallw");
  }
  void finish() override { mpi::check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait"); }

 private:
  Setting setting_;
  Neighbours neighbours_;
  Graph graph_;
  PartTypes sends_, receives_;  // must last as long as the request
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<Channel> neighborhood(Setting setting, Neighbours neighbours) {
  return std::make_unique<Neighborhood>(std::move(setting), std::move(neighbours));
}

#if MPI_VERSION >= 4

namespace {

/// A collective request with arrays of its own: making one is collective, so that it must not
/// depend on where the caller's arrays are, which one rank may move and another not.
class CollectiveRequest {
 public:
  CollectiveRequest(const Transfer& transfer, Offset max_bytes, const Graph& graph)
      : sends_(transfer.sends, graph.n_sends, max_bytes),
        receives_(transfer.receives, graph.n_receives, max_bytes) {
    send_buffer_.resize(end_of(transfer.sends));
    recv_buffer_.resize(end_of(transfer.receives));
    mpi::check(
        MPI_Neighbor_alltoallw_init(send_buffer_.data(), sends_.counts.data(), sends_.places.data(),
                                    sends_.types.data(), recv_buffer_.data(),
                                    receives_.counts.data(), receives_.places.data(),
                                    receives_.types.data(), graph.get(), MPI_INFO_NULL, &request_),
        "MPI_Neighbor_alltoallw_init");
  }
  ~CollectiveRequest() {
    if (!mpi::is_finalized()) MPI_Request_free(&request_);
  }
  CollectiveRequest(const CollectiveRequest&) = delete;
  CollectiveRequest& operator=(const CollectiveRequest&) = delete;

  void start(const Transfer& transfer) {
    for (const Part& part : transfer.sends) {
      std::copy_n(transfer.send_data + part.begin, part.bytes, send_buffer_.data() + part.begin);
    }
    mpi::check(MPI_Start(&request_), "MPI_Start");
  }
  void finish(const Transfer& transfer) {
    mpi::check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
    for (const Part& part : transfer.receives) {
      std::copy_n(recv_buffer_.data() + part.begin, part.bytes, transfer.recv_data + part.begin);
    }
  }

 private:
  static std::size_t end_of(std::span<const Part> parts) {
    Offset end = 0;
    for (const Part& part : parts) end = std::max(end, part.begin + part.bytes);
    return static_cast<std::size_t>(end);
  }

  PartTypes sends_, receives_;
  std::vector<std::byte> send_buffer_, recv_buffer_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class PersistentNeighborhood : public Channel {
 public:
  PersistentNeighborhood(Setting setting, Neighbours neighbours)
      : setting_(std::move(setting)),
        neighbours_(std::move(neighbours)),
        graph_(*setting_.comm, neighbours_) {}

  void start(const Transfer& transfer) override {
    count_messages(*setting_.comm, neighbours_, transfer);
    transfer_ = transfer;
    // Kept by the size of an entry, which all ranks know alike; what varies is made anew.
    std::unique_ptr<CollectiveRequest>& request = requests_[transfer.item_bytes];
    if (!request || transfer.item_bytes == 0) {
      request = std::make_unique<CollectiveRequest>(transfer, setting_.max_message_bytes, graph_);
    }
    current_ = request.get();
    current_->start(transfer);
  }
  void finish() override { current_->finish(transfer_); }

 private:
  Setting setting_;
  Neighbours neighbours_;
  Graph graph_;
  std::map<std::size_t, std::unique_ptr<CollectiveRequest> > requests_;
  CollectiveRequest* current_ = nullptr;
  Transfer transfer_;
};

}  // namespace

std::unique_ptr<Channel> persistent_neighborhood(Setting setting, Neighbours neighbours) {
  return std::make_unique<PersistentNeighborhood>(std::move(setting), std::move(neighbours));
}

#else

// NOLINTNEXTLINE(performance-unnecessary-value-param)
std::unique_ptr<Channel> persistent_neighborhood(Setting /*setting*/, Neighbours /*neighbours*/) {
  return nullptr;
}

#endif
#endif

namespace {

std::string lacks_neighborhoods(const mpi::Comm& /*comm*/) {
  if (has_neighborhood_collectives) return {};
  return "this MPI has no neighbourhood collectives; choose point_to_point";
}

/// Of what the library was compiled with and what it runs with, the lesser.
int standard_version() {
  int version = 0;
  int subversion = 0;
  mpi::check(MPI_Get_version(&version, &subversion), "MPI_Get_version");
  return std::min(version, MPI_VERSION);
}

std::string lacks_persistent_neighborhoods(const mpi::Comm& comm) {
  if (standard_version() >= 4) return lacks_neighborhoods(comm);
  return "needs MPI 4, which " + mpi::library_version() +
         " is not; choose neighborhood or persistent";
}

}  // namespace

const TransportMethod& neighborhood_method() {
  static const TransportMethod method = {
      {"neighborhood", "a nonblocking neighbourhood collective", ""},
      true,
      "",
      true,
      false,
      lacks_neighborhoods,
      neighborhood};
  return method;
}

const TransportMethod& persistent_neighborhood_method() {
  static const TransportMethod method = {
      {"persistent_neighborhood", "the same, made once and started again; needs MPI 4", ""},
      true,
      "",
      true,
      true,
      lacks_persistent_neighborhoods,
      persistent_neighborhood};
  return method;
}

}  // namespace nodewise::comm::transport
