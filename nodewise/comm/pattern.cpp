#include "nodewise/comm/pattern.hpp"

#include <algorithm>
#include <functional>

#include "nodewise/comm/discovery.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::comm {

namespace {

/// Groups the ascending ghosts by owner: since ranges ascend, each owner's are contiguous.
Messages<GlobalIndex> group_by_owner(const Layout& layout, std::span<const GlobalIndex> ghosts) {
  narrow<LocalIndex>(ghosts.size(), "ghosts of a rank:");
  const auto repeated = std::adjacent_find(ghosts.begin(), ghosts.end(), std::greater_equal<>());
  if (repeated != ghosts.end()) {
    throw Error(ErrorCode::internal, "pattern: ghosts must ascend, each once");
  }
  Messages<GlobalIndex> wanted;
  wanted.data.assign(ghosts.begin(), ghosts.end());
  std::size_t k = 0;
  while (k < ghosts.size()) {
    if (!layout.contains(ghosts[k]) || layout.owns(ghosts[k])) {
      throw Error(ErrorCode::internal, "pattern: ghosts must be inside the layout and not owned");
    }
    const int owner = layout.owner(ghosts[k]);
    const auto end = std::lower_bound(ghosts.begin() + static_cast<std::ptrdiff_t>(k), ghosts.end(),
                                      layout.end(owner));
    k = static_cast<std::size_t>(end - ghosts.begin());
    wanted.ranks.push_back(owner);
    wanted.offsets.push_back(static_cast<Offset>(k));
  }
  return wanted;
}

}  // namespace

Requests exchange_requests(const Layout& layout,
                           const std::function<std::span<const GlobalIndex>()>& ghosts,
                           detail::Riders* riders) {
  Requests requests;
  const auto make = [&] {
    requests.wanted = group_by_owner(layout, ghosts());
    return requests.wanted;
  };
  requests.asked = exchange_sparse(layout.comm(), make, riders);
  return requests;
}

Pattern make_pattern(const Layout& layout, const Requests& requests) {
  const auto& [wanted, asked] = requests;
  narrow<LocalIndex>(asked.offsets.back(), "entries sent:");
  Pattern pattern;
  pattern.n_owned = layout.n_local();
  pattern.n_ghosts = static_cast<LocalIndex>(wanted.offsets.back());
  pattern.recv_ranks = wanted.ranks;
  pattern.recv_offsets.assign(wanted.offsets.begin(), wanted.offsets.end());
  pattern.send_ranks = asked.ranks;
  pattern.send_offsets.assign(asked.offsets.begin(), asked.offsets.end());
  pattern.send_entries.reserve(asked.data.size());
  for (const GlobalIndex i : asked.data) pattern.send_entries.push_back(layout.to_local(i));
  return pattern;
}

Pattern discover_pattern(const Layout& layout, std::span<const GlobalIndex> ghosts) {
  const Requests requests = exchange_requests(layout, [&] { return ghosts; });
  return mpi::collectively(layout.comm(), [&] { return make_pattern(layout, requests); });
}

}  // namespace nodewise::comm
