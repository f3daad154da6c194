#include "nodewise/comm/pattern.hpp"

#include <algorithm>
#include <functional>

#include "nodewise/comm/discovery.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::comm {

namespace {

/// Groups the ascending ghosts by owner: since ranges ascend, each owner's are contiguous.
Messages<GlobalIndex> requests(const Layout& layout, std::span<const GlobalIndex> ghosts) {
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

Pattern discover_pattern(const Layout& layout, std::span<const GlobalIndex> ghosts) {
  Pattern pattern;
  const auto wanted = mpi::collectively(layout.comm(), [&] {
    pattern.n_owned = layout.n_local();
    pattern.n_ghosts = narrow<LocalIndex>(ghosts.size(), "ghosts of a rank:");
    return requests(layout, ghosts);
  });
  const Messages<GlobalIndex> asked = exchange_sparse(layout.comm(), wanted);
  pattern.recv_ranks = wanted.ranks;
  pattern.recv_offsets.assign(wanted.offsets.begin(), wanted.offsets.end());
  pattern.send_ranks = asked.ranks;
  mpi::collectively(layout.comm(), [&] {
    narrow<LocalIndex>(asked.offsets.back(), "entries sent:");
    pattern.send_offsets.assign(asked.offsets.begin(), asked.offsets.end());
    pattern.send_entries.reserve(asked.data.size());
    for (const GlobalIndex i : asked.data) pattern.send_entries.push_back(layout.to_local(i));
  });
  return pattern;
}

}  // namespace nodewise::comm
