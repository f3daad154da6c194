// What the event simulation of the library says that an exchange takes on the simulated platform,
// to be compared with what SMPI says.
#pragma once

#include <string>
#include <vector>

#include "nodewise/comm/plan.hpp"
#include "nodewise/model/event_simulation.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::bench {

/// The numbers of the simulated platform that matter on its flat network, by their names there:
/// seconds, bytes and bytes a second.
struct Platform {
  double os = 0.5e-6, orecv = 0.5e-6;    ///< overheads between nodes; `or` there
  double osl = 0.1e-6, orl = 0.1e-6;     ///< and on a node
  double gap = 0.05e-6;                  ///< of a network card
  double lat = 1.3e-6, memlat = 0.2e-6;  ///< between nodes and on one
  double nicbw = 10e9, flowbw = 6e9;     ///< of a card and of one message
  double membw = 40e9, memflow = 6e9;    ///< the same of a node's memory
  double eager = 8192;                   ///< messages from this length on wait for an answer:
  double rvz = 3, rvzl = 3;              ///< their latencies, between nodes and on one
};

/// Local. The platform with what "gap=0,os=1e-6" changes of it; names that do not matter on the
/// flat network are passed over. Throws invalid_argument for what is no name=number.
Platform read_platform(const std::string& parameters);

/// In seconds, over orders of what happens at one instant: SMPI has one that nobody can see.
struct PredictedTime {
  double median = 0, least = 0, most = 0;
};

/// Local. When the last rank has its ghosts. plans[r] is that of rank r; the entries are numbers of
/// double precision, and each message has the 16 bytes more that SMPI gives it.
PredictedTime predicted_time(const std::vector<comm::Plan>& plans, const mpi::Topology& topology,
                             const Platform& platform);

}  // namespace nodewise::bench
