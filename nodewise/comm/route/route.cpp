#include "nodewise/comm/route/route.hpp"

#include "nodewise/comm/route/direct.hpp"
#include "nodewise/comm/route/three_step.hpp"
#include "nodewise/comm/route/two_step.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::comm {

const char* to_string(Route route) {
  switch (route) {
    case Route::direct:
      return "direct";
    case Route::two_step:
      return "two_step";
    case Route::three_step:
      return "three_step";
  }
  return "";
}

Plan make_plan(const mpi::Comm& comm, const Pattern& pattern, Route route) {
  const mpi::Topology& topology = comm.topology();
  if (route == Route::direct || topology.n_nodes() <= 1) return route::direct(pattern);
  const auto planner = mpi::collectively(comm, [&] {
    return route == Route::two_step ? route::two_step(pattern, topology, comm.rank())
                                    : route::three_step(pattern, topology, comm.rank());
  });
  return route::run(comm, *planner);
}

}  // namespace nodewise::comm
