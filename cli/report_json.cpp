#include "cli/report_json.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

#include <nlohmann/json.hpp>

#include "nodewise/base/version.hpp"

#include "cli/catalog.hpp"

namespace nodewise::cli {

namespace {

using Json = nlohmann::ordered_json;

/// Raised whenever a field changes its meaning or goes away; new fields leave it as it is.
constexpr int schema_version = 1;

/// JSON has no word for NaN and infinity.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

/// The value of an option as the JSON type it stands for.
Json option_value(const Option& option, const Settings& settings) {
  const std::string text = option.get(settings);
  if (option.type == "integer" || option.type == "number") return Json::parse(text, nullptr, false);
  if (option.is_flag()) return text == "true";
  return text_or_null(text);
}

Json options_json(const Settings& settings) {
  Json json = Json::object();
  for (const Option& option : catalog()) {
    if (!option.belongs_to(Command::solve)) continue;
    if (option.group == "Model problems" && !settings.is_model_problem()) continue;
    json[option.name] = option_value(option, settings);
  }
  return json;
}

Json program_json() {
  const BuildInfo build = build_info();
  return {{"name", "nodewise"},         {"version", build.version},
          {"commit", build.commit},     {"build_type", build.build_type},
          {"compiler", build.compiler}, {"build_options", build.options}};
}

Json machine_json(const Machine& machine) {
  return {{"hosts", machine.hosts},
          {"ranks", machine.ranks},
          {"nodes", machine.ranks_per_node.size()},
          {"ranks_per_node", machine.ranks_per_node},
          {"domains", machine.domains},
          {"placement", machine.placement_given ? "given" : "detected"},
          {"processor", machine.processor},
          {"mpi_library", machine.mpi_library},
          {"mpi_standard", machine.mpi_standard}};
}

Json level_json(const amg::LevelInfo& info) {
  constexpr auto value_bytes = static_cast<std::int64_t>(sizeof(double));
  const comm::Traffic& traffic = info.traffic;
  return {{"rows", info.rows},
          {"nonzeros", info.nonzeros},
          {"interpolation_nonzeros", info.interpolation_nonzeros},
          {"active_ranks", info.active_ranks},
          {"route", comm::to_string(info.route)},
          {"product_traffic",
           {{"messages_on_node", traffic.messages_on_node},
            {"messages_on_domain", traffic.messages_on_domain},
            {"messages_off_node", traffic.messages_off_node},
            {"bytes_on_node", value_bytes * traffic.entries_on_node},
            {"bytes_on_domain", value_bytes * traffic.entries_on_domain},
            {"bytes_off_node", value_bytes * traffic.entries_off_node},
            {"max_messages_of_a_rank", info.max_messages}}},
          {"coarse_solver", text_or_null(info.coarse_solver)}};
}

Json hierarchy_json(const SolveRecord& record) {
  if (record.levels.empty()) return nullptr;
  Json levels = Json::array();
  for (const amg::LevelInfo& info : record.levels) levels.push_back(level_json(info));
  return {{"levels", levels},
          {"grid_complexity", number(record.grid_complexity)},
          {"operator_complexity", number(record.operator_complexity)}};
}

Json solve_json(const SolveRecord& record) {
  const solve::Report& report = record.report;
  Json history = Json::array();
  for (const double residual : report.history) history.push_back(number(residual));
  return {{"method", report.method},
          {"method_was_chosen_by_symmetry", record.solver_was_chosen},
          {"preconditioner", record.preconditioner},
          {"outcome", solve::to_string(report.outcome)},
          {"converged", report.converged()},
          {"diagnosis", text_or_null(report.diagnosis)},
          {"iterations", report.iterations},
          {"rhs_norm", number(report.rhs_norm)},
          {"true_relative_residual", number(report.true_relative_residual)},
          {"average_convergence_factor", number(average_convergence_factor(report))},
          {"history", history}};
}

Json error_json(const SolveRecord& record) {
  if (!record.error) return nullptr;
  return {{"relative", number(record.error->relative)},
          {"modulo_constants", record.error->modulo_constants}};
}

}  // namespace

std::string report_json(const SolveRecord& record, const Settings& settings) {
  const MatrixFacts& matrix = record.matrix;
  const Json json = {
      {"schema_version", schema_version},
      {"program", program_json()},
      {"command_line", record.command_line},
      {"machine", machine_json(record.machine)},
      {"options", options_json(settings)},
      {"matrix",
       {{"source", matrix.source},
        {"format", text_or_null(matrix.format)},
        {"graph_laplacian", matrix.graph_laplacian},
        {"rows", matrix.rows},
        {"nonzeros", matrix.nonzeros},
        {"duplicates", matrix.duplicates},
        {"symmetric", matrix.symmetric}}},
      {"right_hand_side", to_string(record.rhs)},
      {"hierarchy", hierarchy_json(record)},
      {"solve", solve_json(record)},
      {"error", error_json(record)},
      {"times_s",
       {{"read", record.times.read}, {"setup", record.times.setup}, {"solve", record.times.solve}}},
      {"memory_bytes",
       {{"peak_resident_max", record.memory.peak_max_bytes},
        {"peak_resident_sum", record.memory.peak_sum_bytes}}},
      {"solution_file", text_or_null(record.solution_file)},
      {"exit_code", static_cast<int>(record.exit_code)}};
  // A file name need not be UTF-8; what is not is replaced.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nodewise::cli
