#include "cli/inspect_json.hpp"

#include "cli/json_parts.hpp"

namespace nodewise::cli {

namespace {

/// Raised whenever a field changes its meaning or goes away; new fields leave it as it is.
constexpr int schema_version = 1;

Json matrix_json(const MatrixFacts& matrix, const MatrixSurvey& survey) {
  const bool square = matrix.rows == survey.columns;
  const auto if_square = [&](GlobalIndex count) { return square ? Json(count) : Json(nullptr); };
  return {{"source", matrix.source},
          {"format", text_or_null(matrix.format)},
          {"graph_laplacian", matrix.graph_laplacian},
          {"rows", matrix.rows},
          {"columns", survey.columns},
          {"nonzeros", matrix.nonzeros},
          {"duplicates", matrix.duplicates},
          {"symmetric", matrix.symmetric},
          {"shortest_row", survey.shortest_row},
          {"longest_row", survey.longest_row},
          {"empty_rows", survey.empty_rows},
          {"bandwidth", survey.bandwidth},
          {"zero_diagonals", if_square(survey.zero_diagonals)},
          {"negative_diagonals", if_square(survey.negative_diagonals)},
          {"dominant_rows", if_square(survey.dominant_rows)},
          {"entries_not_finite", survey.not_finite},
          {"smallest_modulus", number(survey.smallest)},
          {"largest_modulus", number(survey.largest)}};
}

Json hierarchy_json(const InspectRecord& record) {
  if (record.levels.empty()) return nullptr;
  Json levels = Json::array();
  for (std::size_t l = 0; l < record.levels.size(); ++l) {
    const amg::LevelInfo& info = record.levels[l];
    levels.push_back({{"rows", info.rows},
                      {"nonzeros", info.nonzeros},
                      {"longest_row", record.level_surveys[l].longest_row},
                      {"interpolation_nonzeros", info.interpolation_nonzeros},
                      {"coarse_solver", text_or_null(info.coarse_solver)}});
  }
  return {{"levels", levels},
          {"grid_complexity", number(record.grid_complexity)},
          {"operator_complexity", number(record.operator_complexity)}};
}

Json volume_json(const Volume& volume) {
  return {{"max_messages_of_a_rank", volume.max_messages},
          {"max_bytes_of_a_rank", volume.max_bytes},
          {"messages", volume.messages},
          {"bytes", volume.bytes}};
}

Json virtual_level_json(const VirtualRecord& counted, const VirtualLevel& level) {
  Json json = {{"active_ranks", level.active_ranks}, {"most_rows_of_a_rank", level.most_rows}};
  for (const Operation operation : all_operations) {
    const std::vector<RouteVolumes>& volumes = level.of(operation);
    Json routes = volumes.empty() ? Json(nullptr) : Json::object();
    for (std::size_t k = 0; k < volumes.size(); ++k) {
      routes[comm::to_string(counted.routes[k])] = {
          {"on_domain", volume_json(volumes[k].on_domain)},
          {"on_node", volume_json(volumes[k].on_node)},
          {"off_node", volume_json(volumes[k].off_node)}};
    }
    json[to_string(operation)] = routes;
  }
  return json;
}

Json virtual_json(const InspectRecord& record) {
  if (!record.counted) return nullptr;
  const VirtualRecord& counted = *record.counted;
  Json levels = Json::array();
  for (const VirtualLevel& level : counted.levels) {
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

std::string inspect_json(const InspectRecord& record, const Settings& settings) {
  return dumped({{"schema_version", schema_version},
                 {"program", program_json()},
                 {"command_line", record.command_line},
                 {"machine", machine_json(record.machine)},
                 {"options", options_json(settings, Command::inspect)},
                 {"preset", preset_json(record.preset)},
                 {"matrix", matrix_json(record.matrix, record.survey)},
                 {"hierarchy", hierarchy_json(record)},
                 {"no_hierarchy", text_or_null(record.no_hierarchy)},
                 {"virtual_ranks", virtual_json(record)},
                 {"times_s",
                  {{"read", record.times.read},
                   {"setup", record.times.setup},
                   {"count", record.times.count}}},
                 {"memory_bytes",
                  {{"peak_resident_max", record.memory.peak_max_bytes},
                   {"peak_resident_sum", record.memory.peak_sum_bytes}}}});
}

}  // namespace nodewise::cli
