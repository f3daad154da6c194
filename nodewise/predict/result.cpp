#include "nodewise/predict/result.hpp"

#include <algorithm>
#include <numeric>

#include "nodewise/model/hybrid_cost.hpp"

namespace nodewise::predict {

namespace {

/// The place of the smallest value; of equal ones the first.
template <class Value>
std::size_t cheapest(std::size_t n, const Value& value) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < n; ++k) {
    if (value(k) < value(best)) best = k;
  }
  return best;
}

}  // namespace

const char* to_string(Exchanged exchanged) noexcept {
  switch (exchanged) {
    case Exchanged::product:
      return "product";
    case Exchanged::restriction:
      return "restriction";
    case Exchanged::prolongation:
      return "prolongation";
    case Exchanged::splitting:
      return "splitting";
    case Exchanged::spectral_radius:
      return "spectral_radius";
    case Exchanged::row_scales:
      return "row_scales";
    case Exchanged::interpolation:
      return "interpolation";
    case Exchanged::interpolation_rows:
      return "interpolation_rows";
    case Exchanged::product_rows:
      return "product_rows";
    case Exchanged::requests:
      return "requests";
    case Exchanged::redistribution:
      return "redistribution";
  }
  return "";
}

double ExchangeTime::low() const {
  return simulated.empty() ? 0 : *std::min_element(simulated.begin(), simulated.end());
}

double ExchangeTime::high() const {
  return simulated.empty() ? 0 : *std::max_element(simulated.begin(), simulated.end());
}

ExchangeTime& ExchangeTime::add(const ExchangeTime& other, double times) {
  formula += times * other.formula;
  copies_s += times * other.copies_s;
  simulated.resize(std::max(simulated.size(), other.simulated.size()), 0);
  for (std::size_t k = 0; k < other.simulated.size(); ++k) {
    simulated[k] += times * other.simulated[k];
  }
  max_off_node += static_cast<std::int64_t>(times) * other.max_off_node;
  messages += static_cast<std::int64_t>(times) * other.messages;
  bytes += static_cast<std::int64_t>(times) * other.bytes;
  waits += static_cast<std::int64_t>(times) * other.waits;
  return *this;
}

void ExchangeTime::add_copies(double seconds) {
  copies_s += seconds;
  for (double& time : simulated) time += seconds;
}

ExchangeTime PredictedLevel::of_cycle(std::size_t route, CollectiveKind kind) const {
  ExchangeTime sum;
  sum.add(of(Exchanged::product)[route], visits.products);
  for (const Exchanged e : {Exchanged::restriction, Exchanged::prolongation}) {
    if (!of(e).empty()) sum.add(of(e)[route], visits.transfers);
  }
  if (!gathering.empty()) sum.add(gathering[static_cast<std::size_t>(kind)], visits.solves);
  return sum;
}

ExchangeTime PredictedLevel::of_setup(std::size_t route, CollectiveKind kind,
                                      const ExchangeTime& reduction) const {
  ExchangeTime sum;
  for (const Exchanged e : setup_exchanged) {
    if (!of(e).empty()) sum.add(of(e)[route]);
  }
  if (!matrix_gathering.empty()) sum.add(matrix_gathering[static_cast<std::size_t>(kind)]);
  return sum.add(reduction, static_cast<double>(setup_reductions));
}

double seconds(const ExchangeTime& time, std::size_t measure) {
  return measure == 0 ? time.formula.total() + time.copies_s : time.simulated[measure - 1];
}

int Prediction::n_ranks() const {
  return std::accumulate(ranks_per_node.begin(), ranks_per_node.end(), 0);
}

double Prediction::work_s() const {
  double sum = 0;
  for (const PredictedLevel& level : levels) sum += level.work_s;
  return sum;
}

double Prediction::setup_work_s() const {
  double sum = 0;
  for (const PredictedLevel& level : levels) sum += level.setup_work_s;
  return sum;
}

ExchangeTime Prediction::cycle(std::size_t route) const {
  return cycle(one_route(*this, route));
}

BestRoutes Prediction::best(std::size_t measure) const {
  BestRoutes best;
  for (const PredictedLevel& level : levels) {
    best.of_level.push_back(cheapest(routes.size(), [&](std::size_t route) {
      return seconds(level.of_cycle(route, CollectiveKind::plain), measure);
    }));
    if (level.gathering.empty()) continue;
    best.gathering =
        static_cast<CollectiveKind>(cheapest(level.gathering.size(), [&](std::size_t kind) {
          return seconds(level.gathering[kind], measure);
        }));
  }
  return best;
}

double Prediction::hybrid_cycle_s(const BestRoutes& chosen, std::size_t measure,
                                  comm::Overlap mode) const {
  double sum = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const PredictedLevel& level = levels[l];
    const std::size_t route = chosen.of_level[l];
    const double own_s = level.own_part * level.work_s;
    const model::HybridParts parts = {
        .exchange_s = seconds(level.of_cycle(route, chosen.gathering), measure),
        .own_s = own_s,
        .rest_s = level.work_s - own_s,
        .beside = level.slowdown_beside,
        .hidden_part = level.hidden_by_mpi.empty() ? 0 : level.hidden_by_mpi[route]};
    const auto in = [&](comm::Overlap which) {
      const bool can_talk = threads_per_rank > 1 || which != comm::Overlap::task;
      return model::hybrid_s(parts, can_talk ? which : comm::Overlap::naive);
    };
    sum += mode != comm::Overlap::automatic
               ? in(mode)
               : std::min(in(comm::Overlap::naive), in(comm::Overlap::task));
  }
  return sum;
}

ExchangeTime Prediction::cycle(const BestRoutes& chosen) const {
  ExchangeTime sum;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    sum.add(levels[l].of_cycle(chosen.of_level[l], chosen.gathering));
  }
  return sum;
}

bool Prediction::is_certain(std::size_t level) const {
  const std::size_t route = best(by_simulation).of_level[level];
  for (std::size_t k = 1; k < scenarios.size(); ++k) {
    if (best(by_simulation + k).of_level[level] != route) return false;
  }
  return true;
}

std::size_t Prediction::dearest_level(const BestRoutes& chosen, std::size_t measure) const {
  return cheapest(levels.size(), [&](std::size_t l) {
    return -seconds(levels[l].of_cycle(chosen.of_level[l], chosen.gathering), measure);
  });
}

BestRoutes one_route(const Prediction& prediction, std::size_t route) {
  return {std::vector<std::size_t>(prediction.levels.size(), route), CollectiveKind::plain};
}

ExchangeTime Prediction::setup_of_level(std::size_t level, std::size_t route,
                                        CollectiveKind kind) const {
  return levels[level].of_setup(route, kind, allreduce[static_cast<std::size_t>(kind)]);
}

ExchangeTime Prediction::setup(std::size_t route) const {
  return setup(one_route(*this, route));
}

BestRoutes Prediction::best_for_setup(std::size_t measure) const {
  BestRoutes best;
  best.gathering = static_cast<CollectiveKind>(cheapest(
      allreduce.size(), [&](std::size_t kind) { return seconds(allreduce[kind], measure); }));
  for (std::size_t l = 0; l < levels.size(); ++l) {
    best.of_level.push_back(cheapest(routes.size(), [&](std::size_t route) {
      return seconds(setup_of_level(l, route, best.gathering), measure);
    }));
  }
  return best;
}

ExchangeTime Prediction::setup(const BestRoutes& chosen) const {
  ExchangeTime sum;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    sum.add(setup_of_level(l, chosen.of_level[l], chosen.gathering));
  }
  return sum.add(allreduce[static_cast<std::size_t>(chosen.gathering)],
                 static_cast<double>(setup_reductions));
}

double ScalingParts::seconds_of_first(std::size_t measure) const {
  return work_s + seconds(first_route, measure);
}

double ScalingParts::seconds_of_best(std::size_t measure) const {
  return work_s + seconds(measure == by_formula ? best_by_formula : best_by_simulation, measure);
}

std::size_t fastest(const std::vector<ScalingPoint>& curve, bool best, std::size_t measure) {
  return cheapest(curve.size(), [&](std::size_t k) {
    return best ? curve[k].cycle.seconds_of_best(measure)
                : curve[k].cycle.seconds_of_first(measure);
  });
}

}  // namespace nodewise::predict
