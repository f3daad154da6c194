// Binding the threads of ranks to cores.
#pragma once

#include <string>

#include "nodewise/mpi/comm.hpp"
#include "nodewise/run/deal_cores.hpp"

namespace nodewise::run {

/// Collective; not while a loop runs. Binds the threads that parallel::threads() says each rank
/// has, the calling one, which is to begin all loops, being the first. `cores`: each to a core of
/// its own. `siblings`: each but the first to the first hardware thread of a core of its own, the
/// first to the second one of the core of thread 1, for Overlap::task, where it talks and does not
/// compute. `none` and every other call lift what an earlier call bound.
///
/// A rank uses the cores that its calling thread may run on. Ranks that may use the same ones share
/// them out by deal_cores() in their order. Which ranks are on one machine MPI is asked, whatever
/// placement `comm` was given. Threads that the OpenMP library begins later are bound, too, before
/// their first loop; those of other libraries begin where the thread is that makes them.
///
/// Throws the same error on every rank and leaves all threads as they were: unsupported without
/// hwloc, where the system does not bind, and for `siblings` where cores have one hardware thread;
/// invalid_argument where there are fewer cores than threads, or where two ranks may use partly the
/// same cores. Costs a split of the communicator, an allgather on each machine for 64 processors,
/// and the reading of the machine.
void bind_threads(const mpi::Comm& comm, BindChoice choice);

/// Local. What the threads of this rank are bound to, such as "cores 0-3"; empty where they are not
/// bound by bind_threads().
std::string bound_to();

}  // namespace nodewise::run
