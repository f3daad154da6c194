#include "nodewise/routing/decision_rule.hpp"

namespace nodewise::routing {

Selection select(std::span<const double> seconds, double uses, std::span<const double> prices) {
  Selection selection;
  const auto price = [&](std::size_t k) { return prices.empty() ? 0.0 : prices[k]; };
  const auto total = [&](std::size_t k) { return uses * seconds[k] + price(k); };
  for (std::size_t k = 1; k < seconds.size(); ++k) {
    if (selection.rival == 0 || total(k) < total(selection.rival)) selection.rival = k;
  }
  const std::size_t rival = selection.rival;
  const bool pays = seconds[rival] < (1 - least_saving) * seconds[0] && total(rival) < total(0);
  if (rival > 0 && pays) selection.chosen = rival;
  return selection;
}

}  // namespace nodewise::routing
