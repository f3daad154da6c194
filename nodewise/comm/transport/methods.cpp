// The list of transports.
#include "nodewise/comm/transport/transport.hpp"

namespace nodewise::comm {

namespace transport {
const TransportMethod& point_to_point_method();
const TransportMethod& persistent_method();
const TransportMethod& neighborhood_method();
const TransportMethod& persistent_neighborhood_method();
const TransportMethod& rma_method();
const TransportMethod& shared_memory_method();
}  // namespace transport

Family<TransportMethod>& TransportMethod::family() {
  static Family<TransportMethod> family(
      "transport",
      {&transport::point_to_point_method(), &transport::persistent_method(),
       &transport::neighborhood_method(), &transport::persistent_neighborhood_method(),
       &transport::rma_method(), &transport::shared_memory_method()},
      {"automatic", "on each level what a short trial finds quicker"});
  return family;
}

}  // namespace nodewise::comm
