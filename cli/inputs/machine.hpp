// The environment of a run, with what the options of placement say of it.
#pragma once

#include "nodewise/mpi/comm.hpp"
#include "nodewise/run/environment.hpp"

#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Collective. One allgather of host names.
run::Environment describe_machine(const mpi::Comm& comm, const Settings& settings);

}  // namespace nodewise::cli
