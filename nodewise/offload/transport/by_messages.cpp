// Copied by the core whose data it is, then sent by all that use its card, to whom it hands parts
// in messages.
#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/mpi/ledger.hpp"
#include "nodewise/offload/transport/make_in.hpp"
#include "nodewise/offload/transport/many_cores.hpp"
#include "nodewise/offload/transport/shared_adder.hpp"

namespace nodewise::offload {

namespace {

/// The plan by which members hand over: from the items of `send_offsets` but the first member's,
/// this rank's own, to those of `receive_offsets` but the first member's.
comm::Plan hand_over_plan(const Members& members, std::span<const LocalIndex> send_offsets,
                          std::span<const LocalIndex> receive_offsets) {
  comm::Plan plan;
  comm::Stage& stage = plan.stages.emplace_back();
  plan.n_owned = send_offsets.back();
  plan.n_ghosts = receive_offsets.back() - receive_offsets[1];
  for (std::size_t m = 1; m < static_cast<std::size_t>(members.n); ++m) {
    const int rank = members.rank(static_cast<int>(m));
    if (send_offsets[m + 1] > send_offsets[m]) {
      stage.send_ranks.push_back(rank);
      for (LocalIndex k = send_offsets[m]; k < send_offsets[m + 1]; ++k) {
        stage.send_entries.push_back(k);
      }
      stage.send_offsets.push_back(static_cast<LocalIndex>(stage.send_entries.size()));
    }
    if (receive_offsets[m + 1] > receive_offsets[m]) {
      stage.recv_ranks.push_back(rank);
      stage.recv_offsets.push_back(receive_offsets[m + 1] - receive_offsets[1]);
    }
  }
  return plan;
}

template <class Space>
class ByMessages final : public HandOver<Space> {
 public:
  using Bytes = device::Staging<std::byte, Space>;

  ByMessages(const CarrierCall<Space>& call, const Shares& shares)
      : card_(call.card), shares_(shares) {
    const Members members(*call.sharing);
    const auto exchange = [&](std::span<const LocalIndex> from, std::span<const LocalIndex> to) {
      return std::make_unique<comm::Exchange>(call.sharing, hand_over_plan(members, from, to),
                                              call.transport);
    };
    const auto make = [&] {
      spread_ = exchange(shares.packed_offsets, shares.taken_offsets);
      collect_ = exchange(shares.brought_offsets, shares.arrived_offsets);
    };
    mpi::agree(*call.comm, mpi::error_of(make));
    mpi::collectively(*call.comm, [&] {
      const auto room = [&](const std::vector<LocalIndex>& offsets) {
        return static_cast<std::size_t>(offsets.back()) * call.most_item_bytes;
      };
      packed_ = device::Buffer<std::byte, Space>(room(shares.packed_offsets));
      arrived_ = device::Buffer<std::byte, Space>(room(shares.arrived_offsets));
      sent_ = Bytes(packed_.size());
      received_ = Bytes(arrived_.size());
    });
  }

  std::byte* packed() override { return packed_.data(); }
  std::byte* arrived() override { return arrived_.data(); }

  void take(std::byte* taken, std::size_t item_bytes) override {
    card_.local([&] {
      if (sent_.size() == 0) return;
      card_.queue.copy_out(sent_.data(), packed_.data(),
                           bytes_of(shares_.packed_offsets, item_bytes));
      card_.queue.wait();
    });
    pass(*spread_, sent_.data(), shares_.packed_offsets, taken, item_bytes);
  }

  void give(const std::byte* brought, std::size_t item_bytes) override {
    pass(*collect_, brought, shares_.brought_offsets, received_.data(), item_bytes);
    card_.local([&] {
      if (received_.size() == 0) return;
      card_.queue.copy_in(arrived_.data(), received_.data(),
                          bytes_of(shares_.arrived_offsets, item_bytes));
      card_.queue.wait();
    });
  }

  std::size_t bytes() const override { return packed_.bytes() + arrived_.bytes(); }

 private:
  static std::size_t bytes_of(const std::vector<LocalIndex>& offsets, std::size_t item_bytes) {
    return static_cast<std::size_t>(offsets.back()) * item_bytes;
  }

  /// What is this rank's own comes first; the rest comes in messages.
  static void pass(comm::Exchange& exchange, const std::byte* from,
                   const std::vector<LocalIndex>& offsets, std::byte* to, std::size_t item_bytes) {
    const std::size_t own = static_cast<std::size_t>(offsets[1]) * item_bytes;
    if (own > 0) std::memcpy(to, from, own);
    exchange.forward(std::span<const std::byte>(from, bytes_of(offsets, item_bytes)),
                     std::span<std::byte>(to + own, 0), static_cast<int>(item_bytes));
  }

  Card<Space>& card_;
  const Shares& shares_;
  std::unique_ptr<comm::Exchange> spread_, collect_;
  device::Buffer<std::byte, Space> packed_, arrived_;
  Bytes sent_, received_;
};

template <class Space>
std::unique_ptr<HandOver<Space>> hand_over_by_messages(const CarrierCall<Space>& call,
                                                       const Shares& shares) {
  return std::make_unique<ByMessages<Space>>(call, shares);
}

/// Each member of a card gets its part of the vectors of the others in a message, adds it up, and
/// sends the sums back: two collectives of the card.
template <class Space>
class AdderByMessages final : public Adder<Space> {
 public:
  explicit AdderByMessages(const AdderCall<Space>& call)
      : card_(call.card), sharing_(call.sharing), parts_(call.comm, call.sharing) {
    mpi::collectively(*call.comm, [&] {
      narrow<int>(call.most, "numbers to add up:");
      values_ = device::Staging<double, Space>(call.most);
      const auto members = static_cast<std::size_t>(sharing_->size());
      counts_.resize(members);
      begins_.resize(members);
    });
  }

  void add(double* values, std::size_t n) override {
    card_.local([&] {
      card_.queue.copy_out(values_.data(), values, n * sizeof(double));
      card_.queue.wait();
    });
    for (int k = 0; k < sharing_->size(); ++k) {
      const auto u = static_cast<std::size_t>(k);
      begins_[u] = static_cast<int>(parts_.begin(k, n));
      counts_[u] = static_cast<int>(parts_.begin(k + 1, n)) - begins_[u];
    }
    const int me = sharing_->rank();
    double* const mine = values_.data() + begins_[static_cast<std::size_t>(me)];
    const auto n_mine = static_cast<std::size_t>(counts_[static_cast<std::size_t>(me)]);
    collect(mine);
    parts_.add_over_cards(std::span<double>(mine, n_mine));
    spread();
    card_.local([&] {
      card_.queue.copy_in(values, values_.data(), n * sizeof(double));
      card_.queue.wait();
    });
  }

 private:
  /// The sums of the card's ranks in this rank's part, at its place.
  void collect(double* mine) {
    const mpi::CollectiveCall call(*sharing_);
    sums_.resize(static_cast<std::size_t>(counts_[static_cast<std::size_t>(sharing_->rank())]));
    mpi::check(MPI_Reduce_scatter(values_.data(), sums_.data(), counts_.data(), MPI_DOUBLE, MPI_SUM,
                                  sharing_->get()),
               "MPI_Reduce_scatter");
    std::copy(sums_.begin(), sums_.end(), mine);
  }
  void spread() {
    const mpi::CollectiveCall call(*sharing_);
    mpi::check(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values_.data(), counts_.data(),
                              begins_.data(), MPI_DOUBLE, sharing_->get()),
               "MPI_Allgatherv");
  }

  Card<Space>& card_;
  std::shared_ptr<const mpi::Comm> sharing_;
  SumParts parts_;
  device::Staging<double, Space> values_;
  std::vector<int> counts_, begins_;  // of the members' parts
  std::vector<double> sums_;
};

template <class Space>
class ManyCoresByMessages final : public ManyCores<Space> {
 public:
  explicit ManyCoresByMessages(const CarrierCall<Space>& call)
      : ManyCores<Space>(call, hand_over_by_messages<Space>) {}
};

}  // namespace

const DeviceTransportMethod& many_cores_method() {
  static const DeviceTransportMethod method = {
      {"many_cores",
       "copied by one core, then sent by all that use its card, to which it hands parts",
       "Bienz, Olson, Gropp, Lockhart 2021"},
      false,
      true,
      make_carriers<ManyCoresByMessages>(),
      make_adders<AdderByMessages>(),
      []() -> const model::GpuTransport& { return modelled("many_cores"); }};
  return method;
}

}  // namespace nodewise::offload
