#include "simulate/predicted_times.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "nodewise/base/error.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/model/message_recorder.hpp"

namespace nodewise::bench {

namespace {

constexpr std::int64_t envelope_bytes = 16;  // of SMPI, on the wire with every message

std::vector<model::MessageCost> message_costs(double send, double receive, double latency,
                                              double rendezvous, const Platform& platform,
                                              double bytes_per_s) {
  const auto eager = static_cast<std::int64_t>(platform.eager);
  return {{0, send, receive, latency, 1 / bytes_per_s},
          {eager + envelope_bytes, send, receive, rendezvous * latency, 1 / bytes_per_s}};
}

model::EventCosts event_costs(const Platform& p) {
  model::EventCosts costs;
  costs.on_node = message_costs(p.osl, p.orl, p.memlat, p.rvzl, p, p.memflow);
  costs.off_node = message_costs(p.os, p.orecv, p.lat, p.rvz, p, p.flowbw);
  costs.gap = p.gap;
  costs.nic_seconds_per_byte = 1 / p.nicbw;
  costs.memory_seconds_per_byte = 1 / p.membw;
  return costs;
}

}  // namespace

Platform read_platform(const std::string& parameters) {
  Platform p;
  const std::map<std::string, double*> known = {
      {"os", &p.os},         {"or", &p.orecv},        {"osl", &p.osl},     {"orl", &p.orl},
      {"gap", &p.gap},       {"lat", &p.lat},         {"nicbw", &p.nicbw}, {"flowbw", &p.flowbw},
      {"memlat", &p.memlat}, {"membw", &p.membw},     {"eager", &p.eager}, {"rvz", &p.rvz},
      {"rvzl", &p.rvzl},     {"memflow", &p.memflow},
  };
  std::istringstream words(parameters);
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      throw Error(ErrorCode::invalid_argument, "expected name=number, found '" + word + "'");
    }
    const auto found = known.find(word.substr(0, equals));
    if (found == known.end()) continue;
    try {
      *found->second = std::stod(word.substr(equals + 1));
    } catch (const std::logic_error&) {
      throw Error(ErrorCode::invalid_argument, "'" + word + "' has no number");
    }
  }
  return p;
}

PredictedTime predicted_time(const std::vector<comm::Plan>& plans, const mpi::Topology& topology,
                             const Platform& platform) {
  constexpr std::uint64_t n_orders = 15;
  model::MessageRecorder recorder(topology.n_ranks());
  comm::visit_messages(plans, topology, recorder.visitor(sizeof(double), envelope_bytes));
  const model::MessageStages stages = recorder.take();
  const model::EventCosts costs = event_costs(platform);
  std::vector<double> times;
  for (std::uint64_t order = 1; order <= n_orders; ++order) {
    times.push_back(model::simulate_events(stages, topology, costs, order).end());
  }
  std::sort(times.begin(), times.end());
  return {times[n_orders / 2], times.front(), times.back()};
}

}  // namespace nodewise::bench
