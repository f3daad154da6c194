#include "nodewise/report/eigen_json.hpp"

#include "nodewise/report/json_parts.hpp"

namespace nodewise::report {

namespace {

/// Raised whenever a field changes its meaning or goes away; new fields leave it as it is.
constexpr int eigen_schema_version = 1;

Json eigen_matrix_json(const run::MatrixSummary& matrix) {
  return {{"source", matrix.source},
          {"format", text_or_null(matrix.format)},
          {"rows", matrix.rows},
          {"nonzeros", matrix.nonzeros},
          {"duplicates", matrix.duplicates},
          {"graph_laplacian", matrix.graph_laplacian}};
}

Json eigenpair_json(const eigen::Eigenpair& pair) {
  return {{"value", number(pair.value)},
          {"residual", number(pair.residual)},
          {"relative_residual", number(pair.relative_residual)},
          {"bound", number(pair.bound)},
          {"quadratic_bound", pair.quadratic_bound ? number(*pair.quadratic_bound) : Json(nullptr)},
          {"converged", pair.converged},
          {"converged_at", pair.converged_at < 0 ? Json(nullptr) : Json(pair.converged_at)}};
}

Json eigenpairs_json(const eigen::Report& found) {
  Json pairs = Json::array();
  for (const eigen::Eigenpair& pair : found.pairs) pairs.push_back(eigenpair_json(pair));
  return pairs;
}

Json eigen_history_json(const eigen::Report& found) {
  Json history = Json::array();
  for (const double residual : found.history) history.push_back(number(residual));
  return history;
}

Json eigen_work_json(const eigen::Work& work) {
  return {{"products", work.products},
          {"product_exchanges", work.product_calls},
          {"mass_products", work.mass_products},
          {"preconditioners", work.preconditioners},
          {"reductions", work.reductions}};
}

Json eigen_messages_json(std::span<const mpi::SharedAccount> accounts) {
  const mpi::Counts sum = mpi::total(accounts).sum;
  const mpi::Counts most = mpi::total(accounts).max;
  return {{"messages_on_node", sum.messages_on_node},
          {"messages_off_node", sum.messages_off_node},
          {"bytes_on_node", sum.bytes_on_node},
          {"bytes_off_node", sum.bytes_off_node},
          {"collectives", most.collectives}};
}

Json eigen_hierarchy_json(const EigenRecord& record) {
  if (record.levels.empty()) return nullptr;
  Json rows = Json::array();
  for (const amg::LevelInfo& level : record.levels) rows.push_back(level.rows);
  return {{"level_rows", rows}, {"operator_complexity", number(record.operator_complexity)}};
}

Json eigensolver_json(const EigenRecord& record) {
  return {{"name", *record.method->name},
          {"chosen_by_the_matrix", record.method_was_chosen},
          {"iteration_is", *record.method->iteration},
          {"preconditioner", record.preconditioner},
          {"which", eigen::to_string(record.which)},
          {"tolerance", record.tolerance}};
}

}  // namespace

std::string eigen_json(const EigenRecord& record) {
  const eigen::Report& found = record.found;
  return dumped({{"schema_version", eigen_schema_version},
                 {"program", program_json()},
                 {"command_line", record.run.command_line},
                 {"machine", machine_json(record.run.machine)},
                 {"options", options_json(record.run.options)},
                 {"preset", preset_json(record.run.preset)},
                 {"matrix", eigen_matrix_json(record.run.matrix)},
                 {"mass", record.mass.rows == 0 ? Json(nullptr) : eigen_matrix_json(record.mass)},
                 {"eigensolver", eigensolver_json(record)},
                 {"hierarchy", eigen_hierarchy_json(record)},
                 {"outcome", solve::to_string(found.outcome)},
                 {"converged", found.converged()},
                 {"diagnosis", text_or_null(found.diagnosis)},
                 {"iterations", found.iterations},
                 {"norm", number(found.norm)},
                 {"mass_norm", number(found.mass_norm)},
                 {"pairs", eigenpairs_json(found)},
                 {"history", eigen_history_json(found)},
                 {"work", eigen_work_json(found.work)},
                 {"messages", eigen_messages_json(record.accounts)},
                 {"vectors_file", text_or_null(record.vectors_file)},
                 {"times_s",
                  {{"read", record.times.read},
                   {"setup", record.times.setup},
                   {"search", record.times.solve}}},
                 {"memory_bytes",
                  {{"peak_resident_max", record.run.memory.peak_max_bytes},
                   {"peak_resident_sum", record.run.memory.peak_sum_bytes}}},
                 {"exit_code", record.exit_code}});
}

}  // namespace nodewise::report
