#include "nodewise/matrix/ghost_numbering.hpp"

namespace nodewise::matrix {

GhostNumbering::GhostNumbering(const comm::Layout& layout, std::span<const GlobalIndex> ghosts)
    : layout_(layout) {
  numbers_.reserve(ghosts.size());
  for (const GlobalIndex ghost : ghosts) number(ghost);
}

LocalIndex GhostNumbering::number(GlobalIndex column) {
  if (layout_.owns(column)) return layout_.to_local(column);
  const LocalIndex next = narrow<LocalIndex>(
      std::int64_t{layout_.n_local()} + static_cast<std::int64_t>(ghosts_.size()),
      "local columns:");
  const auto [found, is_new] = numbers_.try_emplace(column, next);
  if (is_new) ghosts_.push_back(column);
  return found->second;
}

}  // namespace nodewise::matrix
