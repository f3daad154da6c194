#include "nodewise/predict/inspection.hpp"

#include <numeric>

namespace nodewise::predict {

const char* to_string(CountedExchange operation) noexcept {
  switch (operation) {
    case CountedExchange::product:
      return "product";
    case CountedExchange::interpolation:
      return "interpolation";
    case CountedExchange::interpolation_rows:
      return "interpolation_rows";
    case CountedExchange::restriction:
      return "restriction";
  }
  return "";
}

Volume& Volume::operator+=(const Volume& more) {
  max_messages += more.max_messages;
  max_bytes += more.max_bytes;
  messages += more.messages;
  bytes += more.bytes;
  return *this;
}

RouteVolumes VirtualCounts::of_all_levels(CountedExchange operation, std::size_t route) const {
  RouteVolumes sum;
  for (const LevelCounts& level : levels) {
    if (level.of(operation).empty()) continue;
    const RouteVolumes& volumes = level.of(operation)[route];
    sum.on_domain += volumes.on_domain;
    sum.on_node += volumes.on_node;
    sum.off_node += volumes.off_node;
  }
  return sum;
}

int VirtualCounts::n_ranks() const {
  return std::accumulate(ranks_per_node.begin(), ranks_per_node.end(), 0);
}

}  // namespace nodewise::predict
