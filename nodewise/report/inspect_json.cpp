#include "nodewise/report/inspect_json.hpp"

#include "nodewise/report/json_parts.hpp"

namespace nodewise::report {

namespace {

using predict::all_counted_exchanges;
using predict::CountedExchange;
using predict::Inspection;
using predict::LevelCounts;
using predict::MatrixStatistics;
using predict::RouteVolumes;
using predict::VirtualCounts;
using predict::Volume;

/// Raised whenever a field changes its meaning or goes away; new fields leave it as it is.
constexpr int inspect_schema_version = 1;

Json matrix_json(const run::MatrixSummary& matrix, const MatrixStatistics& statistics) {
  const bool square = matrix.rows == statistics.columns;
  const auto if_square = [&](GlobalIndex count) { return square ? Json(count) : Json(nullptr); };
  return {{"source", matrix.source},
          {"format", text_or_null(matrix.format)},
          {"graph_laplacian", matrix.graph_laplacian},
          {"rows", matrix.rows},
          {"columns", statistics.columns},
          {"nonzeros", matrix.nonzeros},
          {"duplicates", matrix.duplicates},
          {"symmetric", matrix.symmetric},
          {"shortest_row", statistics.shortest_row},
          {"longest_row", statistics.longest_row},
          {"empty_rows", statistics.empty_rows},
          {"bandwidth", statistics.bandwidth},
          {"zero_diagonals", if_square(statistics.zero_diagonals)},
          {"negative_diagonals", if_square(statistics.negative_diagonals)},
          {"dominant_rows", if_square(statistics.dominant_rows)},
          {"entries_not_finite", statistics.not_finite},
          {"smallest_modulus", number(statistics.smallest)},
          {"largest_modulus", number(statistics.largest)}};
}

Json inspected_hierarchy_json(const Inspection& found) {
  if (found.levels.empty()) return nullptr;
  Json levels = Json::array();
  for (std::size_t l = 0; l < found.levels.size(); ++l) {
    const amg::LevelInfo& info = found.levels[l];
    levels.push_back({{"rows", info.rows},
                      {"nonzeros", info.nonzeros},
                      {"longest_row", found.level_statistics[l].longest_row},
                      {"interpolation_nonzeros", info.interpolation_nonzeros},
                      {"coarse_solver", text_or_null(info.coarse_solver)}});
  }
  return {{"levels", levels},
          {"grid_complexity", number(found.grid_complexity)},
          {"operator_complexity", number(found.operator_complexity)}};
}

Json reordering_json(const std::optional<partition::ReorderingGain>& gain) {
  if (!gain) return nullptr;
  return {{"bandwidth_before", gain->bandwidth_before}, {"bandwidth", gain->bandwidth_after}};
}

Json exchange_volume_json(const Volume& volume) {
  return {{"max_messages_of_a_rank", volume.max_messages},
          {"max_bytes_of_a_rank", volume.max_bytes},
          {"messages", volume.messages},
          {"bytes", volume.bytes}};
}

Json virtual_level_json(const VirtualCounts& counted, const LevelCounts& level) {
  Json json = {{"active_ranks", level.active_ranks},
               {"copies", level.copies},
               {"most_rows_of_a_rank", level.most_rows}};
  for (const CountedExchange operation : all_counted_exchanges) {
    const std::vector<RouteVolumes>& volumes = level.of(operation);
    Json routes = volumes.empty() ? Json(nullptr) : Json::object();
    for (std::size_t k = 0; k < volumes.size(); ++k) {
      routes[counted.routes[k].name()] = {{"on_domain", exchange_volume_json(volumes[k].on_domain)},
                                          {"on_node", exchange_volume_json(volumes[k].on_node)},
                                          {"off_node", exchange_volume_json(volumes[k].off_node)}};
    }
    json[to_string(operation)] = routes;
  }
  return json;
}

Json virtual_json(const Inspection& found) {
  if (!found.counted) return nullptr;
  const VirtualCounts& counted = *found.counted;
  Json levels = Json::array();
  for (const LevelCounts& level : counted.levels) {
    levels.push_back(virtual_level_json(counted, level));
  }
  return {{"ranks", counted.n_ranks()},
          {"nodes", counted.n_nodes()},
          {"domains", counted.n_domains},
          {"ranks_per_node", counted.ranks_per_node},
          {"coarse_levels_are_exact", counted.levels_are_exact},
          {"levels", levels}};
}

}  // namespace

std::string inspect_json(const Inspection& found, const RunFrame& run) {
  return dumped({{"schema_version", inspect_schema_version},
                 {"program", program_json()},
                 {"command_line", run.command_line},
                 {"machine", machine_json(run.machine)},
                 {"options", options_json(run.options)},
                 {"preset", preset_json(run.preset)},
                 {"matrix", matrix_json(run.matrix, found.statistics)},
                 {"placement", placement_json(found.placement_gain)},
                 {"reordering", reordering_json(found.reordering_gain)},
                 {"largest_rank",
                  {{"ranks", found.largest_rank.ranks},
                   {"rows", found.largest_rank.rows},
                   {"nonzeros", found.largest_rank.nonzeros}}},
                 {"hierarchy", inspected_hierarchy_json(found)},
                 {"no_hierarchy", text_or_null(found.no_hierarchy)},
                 {"virtual_ranks", virtual_json(found)},
                 {"times_s",
                  {{"read", run.read_s},
                   {"partition", found.partition_s},
                   {"setup", found.setup_s},
                   {"count", found.count_s}}},
                 {"memory_bytes",
                  {{"peak_resident_max", run.memory.peak_max_bytes},
                   {"peak_resident_sum", run.memory.peak_sum_bytes}}}});
}

}  // namespace nodewise::report
