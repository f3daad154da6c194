#include "nodewise/model/queue_search.hpp"

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

}  // namespace nodewise::model
