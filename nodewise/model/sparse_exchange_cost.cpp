#include "nodewise/model/sparse_exchange_cost.hpp"

#include <algorithm>
#include <bit>

namespace nodewise::model {

namespace {

constexpr double short_bytes = 64;     // a message of a few numbers
constexpr double joined_bytes = 8192;  // what is passed on in a region, joined

}  // namespace

mpi::SparseCosts sparse_costs(const Machine& machine, const mpi::Topology& regions,
                              mpi::Region region) {
  const auto n = static_cast<int>(regions.most_ranks_on_a_node());
  const Locality inside =
      region == mpi::Region::domain ? Locality::same_socket : Locality::same_node;
  const double latency_s = machine.parameters(inside, short_bytes).latency_s;
  const double rounds = std::bit_width(static_cast<unsigned>(n - 1));  // of a reduction
  mpi::SparseCosts costs;
  if (machine.overheads) {
    const MessageOverheads& o = *machine.overheads;
    costs.message_s = std::max(o.send_other_node_s + o.receive_other_node_s, n * o.nic_gap_s);
    costs.step_s = (rounds + 1) * latency_s + (n - 1) * (o.send_on_node_s + o.receive_on_node_s);
  } else {
    costs.message_s = machine.parameters(Locality::other_node, short_bytes).latency_s;
    costs.step_s = (rounds + n - 1) * latency_s;
  }
  constexpr double least_s = 1e-12;  // where no clock told
  costs.message_s = std::max(costs.message_s, least_s);
  // Copied into joined messages, and passed on.
  costs.byte_s = 2 / machine.parameters(inside, joined_bytes).rate_bytes_per_s;
  return costs;
}

}  // namespace nodewise::model
