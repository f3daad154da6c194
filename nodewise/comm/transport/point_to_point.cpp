#include <algorithm>
#include <utility>

#include "nodewise/comm/transport/channel.hpp"
#include "nodewise/comm/transport/requests.hpp"

namespace nodewise::comm::transport {

namespace {

class PointToPoint : public Channel {
 public:
  PointToPoint(Setting setting, Neighbours neighbours)
      : setting_(std::move(setting)), neighbours_(std::move(neighbours)) {}

  void start(const Transfer& transfer) override {
    for (std::size_t i = 0; i < transfer.receives.size(); ++i) {
      receive(transfer.recv_data, transfer.receives[i], neighbours_.recv_ranks[i]);
    }
    for (std::size_t i = 0; i < transfer.sends.size(); ++i) {
      send(transfer.send_data, transfer.sends[i], neighbours_.send_ranks[i]);
    }
  }

  void finish() override { wait_all(requests_); }

 private:
  void send(const std::byte* data, const Part& part, int rank) {
    for_each_piece(part, setting_.max_message_bytes, [&](Offset at, int count) {
      mpi::check(MPI_Isend(data + at, count, MPI_BYTE, rank, mpi::tag_exchange,
                           setting_.comm->get(), &requests_.emplace_back(MPI_REQUEST_NULL)),
                 "MPI_Isend");
      setting_.comm->count_message(rank, count);
    });
  }
  void receive(std::byte* data, const Part& part, int rank) {
    for_each_piece(part, setting_.max_message_bytes, [&](Offset at, int count) {
      mpi::check(MPI_Irecv(data + at, count, MPI_BYTE, rank, mpi::tag_exchange,
                           setting_.comm->get(), &requests_.emplace_back(MPI_REQUEST_NULL)),
                 "MPI_Irecv");
    });
  }

  Setting setting_;
  Neighbours neighbours_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<Channel> point_to_point(Setting setting, Neighbours neighbours) {
  return std::make_unique<PointToPoint>(std::move(setting), std::move(neighbours));
}

const TransportMethod& point_to_point_method() {
  static const TransportMethod method = {{"point_to_point", "nonblocking sends and receives", ""},
                                         false,
                                         "",
                                         true,
                                         false,
                                         always_available,
                                         point_to_point};
  return method;
}

}  // namespace nodewise::comm::transport
