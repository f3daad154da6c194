#include "nodewise/routing/gpu_transport_choice.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/comm/route/message_estimate.hpp"
#include "nodewise/model/gpu_exchange.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/routing/route_costs.hpp"

namespace nodewise::routing {

namespace {

using model::GpuTransport;

/// Why no model need be asked, if so.
std::string nothing_to_ask(const mpi::Topology& topology, const model::Machine& machine) {
  if (topology.n_nodes() <= 1) return "all ranks are on one node";
  if (!machine.gpu) return fmt::format("machine '{}' has no `gpu` parameters", machine.name);
  return {};
}

GpuTransportDecision plain(std::string reason) {
  GpuTransportDecision decision;
  decision.reason = std::move(reason);
  return decision;
}

/// A way that the caller can go, and the machine as its messages meet it.
struct Candidate {
  const GpuTransport& way;
  model::Machine seen;
  int cores;
};

std::vector<Candidate> candidates(const model::Machine& machine, const UsableGpuTransport& usable) {
  std::vector<Candidate> found;
  for (const GpuTransport& way : GpuTransport::family()) {
    const bool is_plain = &way == &model::plain_gpu_transport();
    if (!is_plain && usable && !usable(way)) continue;
    Answer<model::Machine> seen = (*way.messages)(machine);
    if (auto* known = std::get_if<model::Machine>(&seen)) {
      found.push_back({way, std::move(*known), (*way.cores)(machine)});
    }
  }
  return found;
}

}  // namespace

GpuTransportDecision quickest_way(std::vector<GpuTransportPrediction> predictions) {
  GpuTransportDecision decision;
  decision.predictions = std::move(predictions);
  const auto seconds_of = [&](const GpuTransport& way) {
    const auto& all = decision.predictions;
    const auto found = std::find_if(all.begin(), all.end(), [&](const GpuTransportPrediction& p) {
      return &*p.transport == &way;
    });
    return found == all.end() ? model::unlimited : found->seconds;
  };
  const double plain_s = seconds_of(model::plain_gpu_transport());
  double least_s = plain_s;
  const GpuTransportPrediction* rival = nullptr;
  for (const GpuTransportPrediction& p : decision.predictions) {
    if (p.seconds < least_s) {
      least_s = p.seconds;
      decision.chosen = p.transport;
    }
    const bool is_plain = &*p.transport == &model::plain_gpu_transport();
    if (!is_plain && (rival == nullptr || p.seconds < rival->seconds)) rival = &p;
  }
  const std::string& plain_name = model::plain_gpu_transport().name;
  if (rival == nullptr) {
    decision.reason = "there is no other";
  } else if (rival->seconds < plain_s) {
    decision.reason = fmt::format("predicted {} against {} {}", duration(rival->seconds),
                                  duration(plain_s), plain_name);
  } else {
    decision.reason = fmt::format("predicted {} against {} {}", duration(plain_s),
                                  duration(rival->seconds), rival->transport.name());
  }
  return decision;
}

GpuTransportDecision choose_gpu_transport(std::span<const comm::Plan> plans,
                                          const mpi::Topology& topology,
                                          const model::Machine& machine, double bytes_per_entry,
                                          const UsableGpuTransport& usable) {
  if (std::string reason = nothing_to_ask(topology, machine); !reason.empty()) {
    return plain(std::move(reason));
  }
  model::ExchangeCostOptions options;
  options.bytes_per_entry = bytes_per_entry;
  std::vector<GpuTransportPrediction> predictions;
  for (const Candidate& c : candidates(machine, usable)) {
    const auto cost = model::gpu_forward_cost(c.way, plans, topology, machine, options);
    predictions.push_back({c.way, require(cost, *c.way.name).total()});
  }
  return quickest_way(std::move(predictions));
}

GpuTransportDecision choose_gpu_transport(const mpi::Comm& comm, const comm::Plan& plan,
                                          const model::Machine& machine, double bytes_per_entry,
                                          const UsableGpuTransport& usable) {
  if (std::string reason = nothing_to_ask(comm.topology(), machine); !reason.empty()) {
    return plain(std::move(reason));
  }
  const mpi::Scope scope(comm, "gpu_transport_choice");
  std::vector<Candidate> all;
  std::vector<comm::StageSizes> stages;
  model::GpuBytes bytes;
  mpi::collectively(comm, [&] {
    model::check(machine);
    all = candidates(machine, usable);
    stages = comm::sizes_of(plan);
    bytes = model::gpu_bytes(plan, bytes_per_entry);
  });
  std::vector<ExchangeQuestion> questions;
  for (const Candidate& c : all) questions.push_back({stages, bytes_per_entry, &c.seen, c.cores});
  // A copy takes longer the more bytes there are: the largest parts tell the longest copies.
  std::vector<double> most = {bytes.out, bytes.in};
  const std::vector<double> seconds =
      exchange_seconds(comm, machine, MessageCosts::added, questions, std::span(most));
  std::vector<GpuTransportPrediction> predictions;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const double copies_s = model::copies(all[k].way, machine, {most[0], most[1]}).total();
    predictions.push_back({all[k].way, copies_s + seconds[k]});
  }
  return quickest_way(std::move(predictions));
}

}  // namespace nodewise::routing
