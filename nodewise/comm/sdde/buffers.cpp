#include "nodewise/comm/sdde/buffers.hpp"

#include <algorithm>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm::sdde {

std::byte* ReceiveBuffers::make_room(int source, int bytes, bool complete) {
  const auto open = std::find_if(incomplete_.begin(), incomplete_.end(),
                                 [&](std::size_t i) { return messages_[i].source == source; });
  const bool is_new = open == incomplete_.end();
  const std::size_t i = is_new ? messages_.size() : *open;
  if (is_new) messages_.emplace_back().source = source;
  Message& message = messages_[i];
  message.complete = complete;
  if (is_new && !complete) incomplete_.push_back(i);
  if (!is_new && complete) incomplete_.erase(open);
  const std::size_t begin = message.data.size();
  message.data.resize(begin + static_cast<std::size_t>(bytes));
  return message.data.data() + begin;
}

bool ReceiveBuffers::begin_to_receive(const Channel& channel, const MPI_Status& found,
                                      MPI_Request& request) {
  int bytes = 0;
  mpi::check(MPI_Get_count(&found, MPI_BYTE, &bytes), "MPI_Get_count");
  std::byte* room = nullptr;
  const bool complete = bytes < channel.piece_bytes;
  if (complete) ++n_ended_;
  const auto error = mpi::error_of([&] { room = make_room(found.MPI_SOURCE, bytes, complete); });
  if (error) {
    failure_ = error;
    // Cut to nothing on purpose, so that what it returns means nothing.
    MPI_Recv(nullptr, 0, MPI_BYTE, found.MPI_SOURCE, channel.tag, channel.comm.get(),
             MPI_STATUS_IGNORE);
  } else {
    mpi::check(MPI_Irecv(room, bytes, MPI_BYTE, found.MPI_SOURCE, channel.tag, channel.comm.get(),
                         &request),
               "MPI_Irecv");
  }
  return complete;
}

void ReceiveBuffers::receive(const Channel& channel, const MPI_Status& found) {
  MPI_Request request = MPI_REQUEST_NULL;
  begin_to_receive(channel, found, request);
  mpi::check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

void ReceiveBuffers::receive_from(const Channel& channel, std::span<const int> sources) {
  std::vector<int> open(sources.begin(), sources.end());
  std::erase(open, channel.comm.rank());
  while (!open.empty()) {
    std::vector<MPI_Request> requests(open.size(), MPI_REQUEST_NULL);
    std::vector<int> unfinished;
    for (std::size_t i = 0; i < open.size(); ++i) {
      MPI_Status found;
      mpi::check(MPI_Probe(open[i], channel.tag, channel.comm.get(), &found), "MPI_Probe");
      if (!begin_to_receive(channel, found, requests[i])) unfinished.push_back(open[i]);
    }
    mpi::check(
        MPI_Waitall(narrow<int>(requests.size(), "receives"), requests.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
    open = std::move(unfinished);
  }
}

bool ReceiveBuffers::receive_any(const Channel& channel) {
  int there = 0;
  MPI_Status status;
  mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, channel.tag, channel.comm.get(), &there, &status),
             "MPI_Iprobe");
  if (there) receive(channel, status);
  return there != 0;
}

void ReceiveBuffers::take(int source, std::span<const std::byte> data) {
  ++n_ended_;
  const auto error = mpi::error_of([&] {
    Message& message = messages_.emplace_back();
    message.source = source;
    message.complete = true;
    message.data.assign(data.begin(), data.end());
  });
  if (error) failure_ = error;
}

void ReceiveBuffers::deliver(std::size_t item_bytes, const detail::SparseReceives& receives) {
  std::sort(messages_.begin(), messages_.end(),
            [](const Message& a, const Message& b) { return a.source < b.source; });
  receives.ranks.clear();
  receives.offsets.assign(1, 0);
  for (const Message& message : messages_) {
    const std::size_t items = message.data.size() / item_bytes;
    receives.ranks.push_back(message.source);
    receives.offsets.push_back(receives.offsets.back() + static_cast<Offset>(items));
  }
  std::byte* to = receives.room(static_cast<std::size_t>(receives.offsets.back()));
  for (const Message& message : messages_) {
    to = std::copy(message.data.begin(), message.data.end(), to);
  }
}

SendRequests::SendRequests(const Channel& channel, const detail::SparseSends& sends)
    : channel_(channel), sends_(sends) {
  Offset pieces = 0;
  for (std::size_t i = 0; i < sends.ranks.size(); ++i) {
    pieces += channel.n_pieces(static_cast<Offset>(message(i).size()));
  }
  requests_.reserve(static_cast<std::size_t>(pieces));
}

std::span<const std::byte> SendRequests::message(std::size_t i) const {
  const auto begin = static_cast<std::size_t>(sends_.offsets[i]) * sends_.item_bytes;
  const auto end = static_cast<std::size_t>(sends_.offsets[i + 1]) * sends_.item_bytes;
  return sends_.data.subspan(begin, end - begin);
}

void SendRequests::post_message(std::size_t i, bool synchronous) {
  std::span<const std::byte> rest = message(i);
  const auto send = synchronous ? MPI_Issend : MPI_Isend;
  for (Offset pieces = channel_.n_pieces(static_cast<Offset>(rest.size())); pieces > 0; --pieces) {
    const auto piece = std::min(rest.size(), static_cast<std::size_t>(channel_.piece_bytes));
    mpi::check(send(rest.data(), static_cast<int>(piece), MPI_BYTE, sends_.ranks[i], channel_.tag,
                    channel_.comm.get(), &requests_.emplace_back(MPI_REQUEST_NULL)),
               synchronous ? "MPI_Issend" : "MPI_Isend");
    channel_.comm.count_message(sends_.ranks[i], static_cast<std::int64_t>(piece));
    rest = rest.subspan(piece);
  }
}

void SendRequests::post(bool synchronous) {
  const int rank = channel_.comm.rank();
  const std::size_t n = sends_.ranks.size();
  // The nearest rank behind this one, whether or not the destinations ascend.
  const auto distance = [&](int to) {
    return to > rank ? to - rank : to - rank + channel_.comm.size();
  };
  const auto first = std::min_element(sends_.ranks.begin(), sends_.ranks.end(),
                                      [&](int a, int b) { return distance(a) < distance(b); });
  const auto start = static_cast<std::size_t>(first - sends_.ranks.begin());
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = start + k < n ? start + k : start + k - n;
    if (sends_.ranks[i] != rank) post_message(i, synchronous);
  }
}

void SendRequests::take_own(ReceiveBuffers& inbox) const {
  const int rank = channel_.comm.rank();
  const auto own = std::find(sends_.ranks.begin(), sends_.ranks.end(), rank);
  if (own == sends_.ranks.end()) return;
  inbox.take(rank, message(static_cast<std::size_t>(own - sends_.ranks.begin())));
}

bool SendRequests::cross() const {
  const mpi::Comm& comm = channel_.comm;
  return std::any_of(sends_.ranks.begin(), sends_.ranks.end(),
                     [&](int to) { return !comm.topology().same_node(comm.rank(), to); });
}

void count_wait(const Channel& channel, const SendRequests& outbox, const ReceiveBuffers& inbox,
                bool acknowledged) {
  const mpi::Comm& comm = channel.comm;
  const bool sent = outbox.cross();
  const bool received = std::any_of(
      inbox.messages().begin(), inbox.messages().end(),
      [&](const auto& message) { return !comm.topology().same_node(comm.rank(), message.source); });
  if (sent || received) comm.ledger().count_waits(sent && acknowledged ? 2 : 1);
}

bool SendRequests::done() {
  int flag = 0;
  mpi::check(MPI_Testall(narrow<int>(requests_.size(), "sends"), requests_.data(), &flag,
                         MPI_STATUSES_IGNORE),
             "MPI_Testall");
  return flag != 0;
}

void SendRequests::wait() {
  mpi::check(
      MPI_Waitall(narrow<int>(requests_.size(), "sends"), requests_.data(), MPI_STATUSES_IGNORE),
      "MPI_Waitall");
}

void SendRequests::count_pieces(std::span<std::int64_t> per_rank) const {
  for (std::size_t i = 0; i < sends_.ranks.size(); ++i) {
    if (sends_.ranks[i] == channel_.comm.rank()) continue;
    per_rank[static_cast<std::size_t>(sends_.ranks[i])] +=
        channel_.n_pieces(static_cast<Offset>(message(i).size()));
  }
}

}  // namespace nodewise::comm::sdde
