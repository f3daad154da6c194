// What a machine must be for the formulas to make sense of it.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/model/machine.hpp"

namespace nodewise::model {

namespace {

template <class T>
[[noreturn]] void refuse(std::string_view where, T value, std::string_view must) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} is {}; {}", where, value, must));
}

// Comparisons are written so that NaN fails them.
void check_rate(std::string_view where, double value) {
  if (!(value > 0)) refuse(where, value, "a rate must be positive");
  if (std::isinf(value)) refuse(where, value, "a rate must be finite");
}

void check_time(std::string_view where, double value) {
  if (!(value >= 0 && std::isfinite(value))) {
    refuse(where, value, "a time must be finite and not negative");
  }
}

void check_positive_time(std::string_view where, double value) {
  if (!(value > 0 && std::isfinite(value))) {
    refuse(where, value, "this time must be finite and positive");
  }
}

void check_count(std::string_view where, int value) {
  if (value < 1) refuse(where, value, "a count must be at least 1");
}

void check_paths(const Machine& machine) {
  bool any_far = false;
  for (int l = 0; l < n_localities; ++l) {
    const auto locality = static_cast<Locality>(l);
    for (int p = 0; p < n_protocols; ++p) {
      const auto& set = machine.path(locality)[static_cast<std::size_t>(p)];
      if (!set) continue;
      const std::string where =
          fmt::format("protocols.{}.{}", to_string(locality), to_string(static_cast<Protocol>(p)));
      check_time(where + ".latency_s", set->latency_s);
      check_rate(where + ".rate_bytes_per_s", set->rate_bytes_per_s);
      if (set->injection_bytes_per_s != unlimited) {
        check_rate(where + ".injection_bytes_per_s", set->injection_bytes_per_s);
      }
      any_far = any_far || locality == Locality::other_node;
    }
  }
  if (!any_far) {
    throw Error(ErrorCode::invalid_argument,
                "protocols.other_node is empty; it must have at least one protocol");
  }
}

void check_switch_sizes(const std::string& where, const SwitchSizes& sizes) {
  if (sizes.short_bytes < 0) {
    refuse(where + ".short_bytes", sizes.short_bytes, "a size must not be negative");
  }
  if (sizes.eager_bytes < sizes.short_bytes) {
    refuse(where + ".eager_bytes", sizes.eager_bytes,
           fmt::format("it must not be below short_bytes, {}", sizes.short_bytes));
  }
}

void check_own_switch_sizes(const Machine& machine) {
  for (int l = 0; l < n_localities; ++l) {
    const auto locality = static_cast<Locality>(l);
    const auto& own = machine.own_switch_sizes[static_cast<std::size_t>(l)];
    if (!own) continue;
    const std::string where = fmt::format("protocols.{}", to_string(locality));
    check_switch_sizes(where + ".switch_sizes", *own);
    const PathParameters& path = machine.path(locality);
    if (std::any_of(path.begin(), path.end(), [](const auto& set) { return set.has_value(); })) {
      continue;
    }
    throw Error(ErrorCode::invalid_argument,
                where + ".switch_sizes is there, but no protocol it would choose");
  }
}

struct ShapeCheck {
  void operator()(std::monostate) const {}
  void operator()(const FatTree& tree) const {
    check_count("network.nodes_per_switch", tree.nodes_per_switch);
    check_count("network.levels", tree.levels);
  }
  void operator()(const Torus& torus) const {
    if (torus.dimensions.empty()) {
      throw Error(ErrorCode::invalid_argument, "network.dimensions is empty; a torus has some");
    }
    for (std::size_t d = 0; d < torus.dimensions.size(); ++d) {
      check_count(fmt::format("network.dimensions[{}]", d), torus.dimensions[d]);
    }
    check_count("network.nodes_per_router", torus.nodes_per_router);
  }
  void operator()(const Dragonfly& dragonfly) const {
    check_count("network.groups", dragonfly.groups);
    check_count("network.rows", dragonfly.rows);
    check_count("network.columns", dragonfly.columns);
    check_count("network.nodes_per_router", dragonfly.nodes_per_router);
    if (!(dragonfly.links_between_groups > 0 && std::isfinite(dragonfly.links_between_groups))) {
      refuse("network.links_between_groups", dragonfly.links_between_groups,
             "it must be finite and positive");
    }
  }
};

void check_flop_costs(const Machine& machine) {
  const auto& levels = machine.s_per_flop_by_level;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    check_positive_time(fmt::format("computation.s_per_flop_by_level[{}]", i), levels[i]);
  }
  double last = 0;
  for (std::size_t i = 0; i < machine.s_per_flop_by_size.size(); ++i) {
    const FlopCost& cost = machine.s_per_flop_by_size[i];
    const std::string where = fmt::format("computation.s_per_flop_by_size[{}]", i);
    check_positive_time(where + ".s_per_flop", cost.s_per_flop);
    if (!(cost.up_to_nonzeros > last)) {
      refuse(where + ".up_to_nonzeros", cost.up_to_nonzeros, "sizes must be positive and ascend");
    }
    last = cost.up_to_nonzeros;
  }
}

void check_memory(const Machine& machine) {
  int last = 0;
  for (std::size_t i = 0; i < machine.thread_bandwidth.size(); ++i) {
    const ThreadBandwidth& entry = machine.thread_bandwidth[i];
    const std::string where = fmt::format("computation.thread_bandwidth[{}]", i);
    check_rate(where + ".bytes_per_s", entry.bytes_per_s);
    if (entry.threads <= last) {
      refuse(where + ".threads", entry.threads, "numbers of threads must be positive and ascend");
    }
    last = entry.threads;
  }
  for (std::size_t i = 0; i < machine.caches.size(); ++i) {
    const std::string where = fmt::format("computation.caches[{}]", i);
    const double bytes = machine.caches[i].bytes;
    if (!(bytes > 0 && std::isfinite(bytes))) {
      refuse(where + ".bytes", bytes, "a cache must have a finite, positive size");
    }
    check_count(where + ".cores", machine.caches[i].cores);
  }
}

void check_copy(const std::string& where, const CopyPath& path) {
  check_time(where + ".latency_s", path.latency_s);
  check_rate(where + ".rate_bytes_per_s", path.rate_bytes_per_s);
}

void check_gpu(const GpuPaths& gpu) {
  check_count("gpu.gpus_per_node", gpu.gpus_per_node);
  check_copy("gpu.to_host", gpu.to_host);
  check_copy("gpu.to_device", gpu.to_device);
  if (gpu.direct_same_node) check_copy("gpu.direct_same_node", *gpu.direct_same_node);
  if (gpu.direct_other_node) check_copy("gpu.direct_other_node", *gpu.direct_other_node);
}

void check_overheads(const MessageOverheads& overheads) {
  check_time("overheads.send_on_node_s", overheads.send_on_node_s);
  check_time("overheads.receive_on_node_s", overheads.receive_on_node_s);
  check_time("overheads.send_other_node_s", overheads.send_other_node_s);
  check_time("overheads.receive_other_node_s", overheads.receive_other_node_s);
  check_time("overheads.nic_gap_s", overheads.nic_gap_s);
}

void check_size(std::string_view where, double bytes, double last) {
  if (!(bytes > last && std::isfinite(bytes))) {
    refuse(where, bytes, "sizes must be finite, positive and ascend");
  }
}

void check_allreduces(const std::string& where, const std::vector<AllreduceTime>& times) {
  double last = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::string entry = fmt::format("{}[{}]", where, i);
    check_size(entry + ".bytes", times[i].bytes, last);
    check_positive_time(entry + ".seconds", times[i].seconds);
    last = times[i].bytes;
  }
}

void check_allreduces(const MeasuredAllreduces& measured) {
  check_count("allreduce.ranks", measured.ranks);
  check_count("allreduce.nodes", measured.nodes);
  if (measured.nodes > measured.ranks) {
    refuse("allreduce.nodes", measured.nodes,
           fmt::format("there cannot be more than ranks, {}", measured.ranks));
  }
  if (measured.mpi.empty() && measured.node_aware.empty()) {
    throw Error(ErrorCode::invalid_argument, "allreduce is there, but no time of any algorithm");
  }
  check_allreduces("allreduce.mpi", measured.mpi);
  check_allreduces("allreduce.node_aware", measured.node_aware);
}

void check_progress(const std::vector<Progress>& progress) {
  const auto check_part = [](const std::string& where, const std::optional<double>& part) {
    if (part && !(*part >= 0 && *part <= 1)) refuse(where, *part, "a part is between 0 and 1");
  };
  double last = 0;
  for (std::size_t i = 0; i < progress.size(); ++i) {
    const std::string where = fmt::format("progress[{}]", i);
    check_size(where + ".bytes", progress[i].bytes, last);
    check_part(where + ".receive", progress[i].receive);
    check_part(where + ".send", progress[i].send);
    last = progress[i].bytes;
  }
}

}  // namespace

void check(const Machine& machine) {
  if (machine.name.empty()) throw Error(ErrorCode::invalid_argument, "name is empty");
  check_count("node.sockets", machine.sockets_per_node);
  check_count("node.cores", machine.cores_per_node);
  check_paths(machine);
  check_switch_sizes("protocols.switch_sizes", machine.switch_sizes);
  check_own_switch_sizes(machine);
  check_time("queue_search_s", machine.queue_search_s);
  check_time("contention_s_per_byte_per_link", machine.contention_s_per_byte_per_link);
  std::visit(ShapeCheck(), machine.network);
  check_time("network.hop_latency_s", machine.hop_latency_s);
  if (machine.hardware_bytes_per_s) {
    check_rate("network.hardware_bytes_per_s", *machine.hardware_bytes_per_s);
  }
  check_flop_costs(machine);
  check_memory(machine);
  if (machine.gpu) check_gpu(*machine.gpu);
  if (machine.overheads) check_overheads(*machine.overheads);
  if (machine.allreduces) check_allreduces(*machine.allreduces);
  check_progress(machine.progress);
}

}  // namespace nodewise::model
