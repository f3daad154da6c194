// What an operation takes where its arithmetic and its messages overlap.
#pragma once

#include "nodewise/comm/overlap.hpp"
#include "nodewise/model/machine.hpp"

namespace nodewise::model {

/// The parts of an operation on one rank, in seconds.
struct HybridParts {
  double exchange_s = 0;
  double own_s = 0;        ///< arithmetic that needs no message, on all threads
  double rest_s = 0;       ///< arithmetic behind the messages, on all threads
  double beside = 1;       ///< how much longer the first takes on one thread less; 1: there is one
  double hidden_part = 0;  ///< of the shorter of both, that MPI hides by itself
};

/// Local. Seconds of both in one of the modes (Schubert, Hager, Fehske, Wellein 2011, figure 5):
/// with none their sum; with naive that without what MPI hides; with task, where there is a thread
/// to talk, the longer of the exchange and the own part on the other threads, and the rest behind.
/// Throws invalid_argument for automatic.
double hybrid_s(const HybridParts& parts, comm::Overlap mode);

/// Local. The part that the machine's MPI hides of messages of so many bytes by itself, on the side
/// that hides less: as measured with the largest messages that are not longer, or the shortest;
/// nothing where it was not measured.
double hidden_by_mpi(const Machine& machine, double bytes);

/// Local. How much longer arithmetic takes on one thread less than so many, each of which has
/// `nonzeros_per_core` of a level: by flop_s(). 1 for one thread, or where the machine has no
/// floating-point times.
double slowdown_beside(const Machine& machine, std::size_t level, double nonzeros_per_core,
                       int threads);

}  // namespace nodewise::model
