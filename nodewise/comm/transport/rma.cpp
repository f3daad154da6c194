#include <algorithm>
#include <utility>

#include "nodewise/comm/transport/channel.hpp"
#include "nodewise/comm/transport/requests.hpp"

namespace nodewise::comm::transport {

namespace {

/// MPICH 4.0 gives ranks of a node that share a window different ideas of where odd-sized parts
/// begin.
Offset rounded_up(Offset bytes) {
  constexpr Offset line = 64;
  return (bytes + line - 1) / line * line;
}

/// Memory that the neighbours put into.
class Window {
 public:
  Window() = default;
  /// Collective.
  Window(const mpi::Comm& comm, Offset bytes) {
    mpi::check(MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm.get(), &data_,
                                &window_),
               "MPI_Win_allocate");
    mpi::check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  }
  ~Window() {  // collective
    if (!is_finalized() && window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  }
  Window(Window&& other) noexcept { *this = std::move(other); }
  Window& operator=(Window&& other) noexcept {
    std::swap(window_, other.window_);
    std::swap(data_, other.data_);
    return *this;
  }
  MPI_Win get() const { return window_; }
  const std::byte* data() const { return data_; }
  explicit operator bool() const { return window_ != MPI_WIN_NULL; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  std::byte* data_ = nullptr;
};

class Group {
 public:
  Group(const mpi::Comm& comm, const std::vector<int>& ranks) {
    MPI_Group all = MPI_GROUP_NULL;
    mpi::check(MPI_Comm_group(comm.get(), &all), "MPI_Comm_group");
    const int status =
        MPI_Group_incl(all, narrow<int>(ranks.size(), "neighbours:"), ranks.data(), &group_);
    MPI_Group_free(&all);
    mpi::check(status, "MPI_Group_incl");
  }
  ~Group() {
    if (!is_finalized() && group_ != MPI_GROUP_EMPTY) MPI_Group_free(&group_);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  MPI_Group get() const { return group_; }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

class Rma : public Channel {
 public:
  Rma(Setting setting, Neighbours neighbours)
      : setting_(std::move(setting)),
        neighbours_(std::move(neighbours)),
        senders_(*setting_.comm, neighbours_.recv_ranks),
        receivers_(*setting_.comm, neighbours_.send_ranks) {}

  void start(const Transfer& transfer) override {
    transfer_ = transfer;
    prepare();
    MPI_Win window = window_.get();
    mpi::check(MPI_Win_post(senders_.get(), 0, window), "MPI_Win_post");
    mpi::check(MPI_Win_start(receivers_.get(), 0, window), "MPI_Win_start");
    for (std::size_t i = 0; i < transfer.sends.size(); ++i) {
      put(transfer.sends[i], neighbours_.send_ranks[i], place_of(i));
    }
  }

  void finish() override {
    mpi::check(MPI_Win_complete(window_.get()), "MPI_Win_complete");
    mpi::check(MPI_Win_wait(window_.get()), "MPI_Win_wait");
    for (const Part& part : transfer_.receives) {
      std::copy_n(window_.data() + part.begin, part.bytes, transfer_.recv_data + part.begin);
    }
  }

 private:
  /// A window large enough, and where the messages go in those of the receivers. While entries have
  /// a size that all ranks know, both are kept: no rank makes a window that others do not.
  void prepare() {
    const bool varies = transfer_.item_bytes == 0;
    if (!varies && transfer_.item_bytes <= window_item_bytes_) return;
    Offset end = 0;
    for (const Part& part : transfer_.receives) end = std::max(end, part.begin + part.bytes);
    window_ = Window();  // the old one goes first
    window_ = Window(*setting_.comm, rounded_up(end));
    window_item_bytes_ = transfer_.item_bytes;
    learn_places();
  }

  /// One small message from every receiver to every sender.
  void learn_places() {
    const auto unit = static_cast<Offset>(std::max<std::size_t>(transfer_.item_bytes, 1));
    std::vector<Offset> mine;
    for (const Part& part : transfer_.receives) mine.push_back(part.begin / unit);
    places_.resize(neighbours_.send_ranks.size());
    std::vector<MPI_Request> requests;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      mpi::check(
          MPI_Irecv(&places_[i], 1, MPI_INT64_T, neighbours_.send_ranks[i], mpi::tag_exchange,
                    setting_.comm->get(), &requests.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Irecv");
    }
    for (std::size_t i = 0; i < mine.size(); ++i) {
      mpi::check(MPI_Isend(&mine[i], 1, MPI_INT64_T, neighbours_.recv_ranks[i], mpi::tag_exchange,
                           setting_.comm->get(), &requests.emplace_back(MPI_REQUEST_NULL)),
                 "MPI_Isend");
      setting_.comm->count_message(neighbours_.recv_ranks[i], sizeof(Offset));
    }
    wait_all(requests);
  }

  Offset place_of(std::size_t i) const {
    return places_[i] * static_cast<Offset>(std::max<std::size_t>(transfer_.item_bytes, 1));
  }

  void put(const Part& part, int rank, Offset place) {
    for_each_piece(part, setting_.max_message_bytes, [&](Offset at, int count) {
      mpi::check(
          MPI_Put(transfer_.send_data + at, count, MPI_BYTE, rank,
                  static_cast<MPI_Aint>(place + (at - part.begin)), count, MPI_BYTE, window_.get()),
          "MPI_Put");
    });
  }

  Setting setting_;
  Neighbours neighbours_;
  Group senders_, receivers_;
  Window window_;
  std::size_t window_item_bytes_ = 0;
  std::vector<Offset> places_;  // in entries, or in bytes where lengths vary
  Transfer transfer_;
};

}  // namespace

std::unique_ptr<Channel> rma(Setting setting, Neighbours neighbours) {
  return std::make_unique<Rma>(std::move(setting), std::move(neighbours));
}

}  // namespace nodewise::comm::transport
