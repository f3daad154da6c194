#include "nodewise/predict/gpu_prediction.hpp"

#include <algorithm>

#include "nodewise/model/gpu_transport.hpp"

namespace nodewise::predict {

namespace {

using model::GpuTransport;

/// The place of the smallest value; of equal ones the first.
template <class Value>
std::size_t least(std::size_t n, const Value& value) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < n; ++k) {
    if (value(k) < value(best)) best = k;
  }
  return best;
}

/// The way of the host that wins first where messages have so many bytes.
GpuPrediction::CopiesWin turn_of(const model::Machine& machine, const GpuPrediction& prediction,
                                 double bytes) {
  constexpr int most_messages = 1000;
  GpuPrediction::CopiesWin win;
  win.message_bytes = bytes;
  if (bytes == 0) return win;
  for (const GpuPrediction::Way& way : prediction.ways) {
    const Answer<int> turn = model::copies_win_from(machine, *way.transport, bytes, most_messages);
    const int* messages = std::get_if<int>(&turn);
    if (messages == nullptr || *messages == 0) continue;
    if (win.messages > 0 && *messages >= win.messages) continue;
    win.messages = *messages;
    win.transport = way.transport;
  }
  return win;
}

}  // namespace

GpuPrediction begin_gpu_prediction(const model::Machine& machine) {
  GpuPrediction prediction;
  prediction.gpus_per_node = machine.gpu->gpus_per_node;
  for (const GpuTransport& way : GpuTransport::family()) {
    const Answer<model::Machine> seen = (*way.messages)(machine);
    if (const auto* none = std::get_if<Unanswered>(&seen)) {
      prediction.unanswered.push_back(*way.name + ": " + none->reason);
    } else {
      prediction.ways.push_back({&way, {}});
    }
  }
  return prediction;
}

void add_turns(const model::Machine& machine, GpuPrediction& prediction) {
  for (const PredictedLevel& level : prediction.plain().levels) {
    const ExchangeTime& product = level.of(Exchanged::product).front();
    const double bytes = product.messages == 0 ? 0
                                               : static_cast<double>(product.bytes) /
                                                     static_cast<double>(product.messages);
    prediction.copies_win.push_back(turn_of(machine, prediction, bytes));
  }
}

const Prediction& GpuPrediction::plain() const {
  const auto is_plain = [](const Way& way) {
    return way.transport == &model::plain_gpu_transport();
  };
  return std::find_if(ways.begin(), ways.end(), is_plain)->prediction;
}

ExchangeTime GpuPrediction::of_cycle(std::size_t level, const Pair& pair,
                                     CollectiveKind kind) const {
  return ways[pair.way].prediction.levels[level].of_cycle(pair.route, kind);
}

GpuPrediction::Best GpuPrediction::best(std::size_t measure) const {
  Best best;
  best.gathering = ways.front().prediction.best(measure).gathering;  // of the host, by any way
  const std::size_t n_routes = ways.front().prediction.routes.size();
  for (std::size_t l = 0; l < ways.front().prediction.levels.size(); ++l) {
    const std::size_t k = least(ways.size() * n_routes, [&](std::size_t pair) {
      return seconds(of_cycle(l, {pair / n_routes, pair % n_routes}, best.gathering), measure);
    });
    best.of_level.push_back({k / n_routes, k % n_routes});
  }
  return best;
}

ExchangeTime GpuPrediction::cycle(const Best& chosen) const {
  ExchangeTime sum;
  for (std::size_t l = 0; l < chosen.of_level.size(); ++l) {
    sum.add(of_cycle(l, chosen.of_level[l], chosen.gathering));
  }
  return sum;
}

}  // namespace nodewise::predict
