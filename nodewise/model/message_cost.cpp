#include "nodewise/model/message_cost.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"

namespace nodewise::model {

double postal_s(const MessageParameters& parameters, double bytes) {
  return parameters.latency_s + bytes / parameters.rate_bytes_per_s;
}

double max_rate_s(const MessageParameters& parameters, double bytes, int ppn) {
  if (ppn < 1) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} ranks of a node cannot send", ppn));
  }
  const double rate = std::min(parameters.injection_bytes_per_s, ppn * parameters.rate_bytes_per_s);
  return parameters.latency_s + ppn * bytes / rate;
}

double message_s(const Machine& machine, Locality locality, double bytes, int ppn) {
  const MessageParameters& parameters = machine.parameters(locality, bytes);
  return locality == Locality::other_node ? max_rate_s(parameters, bytes, ppn)
                                          : postal_s(parameters, bytes);
}

}  // namespace nodewise::model
