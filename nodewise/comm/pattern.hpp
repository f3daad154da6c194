// One rank's view of an irregular exchange, as data: whom it sends to and hears from.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/comm/layout.hpp"
#include "nodewise/comm/messages.hpp"
#include "nodewise/comm/sdde/sdde.hpp"

namespace nodewise::comm {

/// Ghosts recv_offsets[i] .. recv_offsets[i + 1] of this rank are owned by recv_ranks[i]; to
/// send_ranks[i] go the owned entries send_entries[send_offsets[i] .. send_offsets[i + 1]), in the
/// order of the receiver's ghosts. Ranks ascend.
struct Pattern {
  LocalIndex n_owned = 0;
  LocalIndex n_ghosts = 0;
  std::vector<int> recv_ranks;
  std::vector<LocalIndex> recv_offsets = {0};
  std::vector<int> send_ranks;
  std::vector<LocalIndex> send_offsets = {0};
  std::vector<LocalIndex> send_entries;
};

/// Collective. The pattern that brings the entries `ghosts` (ascending global indices, none owned
/// by this rank) of vectors laid out by `layout`. One message to each owner, by sparse dynamic
/// exchange. Throws the same Error on every rank where a ghost is outside the layout.
Pattern discover_pattern(const Layout& layout, std::span<const GlobalIndex> ghosts);

/// The first half of discover_pattern(): what each rank wants of others, and they of it.
struct Requests {
  Messages<GlobalIndex> wanted;  ///< by owner: entries this rank wants
  Messages<GlobalIndex> asked;   ///< by rank: entries that it wants of this one
};
/// Collective. `ghosts()` is local work, whose result must last until the call ends; what it throws
/// on one rank, all throw. The sparse exchange's own agreement serves for it, and takes `riders`.
Requests exchange_requests(const Layout& layout,
                           const std::function<std::span<const GlobalIndex>()>& ghosts,
                           detail::Riders* riders = nullptr);
/// Local. The second half.
Pattern make_pattern(const Layout& layout, const Requests& requests);

}  // namespace nodewise::comm
