// What ranks without rows know of the levels that others set up.
#pragma once

#include <optional>

#include "nodewise/amg/setup/levels.hpp"

namespace nodewise::amg {

/// Collective on the finest level's communicator, where some level is on fewer ranks. Tells every
/// rank of the levels that it has no part of, and `observe` of them. Throws, on every rank, what
/// kept any from its levels. An agreement, a reduction and two broadcasts.
template <class T>
void share_levels(const mpi::Comm& comm, SetUp<T>& made, const std::optional<Error>& failure,
                  const LevelObserver& observe);

}  // namespace nodewise::amg
