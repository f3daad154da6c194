#include "cli/inspect_record.hpp"

#include <numeric>

namespace nodewise::cli {

const char* to_string(Operation operation) noexcept {
  switch (operation) {
    case Operation::product:
      return "product";
    case Operation::interpolation:
      return "interpolation";
    case Operation::interpolation_rows:
      return "interpolation_rows";
    case Operation::restriction:
      return "restriction";
  }
  return "";
}

int VirtualRecord::n_ranks() const {
  return std::accumulate(ranks_per_node.begin(), ranks_per_node.end(), 0);
}

}  // namespace nodewise::cli
