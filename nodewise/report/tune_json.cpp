#include "nodewise/report/tune_json.hpp"

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/report/json_parts.hpp"

namespace nodewise::report {

namespace {

/// Raised whenever a field changes its meaning or goes away; new fields leave it as it is.
constexpr int tune_schema_version = 1;

Json trial_json(const solver::Trial& trial, const std::string& command) {
  Json options = Json::object();
  for (const auto& [name, value] : trial.options) options[with_dashes(name)] = value;
  return {{"options", options},
          {"command", command},
          {"method", text_or_null(trial.method)},
          {"converged", trial.converged},
          {"reason", text_or_null(trial.reason)},
          {"setup_s", trial.setup},
          {"solve_s", trial.solve},
          {"total_s", trial.total()},
          {"runs", trial.runs},
          {"slowest_total_s", trial.runs > 0 ? number(trial.slowest) : Json(nullptr)},
          {"tied_with_best", trial.is_tied},
          {"iterations", trial.iterations},
          {"operator_complexity", number(trial.operator_complexity)},
          {"memory_bytes", trial.memory_bytes}};
}

}  // namespace

std::string tune_json(const solver::TuneResult& result, const TuneFrame& frame) {
  const RunFrame& run = frame.run;
  const nodewise::run::MatrixSummary& matrix = run.matrix;
  const auto command = [&](std::size_t k) {
    return k < frame.commands.size() ? frame.commands[k] : std::string();
  };
  Json trials = Json::array();
  for (std::size_t k = 0; k < result.trials.size(); ++k) {
    trials.push_back(trial_json(result.trials[k], command(k)));
  }
  const Json json = {{"schema_version", tune_schema_version},
                     {"program", program_json()},
                     {"command_line", run.command_line},
                     {"machine", machine_json(run.machine)},
                     {"options", options_json(run.options)},
                     {"matrix",
                      {{"source", matrix.source},
                       {"format", text_or_null(matrix.format)},
                       {"graph_laplacian", matrix.graph_laplacian},
                       {"rows", matrix.rows},
                       {"nonzeros", matrix.nonzeros},
                       {"duplicates", matrix.duplicates},
                       {"symmetric", matrix.symmetric}}},
                     {"partition_choice", decision_json(result.partition_decision)},
                     {"placement", placement_json(result.placement_gain)},
                     {"candidates", trials},
                     {"not_tried", result.not_tried},
                     {"seconds", result.seconds},
                     {"best", result.best() == nullptr ? Json(nullptr) : Json(command(0))},
                     {"exit_code", frame.exit_code}};
  return dumped(json);
}

}  // namespace nodewise::report
