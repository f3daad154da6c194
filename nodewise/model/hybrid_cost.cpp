#include "nodewise/model/hybrid_cost.hpp"

#include <algorithm>

#include "nodewise/base/error.hpp"
#include "nodewise/model/cycle_cost.hpp"

namespace nodewise::model {

double hybrid_s(const HybridParts& parts, comm::Overlap mode) {
  const double sum = parts.exchange_s + parts.own_s + parts.rest_s;
  switch (mode) {
    case comm::Overlap::none:
      return sum;
    case comm::Overlap::naive:
      return sum - parts.hidden_part * std::min(parts.exchange_s, parts.own_s);
    case comm::Overlap::task:
      return std::max(parts.exchange_s, parts.beside * parts.own_s) + parts.rest_s;
    case comm::Overlap::automatic:
      break;
  }
  throw Error(ErrorCode::invalid_argument, "overlap automatic is no mode to be costed");
}

double hidden_by_mpi(const Machine& machine, double bytes) {
  if (machine.progress.empty()) return 0;
  const Progress* at = &machine.progress.front();
  for (const Progress& measured : machine.progress) {
    if (measured.bytes <= bytes) at = &measured;
  }
  return std::min(at->receive.value_or(at->send.value_or(0)),
                  at->send.value_or(at->receive.value_or(0)));
}

double slowdown_beside(const Machine& machine, std::size_t level, double nonzeros_per_core,
                       int threads) {
  if (threads == 1) return 1;
  if (machine.s_per_flop_by_level.empty() && machine.s_per_flop_by_size.empty()) return 1;
  const double fewer = threads - 1;
  return flop_s(machine, level, nonzeros_per_core * threads / fewer, threads - 1) / fewer /
         (flop_s(machine, level, nonzeros_per_core, threads) / threads);
}

}  // namespace nodewise::model
