#include "nodewise/model/product_cost.hpp"

#include <algorithm>

#include "nodewise/model/message_cost.hpp"

namespace nodewise::model {

double product_s(const Machine& machine, double s_per_flop, double nonzeros_per_rank,
                 std::span<const ProductSends> ranks) {
  double slowest = 0;
  for (const ProductSends& rank : ranks) {
    const MessageParameters& parameters =
        machine.parameters(Locality::other_node, rank.message_bytes);
    slowest = std::max(slowest, rank.messages * postal_s(parameters, rank.message_bytes));
  }
  return 2 * s_per_flop * nonzeros_per_rank + slowest;
}

}  // namespace nodewise::model
