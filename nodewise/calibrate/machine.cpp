// The machine file that measurements make.
#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/version.hpp"
#include "nodewise/calibrate/fit.hpp"
#include "nodewise/model/penalties.hpp"
#include "nodewise/model/switch_cost.hpp"

namespace nodewise::calibrate {

namespace {

using model::Locality;

using model::Protocol;

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16] = {};
  std::tm parts{};
  if (gmtime_r(&now, &parts) == nullptr) return "";
  std::strftime(text, sizeof(text), "%Y-%m-%d", &parts);
  return text;
}

void set_paths(const Fits& fits, model::Machine& machine) {
  for (const PathFit& path : fits.paths) {
    model::PathParameters parameters;
    for (std::size_t p = 0; p < path.protocols.size(); ++p) {
      const auto& fit = path.protocols[p];
      if (!fit || !std::isfinite(fit->rate_bytes_per_s())) continue;
      parameters[p] = {fit->latency_s.value, fit->rate_bytes_per_s(), model::unlimited};
      const auto& limit = path.injection[p];
      if (limit && limit->reached) parameters[p]->injection_bytes_per_s = limit->bytes_per_s.value;
      if (fit->has_rate()) continue;
      machine.notes.push_back(
          fmt::format("{}, {}: times do not grow with the size; the rate is the least one that "
                      "they do not contradict.",
                      to_string(path.locality), to_string(static_cast<Protocol>(p))));
    }
    if (std::any_of(parameters.begin(), parameters.end(), [](const auto& p) { return !!p; })) {
      machine.path(path.locality) = parameters;
      auto& own = machine.own_switch_sizes[static_cast<std::size_t>(path.locality)];
      own.reset();  // what the base says of it
      if (path.switch_sizes != machine.switch_sizes) own = path.switch_sizes;
    }
  }
}

/// The switch sizes of all; what the base says of localities goes on switching where it did.
void set_switch_sizes(const model::SwitchSizes& sizes, model::Machine& machine) {
  for (std::size_t l = 0; l < machine.paths.size(); ++l) {
    const model::PathParameters& path = machine.paths[l];
    const bool known = std::any_of(path.begin(), path.end(), [](const auto& p) { return !!p; });
    auto& own = machine.own_switch_sizes[l];
    if (known && !own && machine.switch_sizes != sizes) own = machine.switch_sizes;
  }
  machine.switch_sizes = sizes;
}

/// Zero, with a note, where the interval begins there.
double told_from_zero(const char* key, const model::Estimate& e, model::Machine& machine) {
  if (e.low > 0) return e.value;
  machine.notes.push_back(
      fmt::format("{} cannot be told from 0; it is at most {:.3g}.", key, e.high));
  return 0;
}

void set_computation(const Record& record, model::Machine& machine) {
  std::vector<model::FlopCost> flops;
  for (std::size_t k = 0; k < record.spmv.size(); ++k) {
    if (record.spmv[k].times.empty()) continue;
    const bool is_last = k + 1 == record.spmv.size();
    const double end = is_last ? model::unlimited
                               : std::sqrt(record.spmv[k].nonzeros * record.spmv[k + 1].nonzeros);
    flops.push_back({end, record.spmv[k].s_per_flop()});
  }
  if (!flops.empty()) {
    flops.back().up_to_nonzeros = model::unlimited;
    machine.s_per_flop_by_size = flops;
  }
  std::vector<double> by_level;
  for (const SpmvTimes& level : record.level_products) {
    if (!level.times.empty()) by_level.push_back(level.s_per_flop());
  }
  by_level = model::frozen_flop_times(std::move(by_level));
  while (by_level.size() > 1 && by_level.back() == by_level[by_level.size() - 2]) {
    by_level.pop_back();  // the last holds for all coarser levels
  }
  // Those of another problem's levels do not stay beside sizes that were measured here.
  if (!by_level.empty() || !flops.empty()) machine.s_per_flop_by_level = by_level;
  std::vector<model::ThreadBandwidth> bandwidth;
  for (const TriadTimes& t : record.triad) {
    if (!t.times.empty()) bandwidth.push_back({t.threads, t.bytes_per_s() / t.threads});
  }
  if (!bandwidth.empty()) machine.thread_bandwidth = bandwidth;
  if (!record.host.caches.empty()) machine.caches = record.host.caches;
}

/// From the shape of the base's network and the pair of ranks with the largest latency.
void set_hop_latency(const Record& record, model::Machine& machine) {
  const auto n_nodes = static_cast<int>(record.environment.ranks_per_node.size());
  for (const PathTimes& path : record.paths) {
    if (path.locality != "other_node" || path.pairs.size() < 2) continue;
    const double largest = path.largest_latency_s();
    if (!std::isfinite(largest)) continue;
    const auto fitted = model::hop_latency_s(machine, n_nodes, largest);
    if (!fitted) {
      machine.notes.emplace_back(
          "network.hop_latency_s: the network's shape is needed, and is that of a base machine.");
      return;
    }
    machine.hop_latency_s = *fitted;
    machine.notes.push_back(
        fmt::format("network.hop_latency_s: from the largest latency of {}, {:.3g} s.",
                    counted(std::ssize(path.pairs), "pair"), largest));
  }
}

void set_overheads(const Record& record, const Fits& fits, model::Machine& machine) {
  const OverheadTimes* near = nullptr;
  const OverheadTimes* far = nullptr;
  for (const OverheadTimes& o : record.overheads) {
    if (o.send.empty() || o.receive.empty()) continue;
    (o.locality == "other_node" ? far : near) = &o;
  }
  if (near == nullptr || far == nullptr || !fits.in_a_row) return;
  machine.overheads = {near->send.median(), near->receive.median(), far->send.median(),
                       far->receive.median(), fits.in_a_row->seconds_per_byte.value};
}

/// Sums whose times are times; the base's stand where nothing was measured.
void set_allreduces(const Record& record, model::Machine& machine) {
  model::MeasuredAllreduces measured;
  measured.ranks = record.environment.ranks;
  measured.nodes = static_cast<int>(record.environment.ranks_per_node.size());
  for (const AllreduceTimes& a : record.allreduce) {
    if (a.times.empty() || !(a.times.median() > 0)) continue;
    auto& times = a.algorithm == "node_aware" ? measured.node_aware : measured.mpi;
    times.push_back({a.bytes, a.times.median()});
  }
  if (!measured.mpi.empty() || !measured.node_aware.empty()) machine.allreduces = measured;
}

void set_progress(const Record& record, model::Machine& machine) {
  std::vector<model::Progress> progress;
  for (const OverlapTimes& o : record.overlap) {
    if (o.message.empty() || o.work.empty() || o.both.empty() || std::isnan(o.fraction())) continue;
    const auto same_size = [&](const model::Progress& p) { return p.bytes == o.bytes; };
    auto at = std::find_if(progress.begin(), progress.end(), same_size);
    if (at == progress.end()) at = progress.insert(at, {o.bytes, {}, {}});
    (o.direction == "receive" ? at->receive : at->send) = o.fraction();
  }
  const auto shorter = [](const model::Progress& a, const model::Progress& b) {
    return a.bytes < b.bytes;
  };
  std::sort(progress.begin(), progress.end(), shorter);
  if (!progress.empty()) machine.progress = progress;
}

void add_notes(const Record& record, const Fits& fits, const model::Machine* base,
               model::Machine& machine) {
  const auto note = [&](std::string text) { machine.notes.push_back(std::move(text)); };
  for (const NotMeasured& n : record.not_measured) {
    note(fmt::format("Not measured: {}: {}.", n.what, n.why));
  }
  if (base != nullptr) {
    note(fmt::format("What was not measured is that of the machine {}.", base->name));
  }
  if (fits.switches_from == "base") note("The switch sizes are those of that machine.");
  if (record.environment.placement_given) {
    note("The nodes are those of `node_map` or `ranks_per_node`, not those of the machine.");
  }
  if (record.environment.ranks > record.environment.hosts * record.host.cores) {
    note(fmt::format("{} shared {}: their times contain the waiting for each other.",
                     counted(record.environment.ranks, "rank"),
                     counted(record.environment.hosts * record.host.cores, "core")));
  }
}

}  // namespace

model::Machine make_machine(const Record& record, const Fits& fits, const model::Machine* base,
                            const std::string& name) {
  model::Machine machine = base != nullptr ? *base : model::Machine{};
  machine.name = name;
  machine.source = fmt::format("nodewise calibrate {}, {}: {} on {}, {}, {}", build_info().version,
                               today(), counted(record.environment.ranks, "rank"),
                               counted(std::ssize(record.environment.ranks_per_node), "node"),
                               record.environment.processor, record.environment.mpi_library);
  machine.measured = true;
  machine.notes.clear();
  machine.sockets_per_node = record.host.sockets;
  machine.cores_per_node = record.host.cores;
  set_switch_sizes(fits.switch_sizes, machine);
  set_paths(fits, machine);
  if (fits.queue_reversed) {
    machine.queue_search_s =
        told_from_zero("queue_search_s", fits.queue_reversed->queue_search_s, machine);
  }
  if (fits.contention) {
    machine.contention_s_per_byte_per_link =
        told_from_zero("contention_s_per_byte_per_link", *fits.contention, machine);
  }
  set_hop_latency(record, machine);
  set_computation(record, machine);
  set_overheads(record, fits, machine);
  set_allreduces(record, machine);
  set_progress(record, machine);
  set_cards(record, fits, machine);
  add_notes(record, fits, base, machine);
  return machine;
}

}  // namespace nodewise::calibrate
