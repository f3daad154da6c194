#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "nodewise/base/error.hpp"
#include "nodewise/io/byte_source.hpp"
#include "nodewise/io/json_object.hpp"
#include "nodewise/io/machine_file.hpp"

namespace nodewise::io {

namespace {

using Json = nlohmann::json;
using Object = JsonObject<Json>;
using model::Machine;

/// The parser would silently let the last of several equal keys count.
Json parse_without_duplicates(std::string_view text) {
  std::vector<std::set<std::string>> open;
  const auto watch = [&open](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key &&
        !open.back().insert(parsed.get_ref<const std::string&>()).second) {
      throw Error(ErrorCode::file_format, fmt::format("the key {} is there twice", parsed.dump()));
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::exception& e) {
    const std::string_view message = e.what();
    const std::size_t end_of_tag = message.find("] ");
    throw Error(ErrorCode::file_format,
                std::string(end_of_tag == std::string_view::npos ? message
                                                                 : message.substr(end_of_tag + 2)));
  }
}

model::MessageParameters parameters_from(Object json) {
  model::MessageParameters set;
  set.latency_s = json.number("latency_s");
  set.rate_bytes_per_s = json.number("rate_bytes_per_s");
  set.injection_bytes_per_s = json.number_or("injection_bytes_per_s", model::unlimited);
  json.finish();
  return set;
}

model::SwitchSizes switch_sizes_from(Object json) {
  model::SwitchSizes sizes;
  sizes.short_bytes = json.whole64("short_bytes");
  sizes.eager_bytes = json.whole64("eager_bytes");
  json.finish();
  return sizes;
}

void read_protocols(Object json, Machine& machine) {
  machine.switch_sizes = switch_sizes_from(json.object("switch_sizes"));
  for (int l = 0; l < model::n_localities; ++l) {
    const auto locality = static_cast<model::Locality>(l);
    if (!json.has(to_string(locality))) continue;
    Object path = json.object(to_string(locality));
    for (int p = 0; p < model::n_protocols; ++p) {
      const std::string name = to_string(static_cast<model::Protocol>(p));
      if (!path.has(name)) continue;
      machine.path(locality)[static_cast<std::size_t>(p)] = parameters_from(path.object(name));
    }
    if (path.has("switch_sizes")) {
      machine.own_switch_sizes[static_cast<std::size_t>(l)] =
          switch_sizes_from(path.object("switch_sizes"));
    }
    path.finish();
  }
  json.finish();
}

model::NetworkShape shape_from(Object& json) {
  const std::string shape = json.text("shape");
  if (shape == "none") return std::monostate();
  if (shape == "fat_tree") {
    return model::FatTree{json.whole("nodes_per_switch"), json.whole("levels")};
  }
  if (shape == "torus") {
    return model::Torus{json.wholes("dimensions"), json.whole_or("nodes_per_router", 1)};
  }
  if (shape == "dragonfly") {
    return model::Dragonfly{json.whole("groups"), json.whole("rows"), json.whole("columns"),
                            json.whole("nodes_per_router"),
                            json.number_or("links_between_groups", 1)};
  }
  json.refuse("shape", "it must be one of none, fat_tree, torus, dragonfly");
}

void read_network(Object json, Machine& machine) {
  machine.network = shape_from(json);
  machine.hop_latency_s = json.number_or("hop_latency_s", 0);
  if (json.has("hardware_bytes_per_s")) {
    machine.hardware_bytes_per_s = json.number("hardware_bytes_per_s");
  }
  json.finish();
}

void read_computation(Object json, Machine& machine) {
  if (json.has("s_per_flop_by_level")) {
    machine.s_per_flop_by_level = json.numbers("s_per_flop_by_level");
  }
  if (json.has("s_per_flop_by_size")) {
    for (Object& entry : json.objects("s_per_flop_by_size")) {
      machine.s_per_flop_by_size.push_back(
          {entry.number_or("up_to_nonzeros", model::unlimited), entry.number("s_per_flop")});
      entry.finish();
    }
  }
  if (json.has("thread_bandwidth")) {
    for (Object& entry : json.objects("thread_bandwidth")) {
      machine.thread_bandwidth.push_back({entry.whole("threads"), entry.number("bytes_per_s")});
      entry.finish();
    }
  }
  if (json.has("caches")) {
    for (Object& entry : json.objects("caches")) {
      machine.caches.push_back({entry.number("bytes"), entry.whole_or("cores", 1)});
      entry.finish();
    }
  }
  json.finish();
}

model::CopyPath copy_path_from(Object json) {
  const model::CopyPath path = {json.number("latency_s"), json.number("rate_bytes_per_s")};
  json.finish();
  return path;
}

model::GpuPaths gpu_from(Object json) {
  model::GpuPaths gpu;
  gpu.gpus_per_node = json.whole("gpus_per_node");
  gpu.to_host = copy_path_from(json.object("to_host"));
  gpu.to_device = copy_path_from(json.object("to_device"));
  if (json.has("direct_same_node")) {
    gpu.direct_same_node = copy_path_from(json.object("direct_same_node"));
  }
  if (json.has("direct_other_node")) {
    gpu.direct_other_node = copy_path_from(json.object("direct_other_node"));
  }
  json.finish();
  return gpu;
}

model::MessageOverheads overheads_from(Object json) {
  const model::MessageOverheads overheads = {
      json.number("send_on_node_s"), json.number("receive_on_node_s"),
      json.number("send_other_node_s"), json.number("receive_other_node_s"),
      json.number_or("nic_gap_s", 0)};
  json.finish();
  return overheads;
}

std::vector<model::AllreduceTime> allreduce_times_from(Object& json, const std::string& key) {
  std::vector<model::AllreduceTime> times;
  if (!json.has(key)) return times;
  for (Object& entry : json.objects(key)) {
    times.push_back({entry.number("bytes"), entry.number("seconds")});
    entry.finish();
  }
  return times;
}

model::MeasuredAllreduces allreduces_from(Object json) {
  model::MeasuredAllreduces measured;
  measured.ranks = json.whole("ranks");
  measured.nodes = json.whole("nodes");
  measured.mpi = allreduce_times_from(json, "mpi");
  measured.node_aware = allreduce_times_from(json, "node_aware");
  json.finish();
  return measured;
}

model::Progress progress_from(Object& json) {
  model::Progress progress;
  progress.bytes = json.number("bytes");
  if (json.has("receive")) progress.receive = json.number("receive");
  if (json.has("send")) progress.send = json.number("send");
  json.finish();
  return progress;
}

Machine machine_from(Object json) {
  Machine machine;
  if (json.has("$schema")) json.text("$schema");
  if (json.whole("schema_version") != 1) json.refuse("schema_version", "this version reads 1");
  machine.name = json.text("name");
  machine.source = json.text("source");
  machine.measured = json.flag("measured");
  if (json.has("notes")) machine.notes = json.texts("notes");
  Object node = json.object("node");
  machine.sockets_per_node = node.whole("sockets");
  machine.cores_per_node = node.whole("cores");
  node.finish();
  read_protocols(json.object("protocols"), machine);
  machine.queue_search_s = json.number_or("queue_search_s", 0);
  machine.contention_s_per_byte_per_link = json.number_or("contention_s_per_byte_per_link", 0);
  if (json.has("network")) read_network(json.object("network"), machine);
  if (json.has("computation")) read_computation(json.object("computation"), machine);
  if (json.has("gpu")) machine.gpu = gpu_from(json.object("gpu"));
  if (json.has("overheads")) machine.overheads = overheads_from(json.object("overheads"));
  if (json.has("allreduce")) machine.allreduces = allreduces_from(json.object("allreduce"));
  if (json.has("progress")) {
    for (Object& entry : json.objects("progress")) machine.progress.push_back(progress_from(entry));
  }
  json.finish();
  return machine;
}

/// The whole file as text. Megabytes are no machine.
std::string text_of_file(const std::string& path) {
  const InputFile file(path);
  constexpr Offset most = Offset{1} << 20;
  if (file.size() > most) {
    throw Error(ErrorCode::file_format,
                fmt::format("machine file {}: {} bytes are too many for a machine file", path,
                            file.size()));
  }
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  try {
    file.read_all_at(0, text);
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("machine file {}: {}", path, e.what()));
  }
  return text;
}

}  // namespace

model::Machine parse_machine(std::string_view text, const std::string& origin) {
  try {
    const Json document = parse_without_duplicates(text);
    Machine machine = machine_from(Object(document, ""));
    check(machine);
    return machine;
  } catch (const Error& e) {
    throw Error(ErrorCode::file_format, fmt::format("machine file {}: {}", origin, e.what()));
  }
}

model::Machine read_machine(const std::string& path) {
  return parse_machine(text_of_file(path), path);
}

}  // namespace nodewise::io
