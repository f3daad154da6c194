#include "nodewise/comm/sdde/sdde.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "nodewise/comm/sdde/algorithms.hpp"
#include "nodewise/comm/sdde/choice.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm::detail {

namespace {

using mpi::SparseExchange;
using sdde::Call;

/// Where no rank can receive more, an allocation is taken to succeed; beyond that the ranks agree
/// at the end whether it did, which then costs little beside the data.
constexpr Offset always_room_for = Offset{64} << 20;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "sparse exchange: " + what);
}

void check_destinations(std::span<const int> ranks, int n_ranks) {
  for (const int rank : ranks) {
    if (rank < 0 || rank >= n_ranks) {
      refuse(fmt::format("destination {} of a communicator of {} ranks", rank, n_ranks));
    }
  }
  if (std::adjacent_find(ranks.begin(), ranks.end(), std::greater_equal<>()) == ranks.end()) return;
  std::vector<int> sorted(ranks.begin(), ranks.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) refuse(fmt::format("destination {} is named twice", *twice));
}

void check_sends(const SparseSends& sends, int n_ranks) {
  const std::span<const Offset> offsets = sends.offsets;
  if (offsets.size() != sends.ranks.size() + 1) {
    refuse(fmt::format("{} offsets for {} destinations", offsets.size(), sends.ranks.size()));
  }
  if (offsets.front() != 0 || !std::is_sorted(offsets.begin(), offsets.end()) ||
      std::cmp_not_equal(offsets.back(), sends.data.size() / sends.item_bytes)) {
    refuse("the offsets must ascend from 0 to the number of items");
  }
  check_destinations(sends.ranks, n_ranks);
}

void check_options(const SparseOptions& options) {
  if (options.max_message_bytes < 1 || options.max_message_bytes > Offset{1} << 30) {
    refuse(fmt::format("pieces of {} bytes", options.max_message_bytes));
  }
}

/// Local. The greatest load of any rank, where there is a choice that depends on it.
SparseLoad load_of(const Call& call) {
  const mpi::Comm& comm = call.channel.comm;
  if (!choice_needs_load(call.channel.regions())) return {};
  if (call.counts) return call.counts->load;
  const SparseSends& sends = call.sends;
  std::vector<Offset> bytes(sends.ranks.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = (sends.offsets[i + 1] - sends.offsets[i]) * static_cast<Offset>(sends.item_bytes);
  }
  return measure_load(comm, call.channel.region, sends.ranks, bytes);
}

/// Collective. The algorithm that will run: never automatic, and never one that joins messages
/// where there is nothing to join.
SparseExchange algorithm_for(const Call& call, const SparseExchange& asked) {
  const mpi::Topology& regions = call.channel.regions();
  if (asked.is_automatic()) {
    return choose_sparse_exchange(regions, load_of(call), call.channel.comm.sparse_costs(),
                                  call.channel.region)
        .algorithm;
  }
  const std::string& unjoined = asked->unjoined;
  return unjoined.empty() || choice_needs_load(regions) ? asked : SparseExchange(unjoined);
}

void run(Call& call, const SparseExchange& algorithm) {
  const bool is_straight = algorithm->unjoined->empty() && !algorithm->needs_equal_counts;
  if (call.n_receives && is_straight && !call.counts) return sdde::expected(call);
  algorithm->run(call);
}

/// Collective. Throws on every rank if the exchange went wrong on any.
void agree_on_call(const Call& call) {
  const mpi::Comm& comm = call.channel.comm;
  if (call.any_failed()) mpi::agree(comm, call.error);
  if (call.counts && call.counts->receives_differ) {
    refuse("some ranks expect another number of messages than is sent to them");
  }
  if (call.is_void()) refuse("messages must hold the same number of items on every rank");
  const Offset most_received =
      call.counts ? call.counts->bytes : call.termination.most_bytes_sent() * comm.size();
  if (most_received > always_room_for) {
    mpi::agree(comm, call.error);
  } else if (call.error) {
    throw Error(*call.error);
  }
}

}  // namespace

std::vector<Offset> equal_offsets(std::size_t n, Offset count, std::size_t n_items) {
  const bool fits =
      count >= 0 && (n == 0 || (n_items % n == 0 && std::cmp_equal(n_items / n, count)));
  if (!fits || (n == 0 && n_items != 0)) {
    refuse(fmt::format("{} items for {} messages of {}", n_items, n, count));
  }
  std::vector<Offset> offsets(n + 1);
  for (std::size_t i = 0; i <= n; ++i) offsets[i] = static_cast<Offset>(i) * count;
  return offsets;
}

void exchange_bytes(const mpi::Comm& comm, const std::function<SparseSends()>& prepare,
                    const SparseReceives& receives, const SparseOptions& options, Riders* riders) {
  const SparseExchange asked = options.algorithm.value_or(comm.settings().sparse_exchange);
  static constexpr Offset no_offsets[] = {0};
  const mpi::Region region = options.region.value_or(comm.settings().sparse_exchange_region);
  Call call(
      {comm, comm.next_discovery_tag(), options.max_message_bytes, region, options.keep_window});
  call.sends = {{}, no_offsets, {}};
  call.error = mpi::caught([&] {
    const SparseSends sends = prepare();
    check_sends(sends, comm.size());
    check_options(options);
    if (!asked.is_automatic() && asked->needs_equal_counts && !sends.equal_count) {
      refuse("the algorithm " + asked.name() + " is for messages of one size only");
    }
    call.sends = sends;
  });
  call.n_receives = options.n_receives;
  const mpi::Communicating communicating(comm);
  if (asked.is_automatic() && sdde::counts_messages_first(call.channel.regions())) {
    call.counts = sdde::count_messages(
        call.channel, call.sends,
        {.failed = call.error.has_value(),
         .riders = riders != nullptr ? riders->sums : std::span<std::int64_t>(),
         .n_receives = call.n_receives});
  }
  if (riders != nullptr) {
    riders->are_summed = call.counts || comm.size() == 1;
    riders->is_small = comm.size() == 1 || (call.counts && call.counts->bytes <= always_room_for);
  }
  if (!call.counts || !call.is_void()) run(call, algorithm_for(call, asked));
  if (!call.is_void()) {
    if (!call.error) call.error = call.inbox.failure();
    if (!call.error) {
      call.error = mpi::error_of([&] { call.inbox.deliver(call.sends.item_bytes, receives); });
    }
  }
  agree_on_call(call);
}

}  // namespace nodewise::comm::detail
