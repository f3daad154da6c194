#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "nodewise/base/error.hpp"
#include "nodewise/io/machine_file.hpp"

namespace nodewise::io {

namespace {

using Json = nlohmann::ordered_json;
using model::Machine;

Json switch_sizes_json(const model::SwitchSizes& sizes) {
  return {{"short_bytes", sizes.short_bytes}, {"eager_bytes", sizes.eager_bytes}};
}

Json protocols_json(const Machine& machine) {
  Json json = {{"switch_sizes", switch_sizes_json(machine.switch_sizes)}};
  for (int l = 0; l < model::n_localities; ++l) {
    const auto locality = static_cast<model::Locality>(l);
    Json path = Json::object();
    for (int p = 0; p < model::n_protocols; ++p) {
      const auto& set = machine.path(locality)[static_cast<std::size_t>(p)];
      if (!set) continue;
      Json entry = {{"latency_s", set->latency_s}, {"rate_bytes_per_s", set->rate_bytes_per_s}};
      if (set->injection_bytes_per_s != model::unlimited) {
        entry["injection_bytes_per_s"] = set->injection_bytes_per_s;
      }
      path[to_string(static_cast<model::Protocol>(p))] = entry;
    }
    const auto& own = machine.own_switch_sizes[static_cast<std::size_t>(l)];
    if (own) path["switch_sizes"] = switch_sizes_json(*own);
    if (!path.empty()) json[to_string(locality)] = path;
  }
  return json;
}

struct ShapeJson {
  Json operator()(std::monostate) const { return {{"shape", "none"}}; }
  Json operator()(const model::FatTree& tree) const {
    return {{"shape", "fat_tree"},
            {"nodes_per_switch", tree.nodes_per_switch},
            {"levels", tree.levels}};
  }
  Json operator()(const model::Torus& torus) const {
    return {{"shape", "torus"},
            {"dimensions", torus.dimensions},
            {"nodes_per_router", torus.nodes_per_router}};
  }
  Json operator()(const model::Dragonfly& dragonfly) const {
    return {{"shape", "dragonfly"},
            {"groups", dragonfly.groups},
            {"rows", dragonfly.rows},
            {"columns", dragonfly.columns},
            {"nodes_per_router", dragonfly.nodes_per_router},
            {"links_between_groups", dragonfly.links_between_groups}};
  }
};

Json network_json(const Machine& machine) {
  Json json = std::visit(ShapeJson(), machine.network);
  json["hop_latency_s"] = machine.hop_latency_s;
  if (machine.hardware_bytes_per_s) json["hardware_bytes_per_s"] = *machine.hardware_bytes_per_s;
  return json;
}

Json computation_json(const Machine& machine) {
  Json json = {{"s_per_flop_by_level", machine.s_per_flop_by_level},
               {"s_per_flop_by_size", Json::array()},
               {"thread_bandwidth", Json::array()},
               {"caches", Json::array()}};
  for (const model::FlopCost& cost : machine.s_per_flop_by_size) {
    Json entry = {{"s_per_flop", cost.s_per_flop}};
    if (cost.up_to_nonzeros != model::unlimited) entry["up_to_nonzeros"] = cost.up_to_nonzeros;
    json["s_per_flop_by_size"].push_back(entry);
  }
  for (const model::ThreadBandwidth& entry : machine.thread_bandwidth) {
    json["thread_bandwidth"].push_back(
        {{"threads", entry.threads}, {"bytes_per_s", entry.bytes_per_s}});
  }
  for (const model::Cache& cache : machine.caches) {
    json["caches"].push_back({{"bytes", cache.bytes}, {"cores", cache.cores}});
  }
  return json;
}

Json copy_json(const model::CopyPath& path) {
  return {{"latency_s", path.latency_s}, {"rate_bytes_per_s", path.rate_bytes_per_s}};
}

Json gpu_json(const model::GpuPaths& gpu) {
  Json json = {{"gpus_per_node", gpu.gpus_per_node},
               {"to_host", copy_json(gpu.to_host)},
               {"to_device", copy_json(gpu.to_device)}};
  if (gpu.direct_same_node) json["direct_same_node"] = copy_json(*gpu.direct_same_node);
  if (gpu.direct_other_node) json["direct_other_node"] = copy_json(*gpu.direct_other_node);
  return json;
}

Json overheads_json(const model::MessageOverheads& overheads) {
  return {{"send_on_node_s", overheads.send_on_node_s},
          {"receive_on_node_s", overheads.receive_on_node_s},
          {"send_other_node_s", overheads.send_other_node_s},
          {"receive_other_node_s", overheads.receive_other_node_s},
          {"nic_gap_s", overheads.nic_gap_s}};
}

Json allreduces_json(const model::MeasuredAllreduces& measured) {
  Json json = {{"ranks", measured.ranks}, {"nodes", measured.nodes}};
  const auto add = [&json](const char* key, const std::vector<model::AllreduceTime>& times) {
    if (times.empty()) return;
    json[key] = Json::array();
    for (const model::AllreduceTime& time : times) {
      json[key].push_back({{"bytes", time.bytes}, {"seconds", time.seconds}});
    }
  };
  add("mpi", measured.mpi);
  add("node_aware", measured.node_aware);
  return json;
}

Json progress_json(const std::vector<model::Progress>& all) {
  Json json = Json::array();
  for (const model::Progress& progress : all) {
    Json& entry = json.emplace_back(Json{{"bytes", progress.bytes}});
    if (progress.receive) entry["receive"] = *progress.receive;
    if (progress.send) entry["send"] = *progress.send;
  }
  return json;
}

Json machine_json(const Machine& machine) {
  Json json = {{"schema_version", 1},
               {"name", machine.name},
               {"source", machine.source},
               {"measured", machine.measured},
               {"notes", machine.notes},
               {"node", {{"sockets", machine.sockets_per_node}, {"cores", machine.cores_per_node}}},
               {"protocols", protocols_json(machine)},
               {"queue_search_s", machine.queue_search_s},
               {"contention_s_per_byte_per_link", machine.contention_s_per_byte_per_link},
               {"network", network_json(machine)},
               {"computation", computation_json(machine)}};
  if (machine.gpu) json["gpu"] = gpu_json(*machine.gpu);
  if (machine.overheads) json["overheads"] = overheads_json(*machine.overheads);
  if (machine.allreduces) json["allreduce"] = allreduces_json(*machine.allreduces);
  if (!machine.progress.empty()) json["progress"] = progress_json(machine.progress);
  return json;
}

/// All or nothing: errors of the disk show when the file is closed.
void write_whole(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw Error(ErrorCode::file_io, path + ": the machine cannot be written there");
}

}  // namespace

std::string print_machine(const Machine& machine) {
  check(machine);
  return machine_json(machine).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_machine(const std::string& path, const Machine& machine) {
  const std::string text = print_machine(machine);
  const std::string partial = path + ".partial";
  write_whole(partial, text);
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  if (!error) return;
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  throw Error(ErrorCode::file_io, fmt::format("{}: {}", path, error.message()));
}

}  // namespace nodewise::io
