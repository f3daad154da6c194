#include <algorithm>
#include <list>
#include <utility>

#include "nodewise/comm/transport/channel.hpp"
#include "nodewise/comm/transport/requests.hpp"

namespace nodewise::comm::transport {

namespace {

/// The requests of one transfer, made once; they can be started while its arrays are where they
/// were and its parts as long.
class RequestSet {
 public:
  RequestSet(const Transfer& transfer, const Setting& setting, const Neighbours& neighbours)
      : send_data_(transfer.send_data),
        recv_data_(transfer.recv_data),
        sends_(transfer.sends.begin(), transfer.sends.end()),
        receives_(transfer.receives.begin(), transfer.receives.end()) {
    MPI_Comm comm = setting.comm->get();
    for (std::size_t i = 0; i < receives_.size(); ++i) {
      for_each_piece(receives_[i], setting.max_message_bytes, [&](Offset at, int count) {
        mpi::check(
            MPI_Recv_init(recv_data_ + at, count, MPI_BYTE, neighbours.recv_ranks[i],
                          mpi::tag_exchange, comm, &requests_.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Recv_init");
      });
    }
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      for_each_piece(sends_[i], setting.max_message_bytes, [&](Offset at, int count) {
        sent_.push_back({neighbours.send_ranks[i], count});
        mpi::check(
            MPI_Send_init(send_data_ + at, count, MPI_BYTE, neighbours.send_ranks[i],
                          mpi::tag_exchange, comm, &requests_.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Send_init");
      });
    }
  }
  ~RequestSet() {
    if (mpi::is_finalized()) return;
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }
  RequestSet(const RequestSet&) = delete;
  RequestSet& operator=(const RequestSet&) = delete;

  bool suits(const Transfer& transfer) const {
    return send_data_ == transfer.send_data && recv_data_ == transfer.recv_data &&
           std::equal(sends_.begin(), sends_.end(), transfer.sends.begin(), transfer.sends.end()) &&
           std::equal(receives_.begin(), receives_.end(), transfer.receives.begin(),
                      transfer.receives.end());
  }
  void start(const mpi::Comm& comm) {
    if (requests_.empty()) return;  // which not every MPI takes
    for (const Sent& message : sent_) comm.count_message(message.rank, message.bytes);
    mpi::check(MPI_Startall(narrow<int>(requests_.size(), "requests:"), requests_.data()),
               "MPI_Startall");
  }
  void wait() {
    mpi::check(MPI_Waitall(narrow<int>(requests_.size(), "requests:"), requests_.data(),
                           MPI_STATUSES_IGNORE),
               "MPI_Waitall");
  }

 private:
  struct Sent {
    int rank, bytes;
  };

  const std::byte* send_data_;
  std::byte* recv_data_;
  std::vector<Part> sends_, receives_;
  std::vector<Sent> sent_;
  std::vector<MPI_Request> requests_;
};

class Persistent : public Channel {
 public:
  Persistent(Setting setting, Neighbours neighbours)
      : setting_(std::move(setting)), neighbours_(std::move(neighbours)) {}

  void start(const Transfer& transfer) override {
    auto set = std::find_if(sets_.begin(), sets_.end(),
                            [&](const RequestSet& known) { return known.suits(transfer); });
    if (set == sets_.end()) {
      if (sets_.size() == max_sets) sets_.pop_back();
      set = sets_.emplace(sets_.begin(), transfer, setting_, neighbours_);
    }
    sets_.splice(sets_.begin(), sets_, set);  // the latest first
    sets_.front().start(*setting_.comm);
  }
  void finish() override { sets_.front().wait(); }

 private:
  /// A multigrid cycle exchanges a few arrays in turn. Older ones are forgotten.
  static constexpr std::size_t max_sets = 4;

  Setting setting_;
  Neighbours neighbours_;
  std::list<RequestSet> sets_;
};

}  // namespace

std::unique_ptr<Channel> persistent(Setting setting, Neighbours neighbours) {
  return std::make_unique<Persistent>(std::move(setting), std::move(neighbours));
}

const TransportMethod& persistent_method() {
  static const TransportMethod method = {
      {"persistent", "requests made once and started again while the arrays stay where they are",
       ""},
      false,
      "",
      true,
      false,
      always_available,
      persistent};
  return method;
}

}  // namespace nodewise::comm::transport
