#include "nodewise/model/queue_search.hpp"

#include "nodewise/model/cost_term.hpp"
namespace nodewise::model {

namespace {

double share_of_worst(Arrival arrival) {
  switch (arrival) {
    case Arrival::in_order:
      return 0;
    case Arrival::random:
      return 1.0 / 2;
    case Arrival::observed:
      return 2.0 / 3;
    case Arrival::reversed:
      return 1;
  }
  return 1;
}

}  // namespace

double queue_search_s(const Machine& machine, double messages, Arrival arrival) {
  return machine.queue_search_s * messages * messages * share_of_worst(arrival);
}

const CostTerm& queue_term() {
  static const CostTerm term = {
      {"queue", "searching the queue for the messages that reach it", "Bienz 2018, eq. 3.1"},
      &ExchangeCost::queue_s,
      "queue",
      [](const Machine& machine, const RankLoad& load, Arrival arrival) {
        return queue_search_s(machine, load.received.messages, arrival);
      },
      [](const Machine& /*machine*/) { return true; },
      [](const Machine& machine) { return machine.queue_search_s > 0; }};
  return term;
}

}  // namespace nodewise::model
