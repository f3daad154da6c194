// Options that were given and have no effect beside the others.
#pragma once

#include <vector>

#include "cli/options/settings.hpp"
#include "cli/record.hpp"

namespace nodewise::cli {

/// Local. Of a solve, once its preset is applied and its method chosen; in the order of the tables.
std::vector<IdleOption> idle_options(const Settings& settings, solve::Method method);

/// Local. Those of multigrid among them, which no method decides.
std::vector<IdleOption> idle_multigrid_options(const Settings& settings);

/// "--jacobi-weight (needs smoother jacobi or block_jacobi), ..."
std::string idle_text(const std::vector<IdleOption>& options);

}  // namespace nodewise::cli
