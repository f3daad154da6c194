// Facts of levels over all ranks, from those of each.
#pragma once

#include <optional>
#include <span>

#include "nodewise/amg/setup/level_info.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::amg {

/// Collective. Makes of every rank's part what holds for all, for all levels at once. Throws where
/// the setup failed on any rank. Two allreduces.
void unite(const mpi::Comm& comm, std::span<LevelInfo> levels, std::optional<Error> failure);

}  // namespace nodewise::amg
