#include <algorithm>
#include <vector>

#include "nodewise/comm/sdde/joined.hpp"
#include "nodewise/comm/sdde/slots.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm::sdde {

namespace {

/// Where the slots of a rank for others lie: for each rank that puts to it, ascending, one for each
/// rank of its own region, since messages that go to the region of one rank lie together.
class Places {
 public:
  Places(const mpi::Topology& regions, int me) : regions_(regions), me_(me) {}

  /// The ranks that put to this one.
  std::vector<int> sources() const {
    std::vector<int> found;
    for (int r = 0; r < regions_.n_ranks(); ++r) {
      if (feeds(r, me_)) found.push_back(r);
    }
    return found;
  }
  Offset n_places() const { return places_of(me_); }
  /// The first slot for this rank at `to`.
  Offset first_slot(int to) const {
    Offset before = 0;
    for (int r = 0; r < me_; ++r) before += feeds(r, to) ? 1 : 0;
    return before * places_of(to);
  }
  Offset places_of(int rank) const { return std::ssize(regions_.ranks_on(regions_.node(rank))); }

 private:
  bool feeds(int from, int to) const {
    const int region = regions_.node(to);
    return regions_.node(from) != region && regions_.corresponding_rank(from, region) == to;
  }

  const mpi::Topology& regions_;
  int me_;
};

/// What one rank puts to another: the slots of a region, those without a message empty.
struct Block {
  int to = -1;
  Offset first_slot = 0;
  std::vector<std::byte> slots;
};

std::vector<Block> blocks_of(const Carrier& carrier, const mpi::Topology& regions,
                             const Places& places, Offset message_bytes) {
  std::vector<Block> blocks;
  const auto length = static_cast<std::size_t>(message_bytes) + 1;
  for (const Carrier::Record& record : carrier.leaving()) {
    auto block = std::ranges::find(blocks, record.to, &Block::to);
    if (block == blocks.end()) {
      const auto n = static_cast<std::size_t>(places.places_of(record.to));
      blocks.push_back(
          {record.to, places.first_slot(record.to), std::vector<std::byte>(n * length)});
      block = blocks.end() - 1;
    }
    const std::size_t place = regions.place_on_node(static_cast<int>(record.header.rank));
    const auto slot = std::span(block->slots).subspan(place * length, length);
    std::ranges::copy(record.data, slot.begin());
    slot.back() = std::byte{1};
  }
  return blocks;
}

void between_one_sided(Call& call, Carrier& carrier, ReceiveBuffers& arrived) {
  const Channel& channel = call.channel;
  const mpi::Topology& regions = channel.regions();
  const Places places(regions, channel.comm.rank());
  Offset message_bytes = 0;
  std::vector<int> sources;
  std::vector<Block> blocks;
  if (!call.error) {
    call.error = mpi::caught([&] {
      sources = places.sources();
      message_bytes = bytes_of_each(call, std::ssize(sources) * places.n_places());
      blocks = blocks_of(carrier, regions, places, message_bytes);
    });
  }
  call.termination.start(call.vote());
  call.termination.wait();
  if (call.is_void()) return;

  Slots slots(channel, &regions, std::ssize(sources) * places.n_places(), message_bytes);
  for (const Block& block : blocks) slots.put(block.slots, block.to, block.first_slot);
  slots.close();
  if (!blocks.empty()) channel.comm.ledger().count_waits(1);
  const auto ranks = regions.ranks_on(regions.node(channel.comm.rank()));
  std::vector<std::byte> record(sizeof(JoinedHeader) + static_cast<std::size_t>(message_bytes));
  slots.empty([&](Offset slot, std::span<const std::byte> message) {
    const auto place = static_cast<std::size_t>(slot % places.n_places());
    const JoinedHeader header{ranks[place], message_bytes};
    std::ranges::copy(std::as_bytes(std::span(&header, 1)), record.begin());
    std::ranges::copy(message, record.begin() + sizeof header);
    arrived.take(sources[static_cast<std::size_t>(slot / places.n_places())], record);
  });
}

}  // namespace

const mpi::SparseExchangeMethod& locality_rma_method() {
  static const mpi::SparseExchangeMethod method = {
      {"locality_rma", "one-sided between nodes, then on the node; messages of one size only",
       "after Geyko et al. 2024, algorithms 3 and 4"},
      true,
      "rma",
      [](Call& call) {
        exchange_joined(call, {between_one_sided, send_personalized});
      }};
  return method;
}

}  // namespace nodewise::comm::sdde
