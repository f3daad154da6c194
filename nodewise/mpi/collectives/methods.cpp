// The algorithms of collectives. Their functions, which have little in common, are in
// allreduce.cpp, allgather.cpp and alltoallv.cpp.
#include "nodewise/mpi/settings.hpp"

namespace nodewise::mpi {

namespace {

const CollectiveMethod& mpi_method() {
  static const CollectiveMethod method = {{"mpi", "MPI's own", ""}, false};
  return method;
}

const CollectiveMethod& node_aware_method() {
  static const CollectiveMethod method = {
      {"node_aware", "the ranks of a node share out the messages to other nodes",
       "docs/collectives.md"},
      true};
  return method;
}

}  // namespace

Family<CollectiveMethod>& CollectiveMethod::family() {
  static Family<CollectiveMethod> family(
      "collective", {&mpi_method(), &node_aware_method()},
      {"automatic", "by a rule that knows the placement of the ranks and the length"});
  return family;
}

}  // namespace nodewise::mpi
