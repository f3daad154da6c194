#include "nodewise/model/contention.hpp"

#include "nodewise/model/cost_term.hpp"
#include "nodewise/model/network_shape.hpp"

namespace nodewise::model {

int contention_hops(const NetworkShape& shape, int n_nodes, int node, int other) {
  return method_of(shape).contention_hops(shape, n_nodes, node, other);
}

double bytes_per_link(const NetworkShape& shape, const NetworkLoad& load) {
  return method_of(shape).bytes_per_link(shape, load);
}

double contention_s(const Machine& machine, const NetworkLoad& load) {
  return machine.contention_s_per_byte_per_link * bytes_per_link(machine.network, load);
}

const CostTerm& contention_term() {
  static const CostTerm term = {{"contention", "waiting for links", "Bienz 2018, eq. 3.3"},
                                &ExchangeCost::contention_s,
                                "conten-\ntion",
                                contention_s,
                                [](const Machine& /*machine*/) { return true; },
                                [](const Machine& machine) {
                                  return method_of(machine.network).is_known &&
                                         machine.contention_s_per_byte_per_link > 0;
                                }};
  return term;
}

}  // namespace nodewise::model
