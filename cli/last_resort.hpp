// The end of the program on all ranks, even where a defect made one rank fail alone.
#pragma once

#include "nodewise/mpi/comm.hpp"

#include "cli/exit_code.hpp"

namespace nodewise::cli {

/// Collective. Every rank brings how its command ended and gets the largest code of all; the lowest
/// rank with a message (not null) prints it. A rank that failed waits some seconds for the others;
/// where one of them does not come, it must be waiting in a message exchange that this rank has
/// left, and the program is aborted: the only place where that happens.
ExitCode agreed_end(const mpi::Comm& world, ExitCode code, const char* message);

}  // namespace nodewise::cli
