// The algorithms of collectives. Those that reduce and gather are schedules.
#include "nodewise/mpi/collectives/node_aware_alltoallv.hpp"
#include "nodewise/mpi/collectives/schedule.hpp"
#include "nodewise/mpi/collectives/straight_alltoallv.hpp"
#include "nodewise/mpi/collectives/usual_schedules.hpp"
#include "nodewise/mpi/settings.hpp"

namespace nodewise::mpi {

namespace {

MethodInfo mpis_own() {
  return {"mpi", "MPI's own", ""};
}
MethodInfo node_aware() {
  return {"node_aware", "the ranks of a node share out the messages to other nodes",
          "docs/collectives.md"};
}
Word by_rule() {
  return {"automatic", "by a rule that knows the placement of the ranks and the length"};
}

/// With this many bytes a rank keeps what all ranks of its node bring, and sends half of it at
/// once.
constexpr Offset short_piece = Offset{1} << 13;
/// Here it keeps two vectors.
constexpr Offset long_piece = Offset{1} << 16;

}  // namespace

Family<AllreduceMethod>& AllreduceMethod::family() {
  static const AllreduceMethod mpi = {mpis_own(), false, nullptr, Offset{0}};
  static const AllreduceMethod shared_out = {node_aware(), true, collectives::make_schedule,
                                             short_piece};
  static const AllreduceMethod leaders = {
      {"node_leaders",
       "one rank of each node adds up what the node has, and these exchange by recursive doubling",
       "docs/collectives.md"},
      false,
      collectives::node_leader_schedule,
      long_piece};
  static const AllreduceMethod doubling = {
      {"recursive_doubling", "all ranks exchange with others at distances 1, 2, 4 and so on",
       "Thakur, Rabenseifner, Gropp 2005"},
      false,
      collectives::doubling_schedule,
      long_piece};
  static Family<AllreduceMethod> family("allreduce algorithm",
                                        {&mpi, &shared_out, &leaders, &doubling}, by_rule());
  return family;
}

Family<AllgatherMethod>& AllgatherMethod::family() {
  static const AllgatherMethod mpi = {mpis_own(), false, nullptr};
  static const AllgatherMethod shared_out = {node_aware(), true, collectives::make_schedule};
  static const AllgatherMethod ring = {
      {"ring", "every rank passes on to the next what it got from the one before",
       "Thakur, Rabenseifner, Gropp 2005"},
      false,
      collectives::ring_schedule};
  static const AllgatherMethod bruck = {
      {"bruck", "every rank gets from others at distances 1, 2, 4 and so on all that they have",
       "Bruck et al. 1997"},
      false,
      collectives::bruck_schedule};
  static Family<AllgatherMethod> family("allgather algorithm", {&mpi, &shared_out, &ring, &bruck},
                                        by_rule());
  return family;
}

Family<AlltoallvMethod>& AlltoallvMethod::family() {
  static const AlltoallvMethod mpi = {mpis_own(), false, nullptr};
  static const AlltoallvMethod shared_out = {node_aware(), true, collectives::make_node_aware};
  static const AlltoallvMethod pairwise = {
      {"pairwise", "in each step every rank exchanges with one other, and waits for it",
       "Thakur, Rabenseifner, Gropp 2005"},
      false,
      collectives::make_pairwise};
  static const AlltoallvMethod spread_out = {
      {"spread_out", "all messages are under way at once, each rank's first to the next rank",
       "Thakur, Rabenseifner, Gropp 2005"},
      false,
      collectives::make_spread_out};
  static Family<AlltoallvMethod> family("alltoallv algorithm",
                                        {&mpi, &shared_out, &pairwise, &spread_out}, by_rule());
  return family;
}

}  // namespace nodewise::mpi
