#include "nodewise/offload/transport/shares.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/sdde/sdde.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::offload {

std::vector<Piece> deal_out(std::span<const LocalIndex> lengths, int n_cores) {
  const Offset items = std::accumulate(lengths.begin(), lengths.end(), Offset{0});
  const Offset longest = std::max<Offset>(message_items, (items + n_cores - 1) / n_cores);
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const Offset n = std::max<Offset>(1, (lengths[i] + longest - 1) / longest);
    for (Offset k = 0; k < n; ++k) {
      pieces.push_back({i, static_cast<LocalIndex>(lengths[i] * k / n),
                        static_cast<LocalIndex>(lengths[i] * (k + 1) / n), 0});
    }
  }
  const auto cost = [](const Piece& piece) {
    return Offset{piece.end} - piece.begin + message_items;
  };
  Offset all = 0;
  for (const Piece& piece : pieces) all += cost(piece);
  Offset before = 0;
  for (Piece& piece : pieces) {
    piece.core = static_cast<int>((before + cost(piece) / 2) * n_cores / all);
    before += cost(piece);
  }
  return pieces;
}

namespace {

using comm::Messages;

/// The messages of an exchange straight from owners to those who need their entries.
struct Straight {
  Messages<LocalIndex> wanted;     ///< by owner: its entries that this rank needs
  std::vector<LocalIndex> ghosts;  ///< of each item of `wanted`
  Messages<LocalIndex> asked;      ///< by rank: entries of this one that it needs
};

/// The owner of each ghost, and its number there, in one.
std::vector<std::int64_t> origins(const std::shared_ptr<const mpi::Comm>& comm,
                                  const comm::Plan& plan) {
  auto [mine, got] = mpi::collectively(*comm, [&] {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(plan.n_owned));
    std::iota(numbers.begin(), numbers.end(), std::int64_t{comm->rank()} << 32);
    return std::pair(std::move(numbers),
                     std::vector<std::int64_t>(static_cast<std::size_t>(plan.n_ghosts)));
  });
  comm::Exchange exchange(comm, plan);
  exchange.forward(std::span<const std::int64_t>(mine), std::span<std::int64_t>(got));
  return std::move(got);
}

Straight find_messages(const std::shared_ptr<const mpi::Comm>& comm, const comm::Plan& plan) {
  const std::vector<std::int64_t> origin = origins(comm, plan);
  Straight found;
  mpi::collectively(*comm, [&] {
    found.ghosts.resize(origin.size());
    std::iota(found.ghosts.begin(), found.ghosts.end(), LocalIndex{0});
    std::stable_sort(found.ghosts.begin(), found.ghosts.end(), [&](LocalIndex a, LocalIndex b) {
      return origin[static_cast<std::size_t>(a)] < origin[static_cast<std::size_t>(b)];
    });
    for (const LocalIndex ghost : found.ghosts) {
      const std::int64_t from = origin[static_cast<std::size_t>(ghost)];
      const auto owner = static_cast<int>(from >> 32);
      if (found.wanted.ranks.empty() || found.wanted.ranks.back() != owner) {
        found.wanted.ranks.push_back(owner);
        found.wanted.offsets.push_back(found.wanted.offsets.back());
      }
      found.wanted.data.push_back(static_cast<LocalIndex>(from & 0xffffffff));
      ++found.wanted.offsets.back();
    }
  });
  found.asked = comm::alltoallv_crs<LocalIndex>(*comm, found.wanted.ranks, found.wanted.offsets,
                                                found.wanted.data);
  return found;
}

template <class T>
std::vector<LocalIndex> lengths_of(const Messages<T>& messages) {
  std::vector<LocalIndex> lengths;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    lengths.push_back(narrow<LocalIndex>(messages.message(i).size(), "items of a message:"));
  }
  return lengths;
}

/// The items of messages, dealt to the members in their order: member m has those from offset m to
/// the next.
template <class T>
std::vector<LocalIndex> deal(const Messages<T>& messages, const Members& members) {
  std::vector<Offset> counts(static_cast<std::size_t>(members.n), 0);
  for (const Piece& piece : deal_out(lengths_of(messages), members.n)) {
    counts[static_cast<std::size_t>(piece.core)] += piece.end - piece.begin;
  }
  std::vector<LocalIndex> offsets = {0};
  for (const Offset n : counts) {
    offsets.push_back(
        narrow<LocalIndex>(Offset{offsets.back()} + n, "items of a rank's messages:"));
  }
  return offsets;
}

/// Collective. Sends each member of the card a list, by Members; returns theirs.
template <class T>
std::vector<std::vector<T>> swap_lists(const mpi::Comm& comm, const mpi::Comm& sharing,
                                       const std::vector<std::vector<T>>& lists) {
  const Members members(sharing);
  std::vector<std::vector<T>> received(static_cast<std::size_t>(members.n));
  const auto swap = [&] {
    Messages<T> sent;
    for (int m = 0; m < members.n; ++m) {
      const auto& list = lists[static_cast<std::size_t>(m)];
      sent.ranks.push_back(members.rank(m));
      sent.data.insert(sent.data.end(), list.begin(), list.end());
      sent.offsets.push_back(static_cast<Offset>(sent.data.size()));
    }
    const auto got = comm::alltoallv_crs<T>(sharing, sent.ranks, sent.offsets, sent.data);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto message = got.message(i);
      received[static_cast<std::size_t>(members.member(got.ranks[i]))].assign(message.begin(),
                                                                              message.end());
    }
  };
  mpi::agree(comm, mpi::error_of(swap));
  return received;
}

/// By member, two numbers: how many items are for it, and where they begin.
std::vector<std::vector<LocalIndex>> extents(std::span<const LocalIndex> offsets) {
  std::vector<std::vector<LocalIndex>> lists;
  for (std::size_t m = 0; m + 1 < offsets.size(); ++m) {
    lists.push_back({offsets[m + 1] - offsets[m], offsets[m]});
  }
  return lists;
}

/// Offsets and beginnings of what extents() told.
void read_extents(const std::vector<std::vector<LocalIndex>>& told,
                  std::vector<LocalIndex>& offsets, std::vector<LocalIndex>& begins) {
  offsets = {0};
  for (const auto& extent : told) {
    offsets.push_back(narrow<LocalIndex>(Offset{offsets.back()} + extent[0], "items of a card:"));
    begins.push_back(extent[1]);
  }
}

/// Numbers every item that some rank sends for an owner, all over the communicator, and tells each
/// rank the numbers of the items that it wants, in the order of its wishes.
struct Numbering {
  comm::Layout layout;           ///< of the items, by the rank that sends them
  Messages<GlobalIndex> wanted;  ///< by owner
};

Numbering number_items(const std::shared_ptr<const mpi::Comm>& comm, const mpi::Comm& sharing,
                       const Straight& straight, const Shares& shares) {
  const auto layout = comm::Layout::from_local_size(comm, shares.taken_offsets.back());
  std::vector<std::vector<GlobalIndex>> begins;
  for (std::size_t m = 0; m + 1 < shares.taken_offsets.size(); ++m) {
    begins.push_back({layout.begin() + shares.taken_offsets[m]});
  }
  const auto begin_of = swap_lists(*comm, sharing, begins);
  const std::vector<GlobalIndex> numbers = mpi::collectively(*comm, [&] {
    std::vector<GlobalIndex> of_item;
    const std::vector<LocalIndex>& offsets = shares.packed_offsets;
    for (std::size_t m = 0; m + 1 < offsets.size(); ++m) {
      for (LocalIndex k = 0; k < offsets[m + 1] - offsets[m]; ++k) {
        of_item.push_back(begin_of[m].front() + k);
      }
    }
    return of_item;
  });
  return {layout, comm::alltoallv_crs<GlobalIndex>(*comm, straight.asked.ranks,
                                                   straight.asked.offsets, numbers)};
}

/// The plan that brings items with these numbers, in any order, some of which may be this rank's.
comm::Plan plan_of(const comm::Layout& layout, const std::vector<std::vector<GlobalIndex>>& brought,
                   const comm::Route& route) {
  const mpi::Comm& comm = layout.comm();
  std::vector<GlobalIndex> numbers, foreign;
  mpi::collectively(comm, [&] {
    for (const auto& list : brought) numbers.insert(numbers.end(), list.begin(), list.end());
    for (const GlobalIndex i : numbers) {
      if (!layout.owns(i)) foreign.push_back(i);
    }
    std::sort(foreign.begin(), foreign.end());
  });
  comm::Plan plan = comm::make_plan(comm, comm::discover_pattern(layout, foreign), route);
  mpi::collectively(comm, [&] {
    std::vector<LocalIndex> places;
    for (const GlobalIndex i : numbers) {
      const auto found = std::lower_bound(foreign.begin(), foreign.end(), i) - foreign.begin();
      places.push_back(layout.owns(i) ? layout.to_local(i)
                                      : plan.ghost_entry(static_cast<LocalIndex>(found)));
    }
    plan.n_ghosts = narrow<LocalIndex>(places.size(), "items of a card:");
    plan.set_ghost_entries(std::move(places));
  });
  return plan;
}

}  // namespace

Shares share_out(const std::shared_ptr<const mpi::Comm>& comm,
                 const std::shared_ptr<const mpi::Comm>& sharing, const comm::Plan& plan,
                 const comm::Route& route) {
  const Members members(*sharing);
  const Straight straight = find_messages(comm, plan);
  Shares shares;
  mpi::collectively(*comm, [&] {
    shares.packed_offsets = deal(straight.asked, members);
    shares.packed_entries = straight.asked.data;
  });
  const auto sent_extents = swap_lists(*comm, *sharing, extents(shares.packed_offsets));
  mpi::collectively(*comm,
                    [&] { read_extents(sent_extents, shares.taken_offsets, shares.taken_from); });
  const Numbering numbering = number_items(comm, *sharing, straight, shares);

  std::vector<std::vector<GlobalIndex>> fetched(static_cast<std::size_t>(members.n));
  mpi::collectively(*comm, [&] {
    const std::vector<GlobalIndex>& numbers = numbering.wanted.data;
    shares.arrived_offsets = deal(numbering.wanted, members);
    for (std::size_t m = 0; m < fetched.size(); ++m) {
      fetched[m].assign(numbers.begin() + shares.arrived_offsets[m],
                        numbers.begin() + shares.arrived_offsets[m + 1]);
    }
    shares.ghost_places.resize(numbers.size());
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      shares.ghost_places[static_cast<std::size_t>(straight.ghosts[k])] =
          static_cast<LocalIndex>(k);
    }
  });
  const auto brought = swap_lists(*comm, *sharing, fetched);
  const auto received_extents = swap_lists(*comm, *sharing, extents(shares.arrived_offsets));
  mpi::collectively(
      *comm, [&] { read_extents(received_extents, shares.brought_offsets, shares.brought_to); });
  shares.plan = plan_of(numbering.layout, brought, route);
  return shares;
}

}  // namespace nodewise::offload
