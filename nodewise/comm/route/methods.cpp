// The list of routes.
#include "nodewise/comm/route/route.hpp"

namespace nodewise::comm {

namespace route {
const RouteMethod& direct_method();
const RouteMethod& two_step_method();
const RouteMethod& three_step_method();
}  // namespace route

Family<RouteMethod>& RouteMethod::family() {
  static Family<RouteMethod> family(
      "route", {&route::direct_method(), &route::two_step_method(), &route::three_step_method()},
      {"automatic", "on each level the one that a model of the machine or the network prefers"});
  return family;
}

}  // namespace nodewise::comm
