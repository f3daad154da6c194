#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/comm/transport/channel.hpp"
#include "nodewise/comm/transport/requests.hpp"
#include "nodewise/mpi/window.hpp"

namespace nodewise::comm::transport {

namespace {

/// In every run a receiver says that its window may be written, and a sender that it has been: a
/// message without data each.
class Rma : public Channel {
 public:
  Rma(Setting setting, Neighbours neighbours)
      : setting_(std::move(setting)), neighbours_(std::move(neighbours)) {}

  void start(const Transfer& transfer) override {
    transfer_ = transfer;
    prepare();
    signal(neighbours_.recv_ranks, neighbours_.send_ranks);
    for (std::size_t i = 0; i < transfer.sends.size(); ++i) {
      put(transfer.sends[i], neighbours_.send_ranks[i], place_of(i));
    }
  }

  void finish() override {
    for (const int rank : neighbours_.send_ranks) {
      mpi::check(MPI_Win_flush(rank, window_->get()), "MPI_Win_flush");
    }
    signal(neighbours_.send_ranks, neighbours_.recv_ranks);
    window_->sync();
    for (const Part& part : transfer_.receives) {
      std::copy_n(window_->memory().data() + part.begin, part.bytes,
                  transfer_.recv_data + part.begin);
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
    window_.reset();  // the old one goes first
    window_.emplace(*setting_.comm, end);
    window_item_bytes_ = transfer_.item_bytes;
    learn_places();
  }

  /// One small message from every receiver to every sender.
  void learn_places() {
    const auto unit = static_cast<Offset>(std::max<std::size_t>(transfer_.item_bytes, 1));
    std::vector<Offset> mine;
    for (const Part& part : transfer_.receives) mine.push_back(part.begin / unit);
    places_.resize(neighbours_.send_ranks.size());
    for (std::size_t i = 0; i < places_.size(); ++i) {
      mpi::check(
          MPI_Irecv(&places_[i], 1, MPI_INT64_T, neighbours_.send_ranks[i], mpi::tag_exchange,
                    setting_.comm->get(), &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Irecv");
    }
    for (std::size_t i = 0; i < mine.size(); ++i) {
      mpi::check(MPI_Isend(&mine[i], 1, MPI_INT64_T, neighbours_.recv_ranks[i], mpi::tag_exchange,
                           setting_.comm->get(), &requests_.emplace_back(MPI_REQUEST_NULL)),
                 "MPI_Isend");
      setting_.comm->count_message(neighbours_.recv_ranks[i], sizeof(Offset));
    }
    wait_all(requests_);
  }

  /// Tells the ranks `to`, and waits until the ranks `from` have told this one. Like what MPI's own
  /// synchronisation would send, these are no messages of the exchange, and are not counted.
  void signal(std::span<const int> to, std::span<const int> from) {
    for (const int rank : from) {
      mpi::check(MPI_Irecv(nullptr, 0, MPI_BYTE, rank, mpi::tag_exchange, setting_.comm->get(),
                           &requests_.emplace_back(MPI_REQUEST_NULL)),
                 "MPI_Irecv");
    }
    for (const int rank : to) {
      mpi::check(MPI_Isend(nullptr, 0, MPI_BYTE, rank, mpi::tag_exchange, setting_.comm->get(),
                           &requests_.emplace_back(MPI_REQUEST_NULL)),
                 "MPI_Isend");
    }
    wait_all(requests_);
  }

  Offset place_of(std::size_t i) const {
    return places_[i] * static_cast<Offset>(std::max<std::size_t>(transfer_.item_bytes, 1));
  }

  void put(const Part& part, int rank, Offset place) {
    for_each_piece(part, setting_.max_message_bytes, [&](Offset at, int count) {
      mpi::check(MPI_Put(transfer_.send_data + at, count, MPI_BYTE, rank,
                         static_cast<MPI_Aint>(place + (at - part.begin)), count, MPI_BYTE,
                         window_->get()),
                 "MPI_Put");
    });
  }

  Setting setting_;
  Neighbours neighbours_;
  std::optional<mpi::Window> window_;
  std::size_t window_item_bytes_ = 0;
  std::vector<Offset> places_;  // in entries, or in bytes where lengths vary
  std::vector<MPI_Request> requests_;
  Transfer transfer_;
};

}  // namespace

std::unique_ptr<Channel> rma(Setting setting, Neighbours neighbours) {
  return std::make_unique<Rma>(std::move(setting), std::move(neighbours));
}

const TransportMethod& rma_method() {
  static const TransportMethod method = {
      {"rma", "puts into the receivers' windows, synchronised among neighbours", ""},
      true,
      "",
      false,
      true,
      always_available,
      rma};
  return method;
}

}  // namespace nodewise::comm::transport
