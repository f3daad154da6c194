// The list of scenarios.
#include "nodewise/model/scenario.hpp"

namespace nodewise::model {

namespace {

constexpr const char* scenario_source = "Gahvari et al. 2014, section 5.2";

}  // namespace

Family<Scenario>& Scenario::family() {
  static const Scenario baseline = {
      {"baseline", "latency and bytes of each message, nothing else", scenario_source},
      Penalties{}};
  static const Scenario distance = {
      {"distance", "besides, a latency for each hop beyond the fewest possible", scenario_source},
      Penalties{true, false, false, false}};
  static const Scenario beta = {
      {"beta", "distance, and less bandwidth than the hardware has and as messages share links",
       scenario_source},
      Penalties{true, true, false, false}};
  static const Scenario alpha_beta = {
      {"alpha_beta", "beta, and latencies that grow with the ranks of a node that send",
       scenario_source},
      Penalties{true, true, true, false}};
  static const Scenario beta_gamma = {
      {"beta_gamma", "beta, and hops that cost more with the ranks of a node that send",
       scenario_source},
      Penalties{true, true, false, true}};
  static const Scenario alpha_beta_gamma = {{"alpha_beta_gamma", "both of them", scenario_source},
                                            Penalties{true, true, true, true}};
  static Family<Scenario> family(
      "scenario", {&baseline, &distance, &beta, &alpha_beta, &beta_gamma, &alpha_beta_gamma},
      {"automatic", "what the machine file says"});
  return family;
}

}  // namespace nodewise::model
