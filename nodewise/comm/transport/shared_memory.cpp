#include <algorithm>
#include <utility>

#include "nodewise/comm/transport/channel.hpp"
#include "nodewise/comm/transport/requests.hpp"

namespace nodewise::comm::transport {

namespace {

/// One segment of memory for each rank of a node; all read all.
class Segments {
 public:
  Segments() = default;
  /// Collective over the node.
  Segments(const mpi::Comm& node, std::size_t bytes) {
    mpi::check(MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, node.get(),
                                       &mine_, &window_),
               "MPI_Win_allocate_shared");
    mpi::check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    mpi::check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
  }
  ~Segments() {  // collective over the node
    if (mpi::is_finalized() || window_ == MPI_WIN_NULL) return;
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  Segments(Segments&& other) noexcept { *this = std::move(other); }
  Segments& operator=(Segments&& other) noexcept {
    std::swap(window_, other.window_);
    std::swap(mine_, other.mine_);
    return *this;
  }

  std::byte* mine() const { return mine_; }
  const std::byte* of(int place_on_node) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    std::byte* data = nullptr;
    mpi::check(MPI_Win_shared_query(window_, place_on_node, &bytes, &unit, &data),
               "MPI_Win_shared_query");
    return data;
  }
  /// Between stores and a synchronisation of the ranks, and between that and loads.
  void memory_barrier() const { mpi::check(MPI_Win_sync(window_), "MPI_Win_sync"); }
  explicit operator bool() const { return window_ != MPI_WIN_NULL; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  std::byte* mine_ = nullptr;
};

/// A segment holds two halves used in turn, so that one barrier a run is enough: when a rank writes
/// a half again, all have passed the barrier of the run between, and had read before. A half begins
/// with the places of its messages.
class SharedMemory : public Channel {
 public:
  SharedMemory(Setting setting, Neighbours neighbours)
      : setting_(std::move(setting)), neighbours_(std::move(neighbours)) {
    for (int& rank : neighbours_.send_ranks) rank = place_on_node(rank);
    for (int& rank : neighbours_.recv_ranks) rank = place_on_node(rank);
    learn_numbers();
  }

  void start(const Transfer& transfer) override {
    transfer_ = transfer;
    make_room();
    half_ = 1 - half_;
    write();
    segments_.memory_barrier();
    mpi::check(MPI_Ibarrier(node().get(), &barrier_), "MPI_Ibarrier");
  }

  void finish() override {
    mpi::check(MPI_Wait(&barrier_, MPI_STATUS_IGNORE), "MPI_Wait");
    segments_.memory_barrier();
    for (std::size_t i = 0; i < transfer_.receives.size(); ++i) {
      const Part& part = transfer_.receives[i];
      if (part.bytes == 0) continue;
      const Source& source = sources_[i];
      const std::byte* half = source.segment + half_ * source.half_bytes;
      Offset place = 0;
      std::copy_n(half + static_cast<std::size_t>(source.number) * sizeof(Offset), sizeof(Offset),
                  reinterpret_cast<std::byte*>(&place));
      std::copy_n(half + place, part.bytes, transfer_.recv_data + part.begin);
    }
  }

 private:
  struct Source {
    std::int64_t number = 0;  // which of the sender's messages it is
    const std::byte* segment = nullptr;
    std::size_t half_bytes = 0;
  };

  const mpi::Comm& node() const { return setting_.comm->node(); }
  int place_on_node(int rank) const {
    return static_cast<int>(setting_.comm->topology().place_on_node(rank));
  }

  /// Sends one number to everybody this rank sends to; returns those it gets.
  std::vector<std::int64_t> tell(std::span<const std::int64_t> numbers) const {
    std::vector<std::int64_t> told(neighbours_.recv_ranks.size());
    std::vector<MPI_Request> requests;
    for (std::size_t i = 0; i < told.size(); ++i) {
      mpi::check(MPI_Irecv(&told[i], 1, MPI_INT64_T, neighbours_.recv_ranks[i], mpi::tag_exchange,
                           node().get(), &requests.emplace_back(MPI_REQUEST_NULL)),
                 "MPI_Irecv");
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      mpi::check(
          MPI_Isend(&numbers[i], 1, MPI_INT64_T, neighbours_.send_ranks[i], mpi::tag_exchange,
                    node().get(), &requests.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
      node().count_message(neighbours_.send_ranks[i], sizeof(std::int64_t));
    }
    wait_all(requests);
    return told;
  }

  void learn_numbers() {
    std::vector<std::int64_t> numbers(neighbours_.send_ranks.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
    const auto told = tell(numbers);
    sources_.resize(told.size());
    for (std::size_t i = 0; i < told.size(); ++i) sources_[i].number = told[i];
  }

  std::size_t header_bytes() const { return neighbours_.send_ranks.size() * sizeof(Offset); }

  /// Larger segments where these are too small. Where entries have one size all ranks know when;
  /// where lengths vary the node agrees.
  void make_room() {
    std::size_t bytes = header_bytes();
    for (const Part& part : transfer_.sends) bytes += static_cast<std::size_t>(part.bytes);
    bool grow = !segments_;
    if (transfer_.item_bytes == 0) {
      grow = mpi::max(node(), bytes > half_bytes_ || grow ? 1 : 0) == 1;
    } else if (transfer_.item_bytes > entry_bytes_) {
      grow = true;
      entry_bytes_ = transfer_.item_bytes;
    }
    if (!grow) return;
    constexpr std::size_t alignment = 64;
    half_bytes_ = (std::max(bytes, half_bytes_) + alignment - 1) / alignment * alignment;
    segments_ = Segments();  // the old ones go first
    segments_ = Segments(node(), 2 * half_bytes_);
    const std::vector<std::int64_t> half_bytes(neighbours_.send_ranks.size(),
                                               static_cast<std::int64_t>(half_bytes_));
    const auto told = tell(half_bytes);
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      sources_[i].segment = segments_.of(neighbours_.recv_ranks[i]);
      sources_[i].half_bytes = static_cast<std::size_t>(told[i]);
    }
  }

  void write() const {
    std::byte* half = segments_.mine() + half_ * half_bytes_;
    auto place = static_cast<Offset>(header_bytes());
    for (std::size_t i = 0; i < transfer_.sends.size(); ++i) {
      const Part& part = transfer_.sends[i];
      std::copy_n(reinterpret_cast<const std::byte*>(&place), sizeof(Offset),
                  half + i * sizeof(Offset));
      std::copy_n(transfer_.send_data + part.begin, part.bytes, half + place);
      place += part.bytes;
    }
  }

  Setting setting_;
  Neighbours neighbours_;  // by their places on the node
  std::vector<Source> sources_;
  Segments segments_;
  std::size_t half_bytes_ = 0;
  std::size_t entry_bytes_ = 0;  // the largest that the segments have had to hold
  std::size_t half_ = 0;
  Transfer transfer_;
  MPI_Request barrier_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<Channel> shared_memory(Setting setting, Neighbours neighbours) {
  return std::make_unique<SharedMemory>(std::move(setting), std::move(neighbours));
}

namespace {

/// Collective. Asks MPI whether the ranks of each node, as the topology has it, share memory.
std::string cannot_share_memory(const mpi::Comm& comm) {
  const mpi::Comm& node = comm.node();
  MPI_Comm sharing = MPI_COMM_NULL;
  mpi::check(
      MPI_Comm_split_type(node.get(), MPI_COMM_TYPE_SHARED, node.rank(), MPI_INFO_NULL, &sharing),
      "MPI_Comm_split_type");
  int size = 0;
  MPI_Comm_size(sharing, &size);
  MPI_Comm_free(&sharing);
  if (mpi::min(comm, size == node.size() ? 1 : 0) == 1) return {};
  return "the ranks of a node, as the topology has it, cannot share memory; choose another "
         "transport";
}

}  // namespace

const TransportMethod& shared_memory_method() {
  static const TransportMethod method = {
      {"shared_memory",
       "through memory that the ranks of a node share; between nodes point_to_point", ""},
      true,
      "point_to_point",
      true,
      true,
      cannot_share_memory,
      shared_memory};
  return method;
}

}  // namespace nodewise::comm::transport
