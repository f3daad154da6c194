// Copied and sent by all that use a card, each its part from memory of the card that they all
// reach.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/device/shared_memory.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/offload/transport/make_in.hpp"
#include "nodewise/offload/transport/many_cores.hpp"
#include "nodewise/offload/transport/shared_adder.hpp"

namespace nodewise::offload {

namespace {

/// Memory of the members of a card, made by each and opened by all.
template <class Space>
class MemberMemory {
 public:
  using Memory = device::SharedMemory<Space>;

  /// Collective over `comm`, the cards of whose ranks are shared by `sharing`. Throws the same
  /// Error on every rank.
  MemberMemory(const mpi::Comm& comm, std::shared_ptr<const mpi::Comm> sharing, std::size_t bytes)
      : sharing_(std::move(sharing)) {
    // A number at least, so that there is a handle to send.
    mine_ = mpi::collectively(comm, [&] { return Memory::make(bytes + sizeof(double)); });
    std::vector<std::uint64_t> all;
    const auto tell = [&] {
      const device::SharedHandle handle = mine_.handle();
      all = mpi::concatenate_all(*sharing_, std::span<const std::uint64_t>(handle.words));
    };
    mpi::agree(comm, mpi::error_of(tell));
    mpi::collectively(comm, [&] { open_others(all); });
  }
  ~MemberMemory() {  // nobody frees what others have open
    if (others_.empty()) return;
    others_.clear();
    if (!mpi::is_finalized()) MPI_Barrier(sharing_->get());
  }
  MemberMemory(const MemberMemory&) = delete;
  MemberMemory& operator=(const MemberMemory&) = delete;

  /// By Members: 0 is this rank's own.
  std::byte* operator[](std::size_t member) const {
    return member == 0 ? mine_.data() : others_[member - 1].data();
  }
  std::size_t bytes() const { return mine_.bytes(); }
  /// Collective over the card.
  void meet() const {
    const mpi::CollectiveCall call(*sharing_);
    mpi::check(MPI_Barrier(sharing_->get()), "MPI_Barrier");
  }

 private:
  void open_others(const std::vector<std::uint64_t>& all) {
    const Members members(*sharing_);
    for (int m = 1; m < members.n; ++m) {
      device::SharedHandle handle;
      const std::size_t begin = static_cast<std::size_t>(members.rank(m)) * handle.words.size();
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(begin), handle.words.size(),
                  handle.words.begin());
      others_.push_back(Memory::open(handle));
    }
  }

  std::shared_ptr<const mpi::Comm> sharing_;
  Memory mine_;
  std::vector<Memory> others_;
};

/// The bytes of so many items, the last of these offsets.
std::size_t room(const std::vector<LocalIndex>& offsets, std::size_t item_bytes) {
  return static_cast<std::size_t>(offsets.back()) * item_bytes;
}

/// Two barriers of the card's ranks in place of messages: when all have packed, and when all that
/// arrives is there. No rank packs again before the others have read: they read before the second.
template <class Space>
class BySharedMemory final : public HandOver<Space> {
 public:
  BySharedMemory(const CarrierCall<Space>& call, const Shares& shares)
      : card_(call.card),
        shares_(shares),
        packed_(*call.comm, call.sharing, room(shares.packed_offsets, call.most_item_bytes)),
        arrived_(*call.comm, call.sharing, room(shares.arrived_offsets, call.most_item_bytes)) {}

  std::byte* packed() override { return packed_[0]; }
  std::byte* arrived() override { return arrived_[0]; }

  void take(std::byte* taken, std::size_t item_bytes) override {
    packed_.meet();
    for_members(shares_.taken_offsets, shares_.taken_from, item_bytes,
                [&](std::size_t member, std::size_t mine, std::size_t there, std::size_t bytes) {
                  card_.queue.copy_out(taken + mine, packed_[member] + there, bytes);
                });
  }

  void give(const std::byte* brought, std::size_t item_bytes) override {
    for_members(shares_.brought_offsets, shares_.brought_to, item_bytes,
                [&](std::size_t member, std::size_t mine, std::size_t there, std::size_t bytes) {
                  card_.queue.copy_in(arrived_[member] + there, brought + mine, bytes);
                });
    arrived_.meet();
  }

  std::size_t bytes() const override { return packed_.bytes() + arrived_.bytes(); }

 private:
  /// Local. Calls copy(member, where its items begin here, and there, bytes), and waits.
  template <class Copy>
  void for_members(const std::vector<LocalIndex>& offsets, const std::vector<LocalIndex>& there,
                   std::size_t item_bytes, const Copy& copy) {
    card_.local([&] {
      for (std::size_t m = 0; m < there.size(); ++m) {
        const auto n = static_cast<std::size_t>(offsets[m + 1] - offsets[m]);
        if (n == 0) continue;
        copy(m, static_cast<std::size_t>(offsets[m]) * item_bytes,
             static_cast<std::size_t>(there[m]) * item_bytes, n * item_bytes);
      }
      card_.queue.wait();
    });
  }

  Card<Space>& card_;
  const Shares& shares_;
  MemberMemory<Space> packed_, arrived_;
};

/// Each member of a card copies its part of the vectors of all, adds it up, and copies the sums
/// back for all: two barriers of the card.
template <class Space>
class AdderByMemory final : public Adder<Space> {
 public:
  explicit AdderByMemory(const AdderCall<Space>& call)
      : card_(call.card),
        members_(*call.sharing),
        parts_(call.comm, call.sharing),
        vectors_(*call.comm, call.sharing, call.most * sizeof(double)) {
    mpi::collectively(*call.comm, [&] {
      part_ =
          device::Staging<double, Space>((call.most / static_cast<std::size_t>(parts_.n()) + 1) *
                                         static_cast<std::size_t>(members_.n));
    });
  }

  void add(double* values, std::size_t n) override {
    const std::size_t begin = parts_.begin(members_.me, n);
    const std::size_t n_mine = parts_.begin(members_.me + 1, n) - begin;
    card_.local([&] {
      card_.queue.copy_within(vectors_[0], values, n * sizeof(double));
      card_.queue.wait();
    });
    vectors_.meet();
    card_.local([&] { add_members(begin, n_mine); });
    parts_.add_over_cards(std::span<double>(part_.data(), n_mine));
    card_.local([&] {
      for (std::size_t m = 0; m < static_cast<std::size_t>(members_.n); ++m) {
        card_.queue.copy_in(vectors_[m] + begin * sizeof(double), part_.data(),
                            n_mine * sizeof(double));
      }
      card_.queue.wait();
    });
    vectors_.meet();
    card_.local([&] { card_.queue.copy_within(values, vectors_[0], n * sizeof(double)); });
  }

 private:
  /// In the order of the ranks, so that the sums do not depend on who makes them.
  void add_members(std::size_t begin, std::size_t n) {
    for (int rank = 0; rank < members_.n; ++rank) {
      const auto member = static_cast<std::size_t>(members_.member(rank));
      card_.queue.copy_out(part_.data() + static_cast<std::size_t>(rank) * n,
                           vectors_[member] + begin * sizeof(double), n * sizeof(double));
    }
    card_.queue.wait();
    for (std::size_t i = n; i < n * static_cast<std::size_t>(members_.n); ++i) {
      part_.data()[i % n] += part_.data()[i];
    }
  }

  Card<Space>& card_;
  Members members_;
  SumParts parts_;
  MemberMemory<Space> vectors_;
  device::Staging<double, Space> part_;  // of each member, then the sum
};

template <class Space>
std::unique_ptr<HandOver<Space>> hand_over_by_memory(const CarrierCall<Space>& call,
                                                     const Shares& shares) {
  return std::make_unique<BySharedMemory<Space>>(call, shares);
}

template <class Space>
class ManyCoresByMemory final : public ManyCores<Space> {
 public:
  explicit ManyCoresByMemory(const CarrierCall<Space>& call)
      : ManyCores<Space>(call, hand_over_by_memory<Space>) {}
};

}  // namespace

const DeviceTransportMethod& shared_memory_method() {
  static const DeviceTransportMethod method = {
      {"shared_memory",
       "copied and sent by all that use a card, each its part of memory that they share",
       "Bienz, Olson, Gropp, Lockhart 2021"},
      false,
      true,
      make_carriers<ManyCoresByMemory>(),
      make_adders<AdderByMemory>(),
      []() -> const model::GpuTransport& { return modelled("shared_memory"); }};
  return method;
}

}  // namespace nodewise::offload
