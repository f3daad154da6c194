#include "nodewise/offload/known_messages.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace nodewise::offload {

namespace {

void check(std::span<const int> ranks, std::span<const Offset> offsets, int n_ranks) {
  const bool are_ranks = std::all_of(ranks.begin(), ranks.end(),
                                     [&](int rank) { return rank >= 0 && rank < n_ranks; });
  if (!are_ranks ||
      std::adjacent_find(ranks.begin(), ranks.end(), std::greater_equal<>()) != ranks.end()) {
    throw Error(ErrorCode::invalid_argument,
                "messages of devices: ranks must ascend, and be those of the communicator");
  }
  if (offsets.size() != ranks.size() + 1 || offsets.front() != 0 ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    throw Error(
        ErrorCode::invalid_argument,
        "messages of devices: one offset more than there are messages is needed, from 0 on");
  }
  narrow<LocalIndex>(offsets.back(), "items of a rank's messages:");
}

/// Calls f(number of the message, its length) for those with items that another rank has.
template <class F>
void for_others(std::span<const int> ranks, std::span<const Offset> offsets, int rank, const F& f) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] != rank && offsets[i + 1] > offsets[i]) {
      f(i, static_cast<LocalIndex>(offsets[i + 1] - offsets[i]));
    }
  }
}

comm::Plan plan_of(const MessageLengths& lengths, int rank) {
  comm::Plan plan;
  comm::Stage& stage = plan.stages.emplace_back();
  plan.n_owned = static_cast<LocalIndex>(lengths.send_offsets.back());
  for_others(lengths.send_ranks, lengths.send_offsets, rank, [&](std::size_t i, LocalIndex n) {
    stage.send_ranks.push_back(lengths.send_ranks[i]);
    const std::size_t before = stage.send_entries.size();
    stage.send_entries.resize(before + static_cast<std::size_t>(n));
    std::iota(stage.send_entries.begin() + static_cast<std::ptrdiff_t>(before),
              stage.send_entries.end(), static_cast<LocalIndex>(lengths.send_offsets[i]));
    stage.send_offsets.push_back(stage.send_offsets.back() + n);
  });
  for_others(lengths.recv_ranks, lengths.recv_offsets, rank, [&](std::size_t i, LocalIndex n) {
    stage.recv_ranks.push_back(lengths.recv_ranks[i]);
    stage.recv_offsets.push_back(stage.recv_offsets.back() + n);
  });
  plan.n_ghosts = stage.recv_offsets.back();
  return plan;
}

}  // namespace

template <class Space>
KnownMessages<Space>::KnownMessages(Card<Space>& card, std::shared_ptr<const mpi::Comm> comm,
                                    const Leaving& leaving, const MessageLengths& lengths,
                                    std::size_t item_bytes, const comm::Transport& transport)
    : card_(card), comm_(std::move(comm)), item_bytes_(item_bytes) {
  const comm::Plan plan = mpi::collectively(*comm_, [&] {
    check(lengths.send_ranks, lengths.send_offsets, comm_->size());
    check(lengths.recv_ranks, lengths.recv_offsets, comm_->size());
    find_own(lengths, comm_->rank());
    received_bytes_ = static_cast<std::size_t>(lengths.recv_offsets.back()) * item_bytes;
    if (own_.bytes > 0 && own_.bytes < received_bytes_) {
      received_ = device::Buffer<std::byte, Space>(received_bytes_ - own_.bytes);
    }
    return plan_of(lengths, comm_->rank());
  });
  if (comm_->size() == 1) return;
  require_available<Space>(*comm_, leaving.how, transport, leaving.trusts_mpi);
  carrier_ = (*leaving.how->make_carrier)(
      CarrierCall<Space>{card, comm_, leaving.sharing, plan, "direct", transport, item_bytes});
}

template <class Space>
void KnownMessages<Space>::find_own(const MessageLengths& lengths, int rank) {
  const auto find = [&](std::span<const int> ranks, std::span<const Offset> offsets) {
    const auto found = std::lower_bound(ranks.begin(), ranks.end(), rank);
    if (found == ranks.end() || *found != rank) return std::pair<Offset, Offset>(0, 0);
    const auto i = static_cast<std::size_t>(found - ranks.begin());
    return std::pair(offsets[i], offsets[i + 1] - offsets[i]);
  };
  const auto [from, n_sent] = find(lengths.send_ranks, lengths.send_offsets);
  const auto [to, n_received] = find(lengths.recv_ranks, lengths.recv_offsets);
  if (n_sent != n_received) {
    throw Error(
        ErrorCode::invalid_argument,
        "messages of devices: a rank sends itself another number of items than it receives");
  }
  own_ = {static_cast<std::size_t>(from) * item_bytes_, static_cast<std::size_t>(to) * item_bytes_,
          static_cast<std::size_t>(n_sent) * item_bytes_};
}

template <class Space>
void KnownMessages<Space>::run(const std::byte* send, std::byte* receive) {
  const bool in_place = received_.size() == 0;
  if (carrier_ != nullptr) {
    carrier_->forward(send, in_place ? receive : received_.data(), item_bytes_);
  }
  card_.local([&] {
    auto& queue = card_.queue;
    queue.copy_within(receive + own_.to, send + own_.from, own_.bytes);
    if (in_place) return;
    queue.copy_within(receive, received_.data(), own_.to);
    queue.copy_within(receive + own_.to + own_.bytes, received_.data() + own_.to,
                      received_bytes_ - own_.to - own_.bytes);
  });
}

template <class Space>
std::size_t KnownMessages<Space>::bytes() const {
  return received_.bytes() + (carrier_ == nullptr ? 0 : carrier_->bytes());
}

namespace {

/// By way of the host's sparse exchange.
template <class T, class Space>
DeviceMessages<T, Space> through_host(Card<Space>& card, const mpi::Comm& comm,
                                      std::span<const int> destinations,
                                      std::span<const Offset> offsets, const T* data,
                                      const comm::SparseOptions& options) {
  const auto sent = mpi::collectively(comm, [&] {
    std::vector<T> values(offsets.empty() ? 0 : static_cast<std::size_t>(offsets.back()));
    card.queue.copy_out(values.data(), data, values.size() * sizeof(T));
    card.queue.wait();
    return values;
  });
  auto got = comm::alltoallv_crs<T>(comm, destinations, offsets, sent, options);
  return mpi::collectively(comm, [&] {
    return DeviceMessages<T, Space>{
        std::move(got.ranks), std::move(got.offsets),
        device::Buffer<T, Space>(card.queue, std::span<const T>(got.data))};
  });
}

}  // namespace

template <class T, class Space>
DeviceMessages<T, Space> alltoallv_crs(Card<Space>& card,
                                       const std::shared_ptr<const mpi::Comm>& comm,
                                       const Leaving& leaving, std::span<const int> destinations,
                                       std::span<const Offset> offsets, const T* data,
                                       const comm::SparseOptions& options) {
  if (!leaving.how->passes_device_memory && !leaving.how->shares_cards) {
    return through_host<T>(card, *comm, destinations, offsets, data, options);
  }
  // The data go in the order of their destinations, of which the caller may have another.
  struct Sent {
    std::vector<int> ranks;
    std::vector<Offset> offsets = {0}, lengths;
    device::Buffer<T, Space> data;
  };
  Sent sent = mpi::collectively(*comm, [&] {
    Sent s;
    if (offsets.size() != destinations.size() + 1 || offsets.front() != 0 ||
        !std::is_sorted(offsets.begin(), offsets.end())) {
      throw Error(ErrorCode::invalid_argument, "sparse exchange: offsets do not describe the data");
    }
    std::vector<std::size_t> order(destinations.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return destinations[a] < destinations[b]; });
    s.data = device::Buffer<T, Space>(static_cast<std::size_t>(offsets.back()));
    for (const std::size_t i : order) {
      const Offset n = offsets[i + 1] - offsets[i];
      card.queue.copy_within(s.data.data() + s.offsets.back(), data + offsets[i],
                             static_cast<std::size_t>(n) * sizeof(T));
      s.ranks.push_back(destinations[i]);
      s.offsets.push_back(s.offsets.back() + n);
    }
    for (std::size_t i = 0; i < s.ranks.size(); ++i) {
      s.lengths.push_back(s.offsets[i + 1] - s.offsets[i]);
    }
    return s;
  });
  const auto lengths = comm::alltoall_crs<Offset>(*comm, sent.ranks, 1, sent.lengths, options);
  DeviceMessages<T, Space> got = mpi::collectively(*comm, [&] {
    DeviceMessages<T, Space> messages;
    messages.ranks = lengths.ranks;
    for (const Offset n : lengths.data) messages.offsets.push_back(messages.offsets.back() + n);
    messages.data = device::Buffer<T, Space>(static_cast<std::size_t>(messages.offsets.back()));
    return messages;
  });
  KnownMessages<Space> messages(card, comm, leaving,
                                {sent.ranks, sent.offsets, got.ranks, got.offsets}, sizeof(T));
  messages.run(reinterpret_cast<const std::byte*>(sent.data.data()),
               reinterpret_cast<std::byte*>(got.data.data()));
  card.local([&] { card.queue.wait(); });
  mpi::agree(*comm, card.local.take());
  return got;
}

#define NODEWISE_FOR_TYPE(T, Space)                                                                \
  template DeviceMessages<T, Space> alltoallv_crs(                                                 \
      Card<Space>&, const std::shared_ptr<const mpi::Comm>&, const Leaving&, std::span<const int>, \
      std::span<const Offset>, const T*, const comm::SparseOptions&);
#define NODEWISE_FOR_SPACE(Space)        \
  template class KnownMessages<Space>;   \
  NODEWISE_FOR_TYPE(std::int32_t, Space) \
  NODEWISE_FOR_TYPE(std::int64_t, Space) \
  NODEWISE_FOR_TYPE(float, Space)        \
  NODEWISE_FOR_TYPE(double, Space)
NODEWISE_FOR_SPACE(device::Host)
#ifdef NODEWISE_CUDA
NODEWISE_FOR_SPACE(device::Cuda)
#endif
#undef NODEWISE_FOR_SPACE
#undef NODEWISE_FOR_TYPE

}  // namespace nodewise::offload
