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

int VirtualCounts::n_ranks() const {
  return std::accumulate(ranks_per_node.begin(), ranks_per_node.end(), 0);
}

}  // namespace nodewise::predict
