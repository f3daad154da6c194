#include "nodewise/calibrate/ping_pong.hpp"

#include <algorithm>

#include "nodewise/base/types.hpp"

namespace nodewise::calibrate {

namespace {

int count(double bytes) {
  return narrow<int>(static_cast<std::int64_t>(bytes), "message size");
}

constexpr int meeting = 32000;  // above all tags of messages that are measured

}  // namespace

Talk::Talk(const mpi::Comm& comm, double most_bytes)
    : comm_(comm),
      own_outgoing_(static_cast<std::size_t>(most_bytes), '\1'),
      own_incoming_(static_cast<std::size_t>(most_bytes), '\2'),
      outgoing_(own_outgoing_),
      incoming_(own_incoming_) {}

Talk::Talk(const mpi::Comm& comm, std::span<char> outgoing, std::span<char> incoming)
    : comm_(comm), outgoing_(outgoing), incoming_(incoming) {}

bool Talk::join(const std::vector<RankPair>& pairs) {
  other_ = -1;
  for (const auto& [first, second] : pairs) {
    if (other_ >= 0 || (first != comm_.rank() && second != comm_.rank())) continue;
    is_first_ = first == comm_.rank();
    other_ = is_first_ ? second : first;
  }
  return other_ >= 0;
}

void Talk::send(double bytes, int tag) {
  mpi::check(MPI_Send(outgoing_.data(), count(bytes), MPI_BYTE, other_, tag, comm_.get()),
             "MPI_Send");
}

void Talk::receive(double bytes, int tag) {
  mpi::check(MPI_Recv(incoming_.data(), count(bytes), MPI_BYTE, other_, tag, comm_.get(),
                      MPI_STATUS_IGNORE),
             "MPI_Recv");
}

void Talk::meet() {
  mpi::check(MPI_Sendrecv(nullptr, 0, MPI_BYTE, other_, meeting, nullptr, 0, MPI_BYTE, other_,
                          meeting, comm_.get(), MPI_STATUS_IGNORE),
             "MPI_Sendrecv");
}

double Talk::ping_pong(double bytes, int repeats) {
  meet();
  const Timer timer;
  for (int k = 0; k < repeats; ++k) {
    if (is_first_) {
      send(bytes);
      receive(bytes);
    } else {
      receive(bytes);
      send(bytes);
    }
  }
  return is_first_ ? timer.seconds() / (2 * repeats) : 0;
}

void Talk::start_send(double bytes, int tag) {
  requests_.push_back(MPI_REQUEST_NULL);
  mpi::check(MPI_Isend(outgoing_.data(), count(bytes), MPI_BYTE, other_, tag, comm_.get(),
                       &requests_.back()),
             "MPI_Isend");
}

void Talk::start_receive(double bytes, int tag) {
  // Messages under way together arrive in places of their own.
  const std::size_t at = requests_.size() * static_cast<std::size_t>(bytes);
  const std::size_t start = at + static_cast<std::size_t>(bytes) <= incoming_.size() ? at : 0;
  requests_.push_back(MPI_REQUEST_NULL);
  mpi::check(MPI_Irecv(incoming_.data() + start, count(bytes), MPI_BYTE, other_, tag, comm_.get(),
                       &requests_.back()),
             "MPI_Irecv");
}

void Talk::wait() {
  mpi::check(MPI_Waitall(narrow<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
             "MPI_Waitall");
  requests_.clear();
}

void Talk::send_many(int n, double bytes) {
  for (int k = 0; k < n; ++k) start_send(bytes, k);
  wait();
}

void Talk::receive_many(int n, double bytes, bool reversed) {
  for (int k = 0; k < n; ++k) start_receive(bytes, reversed ? n - 1 - k : k);
  wait();
}

double Talk::high_volume(int n, double bytes, bool reversed) {
  meet();
  const Timer timer;
  if (is_first_) {
    send_many(n, bytes);
    receive_many(n, bytes, reversed);
  } else {
    receive_many(n, bytes, reversed);
    send_many(n, bytes);
  }
  return is_first_ ? timer.seconds() / 2 : 0;
}

}  // namespace nodewise::calibrate
