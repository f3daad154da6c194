#include "nodewise/report/solve_json.hpp"

#include <utility>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/option_set.hpp"
#include "nodewise/report/json_parts.hpp"
#include "nodewise/report/pictures_json.hpp"

namespace nodewise::report {

namespace {

using solver::SolveRecord;

/// Raised whenever a field changes its meaning or goes away; new fields leave it as it is.
constexpr int solve_schema_version = 1;

/// null where the route was given.
Json route_choice_json(const std::shared_ptr<const routing::RouteDecision>& decision) {
  if (!decision) return nullptr;
  Json predictions = Json::array();
  for (const routing::RoutePrediction& prediction : decision->predictions) {
    predictions.push_back({{"route", prediction.route.name()},
                           {"seconds", number(prediction.seconds)},
                           {"most_messages_off_node", prediction.off_node_messages}});
  }
  return {{"reason", decision->reason},
          {"basis", text_or_null(decision->basis)},
          {"predictions", predictions}};
}

/// null where the transport was given.
Json transport_choice_json(const std::shared_ptr<const routing::TransportDecision>& decision) {
  if (!decision) return nullptr;
  Json trials = Json::array();
  for (const routing::TransportTrial& trial : decision->trials) {
    trials.push_back({{"transport", trial.transport.name()}, {"seconds", number(trial.seconds)}});
  }
  return {{"reason", decision->reason}, {"trials", trials}};
}

/// null where the overlap was given.
Json overlap_choice_json(const std::shared_ptr<const routing::OverlapDecision>& decision) {
  if (!decision || decision->reason.empty()) return nullptr;
  Json trials = Json::array();
  for (const routing::OverlapTrial& trial : decision->trials) {
    trials.push_back(
        {{"overlap", comm::overlap_name(trial.overlap)}, {"seconds", number(trial.seconds)}});
  }
  return {{"reason", decision->reason}, {"trials", trials}};
}

/// Of vectors of doubles.
Json traffic_json(const comm::Traffic& traffic) {
  constexpr auto value_bytes = static_cast<std::int64_t>(sizeof(double));
  return {{"messages_on_node", traffic.messages_on_node},
          {"messages_on_domain", traffic.messages_on_domain},
          {"messages_off_node", traffic.messages_off_node},
          {"bytes_on_node", value_bytes * traffic.entries_on_node},
          {"bytes_on_domain", value_bytes * traffic.entries_on_domain},
          {"bytes_off_node", value_bytes * traffic.entries_off_node}};
}

/// Of the direct messages of a product.
Json direct_messages_json(const comm::Traffic& traffic) {
  constexpr auto value_bytes = static_cast<std::int64_t>(sizeof(double));
  return {{"messages_on_node", traffic.messages_on_node},
          {"messages_off_node", traffic.messages_off_node},
          {"bytes_on_node", value_bytes * traffic.entries_on_node},
          {"bytes_off_node", value_bytes * traffic.entries_off_node}};
}

/// The presets that were tried before.
Json attempts_json(const std::vector<solver::Attempt>& attempts) {
  Json all = Json::array();
  for (const solver::Attempt& attempt : attempts) {
    all.push_back({{"preset", attempt.preset},
                   {"preconditioner", attempt.preconditioner},
                   {"method", text_or_null(attempt.method)},
                   {"why_given_up", attempt.why},
                   {"iterations", attempt.iterations},
                   {"true_relative_residual", number(attempt.residual)}});
  }
  return all;
}

/// null where the level's matrix has all its entries.
Json sparsity_json(const std::shared_ptr<const amg::Sparsity>& sparsity) {
  if (!sparsity) return nullptr;
  return {{"drop_tolerance", number(sparsity->tolerance)},
          {"nonzeros_before", sparsity->nonzeros},
          {"direct_product_before", direct_messages_json(sparsity->before)},
          {"direct_product_after", direct_messages_json(sparsity->after)}};
}

Json level_json(const amg::LevelInfo& info) {
  Json product = traffic_json(info.traffic);
  product["max_messages_of_a_rank"] = info.max_messages;
  return {{"rows", info.rows},
          {"nonzeros", info.nonzeros},
          {"interpolation_nonzeros", info.interpolation_nonzeros},
          {"active_ranks", info.active_ranks},
          {"copies", info.copies},
          {"precision", info.is_single_precision ? "single" : "double"},
          {"route", info.routes.solve.name()},
          {"setup_route", info.routes.setup.name()},
          {"transport", info.routes.solve_transport.name()},
          {"setup_transport", info.routes.setup_transport.name()},
          {"route_choice", route_choice_json(info.route_choice)},
          {"setup_route_choice", route_choice_json(info.setup_route_choice)},
          {"transport_choice", transport_choice_json(info.transport_choice)},
          {"overlap", comm::overlap_name(info.overlap)},
          {"overlap_choice", overlap_choice_json(info.overlap_choice)},
          {"redistribution_choice", redistribution_json(info.redistribution_choice)},
          {"sparsity_choice", sparsity_choice_json(info.sparsity_choice)},
          {"sparsity", sparsity_json(info.sparsity)},
          {"product_traffic", product},
          {"gather_traffic", traffic_json(info.gather_traffic)},
          {"coarse_solver", text_or_null(info.coarse_solver)}};
}

Json entries_back_json(const std::vector<solver::EntriesBack>& events) {
  Json all = Json::array();
  for (const solver::EntriesBack& event : events) {
    all.push_back(
        {{"right_hand_side", event.rhs}, {"iteration", event.iteration}, {"levels", event.levels}});
  }
  return all;
}

Json hierarchy_json(const SolveRecord& record) {
  if (record.levels.empty()) return nullptr;
  Json levels = Json::array();
  for (const amg::LevelInfo& info : record.levels) levels.push_back(level_json(info));
  const amg::PrecisionChoice& precision = record.precision;
  return {{"levels", levels},
          {"grid_complexity", number(record.grid_complexity)},
          {"operator_complexity", number(record.operator_complexity)},
          {"entries_back", entries_back_json(record.entries_back)},
          {"cycle_precision",
           {{"name", precision.single ? "single" : "double"},
            {"reason", text_or_null(precision.reason)}}}};
}

Json choice_json(const run::AlgorithmChoice& choice) {
  return {{"algorithm", choice.algorithm}, {"chosen", choice.chosen}, {"reason", choice.reason}};
}

Json account_json(const mpi::SharedAccount& account, int ranks) {
  const mpi::Counts& sum = account.sum;
  const mpi::Counts& max = account.max;
  return {
      {"operation", account.operation.empty() ? "other" : account.operation},
      {"level", account.level == mpi::no_level ? Json(nullptr) : Json(account.level)},
      {"runs", max.runs},
      {"messages_on_node", sum.messages_on_node},
      {"messages_on_domain", sum.messages_on_domain},
      {"messages_off_node", sum.messages_off_node},
      {"bytes_on_node", sum.bytes_on_node},
      {"bytes_on_domain", sum.bytes_on_domain},
      {"bytes_off_node", sum.bytes_off_node},
      {"collective_calls", max.collectives},
      {"waits", max.waits},
      {"max_of_a_rank",
       {{"messages_on_node", max.messages_on_node},
        {"messages_on_domain", max.messages_on_domain},
        {"messages_off_node", max.messages_off_node},
        {"bytes_on_node", max.bytes_on_node},
        {"bytes_on_domain", max.bytes_on_domain},
        {"bytes_off_node", max.bytes_off_node},
        {"communicating_s", max.communicating},
        {"computing_s", max.computing}}},
      {"mean_of_the_ranks",
       {{"communicating_s", sum.communicating / ranks}, {"computing_s", sum.computing / ranks}}}};
}

Json accounts_json(std::span<const mpi::SharedAccount> accounts, int ranks) {
  Json json = Json::array();
  for (const mpi::SharedAccount& account : accounts) json.push_back(account_json(account, ranks));
  return json;
}

Json right_hand_sides_json(const SolveRecord& record) {
  Json json = Json::array();
  for (const solve::Report& report : record.reports) {
    Json history = Json::array();
    for (const double residual : report.history) history.push_back(number(residual));
    json.push_back(
        {{"outcome", solve::to_string(report.outcome)},
         {"converged", report.converged()},
         {"diagnosis", text_or_null(report.diagnosis)},
         {"iterations", report.iterations},
         {"rhs_norm", number(report.rhs_norm)},
         {"reference_norm", number(report.reference_norm)},
         {"target", number(report.target)},
         {"true_relative_residual", number(report.true_relative_residual)},
         {"average_convergence_factor", number(solver::average_convergence_factor(report))},
         {"history", history}});
  }
  return json;
}

Json findings_json(const std::vector<advise::Finding>& findings) {
  Json json = Json::array();
  for (const advise::Finding& finding : findings) {
    json.push_back({{"kind", *finding.kind->name},
                    {"level", finding.level},
                    {"count", finding.count},
                    {"magnitude", number(finding.magnitude)},
                    {"text", finding.text},
                    {"advice", finding.advice}});
  }
  return json;
}

Json course_json(const SolveRecord& record) {
  const solve::Report& report = record.report();
  const Json all = right_hand_sides_json(record);
  return {{"method", report.method},
          {"method_was_chosen_by_symmetry", record.solver_was_chosen},
          {"preconditioner", record.preconditioner},
          {"preconditioner_text", text_or_null(record.preconditioner_text)},
          {"outcome", solve::to_string(report.outcome)},
          {"converged", report.converged()},
          {"diagnosis", text_or_null(report.diagnosis)},
          {"iterations", report.iterations},
          {"norm", solve::to_string(report.norm)},
          {"rhs_norm", number(report.rhs_norm)},
          {"reference_norm", number(report.reference_norm)},
          {"target", number(report.target)},
          {"true_relative_residual", number(report.true_relative_residual)},
          {"average_convergence_factor", number(solver::average_convergence_factor(report))},
          {"history", all[record.worst]["history"]},
          {"at_once", record.at_once},
          {"right_hand_side", record.worst + 1},
          {"right_hand_sides", all}};
}

Json idle_json(const std::vector<solver::UnusedOption>& options) {
  Json all = Json::array();
  for (const solver::UnusedOption& option : options) {
    all.push_back({{"option", with_dashes(option.name)}, {"needs", option.needs}});
  }
  return all;
}

Json error_json(const SolveRecord& record) {
  if (!record.error) return nullptr;
  return {{"relative", number(record.error->relative)},
          {"modulo_constants", record.error->modulo_constants}};
}

Json kernel_json(const roofline::SolveTraffic& traffic, const roofline::SolveKernel& kernel) {
  return {{"kernel", kernel.name},
          {"level", kernel.level},
          {"runs", kernel.runs},
          {"flops", kernel.traffic.flops},
          {"moved_bytes", kernel.traffic.bytes()},
          {"computing_s", kernel.seconds},
          {"bytes_per_flop", number(kernel.balance())},
          {"share_of_bound", number(traffic.share_of_bound(kernel))},
          {"kappa_bytes", number(traffic.kappa(kernel))},
          {"bytes_per_flop_with_kappa", number(traffic.measured_balance(kernel))}};
}

Json traffic_json(const roofline::SolveTraffic* traffic) {
  if (traffic == nullptr) return nullptr;
  Json kernels = Json::array();
  for (const roofline::SolveKernel& kernel : traffic->kernels) {
    kernels.push_back(kernel_json(*traffic, kernel));
  }
  return {{"bandwidth_bytes_per_s",
           traffic->bandwidth ? number(traffic->bandwidth->triad_bytes_per_s) : Json(nullptr)},
          {"kernels", kernels},
          {"not_counted", text_or_null(traffic->not_counted)}};
}

/// How often one operation ran on a level; 0 where it did not.
std::int64_t runs_of(const SolveRecord& record, const char* operation, int level) {
  for (const mpi::SharedAccount& account : record.solve_accounts) {
    if (account.operation == operation && account.level == level) return account.max.runs;
  }
  return 0;
}

/// Of the whole solve, beside the measured times of `operations.solve`.
Json prediction_json(const SolveRecord& record, const predict::SolvePrediction* prediction) {
  if (prediction == nullptr) return nullptr;
  const std::int64_t products = runs_of(record, "krylov_product", mpi::no_level);
  const std::int64_t cycles = runs_of(record, "restriction", 0);
  Json levels = Json::array();
  for (const predict::LevelExchanges& level : prediction->levels) {
    levels.push_back(
        {{"product_s", number(level.product_s)},
         {"restriction_s", number(level.restriction_s)},
         {"prolongation_s", number(level.prolongation_s)},
         {"products_in_a_cycle", level.visits.products},
         {"transfers_in_a_cycle", level.visits.transfers},
         {"communicating_s", number(static_cast<double>(cycles) * level.of_a_cycle_s())}});
  }
  return {{"machine", prediction->machine},
          {"cycles", cycles},
          {"krylov_products", products},
          {"krylov_product_s", number(prediction->krylov_product_s)},
          {"krylov_communicating_s",
           number(static_cast<double>(products) * prediction->krylov_product_s)},
          {"levels", levels},
          {"not_predicted", text_or_null(prediction->not_predicted)}};
}

/// Every option of the solver that the configuration has.
std::vector<ReportedOption> reported_options(const solver::Options& given) {
  solver::Options options = given;
  std::vector<ReportedOption> reported;
  visit_fields(view(options, solver::option_fields()), [&](const OptionSet& set, std::size_t k) {
    const FieldInfo& info = set.info(k);
    reported.push_back({with_dashes(info.name), info.type, set.get(k)});
  });
  return reported;
}

Json device_json(const std::optional<solver::DeviceRecord>& device) {
  if (!device) return nullptr;
  Json set = Json::object();
  for (const auto& [name, value] : device->set) set[name] = value;
  Json ways = Json::array();
  for (const auto& [name, reason] : device->ways) {
    ways.push_back({{"transport", name}, {"reason", text_or_null(reason)}});
  }
  return {{"name", device->name},
          {"set", set},
          {"memory_bytes_max", device->max_bytes},
          {"levels", ways}};
}

}  // namespace

std::string solve_json(const SolveRecord& record) {
  SolveFrame frame;
  frame.options = reported_options(record.options);
  frame.exit_code = record.converged() ? 0 : 1;
  return solve_json(record, frame);
}

std::string solve_json(const SolveRecord& record, const SolveFrame& frame) {
  const run::MatrixSummary& matrix = record.matrix;
  const Json json = {
      {"schema_version", solve_schema_version},
      {"program", program_json()},
      {"command_line", frame.command_line},
      {"machine", machine_json(record.machine)},
      {"options", options_json(frame.options)},
      {"preset", preset_json(record.preset)},
      {"attempts", attempts_json(record.attempts)},
      {"device", device_json(record.device)},
      {"idle_options", idle_json(record.unused)},
      {"matrix",
       {{"source", matrix.source},
        {"format", text_or_null(matrix.format)},
        {"graph_laplacian", matrix.graph_laplacian},
        {"rows", matrix.rows},
        {"nonzeros", matrix.nonzeros},
        {"duplicates", matrix.duplicates},
        {"symmetric", matrix.symmetric}}},
      {"right_hand_side", solver::to_string(record.rhs)},
      {"partition_choice", decision_json(record.partition_decision)},
      {"placement", placement_json(record.placement_gain)},
      {"hierarchy", hierarchy_json(record)},
      {"findings", findings_json(record.findings)},
      {"solve", course_json(record)},
      {"collective_communication",
       {{"dot_products", choice_json(record.collectives.dot_products)},
        {"sparse_exchange", choice_json(record.collectives.sparse_exchange)}}},
      {"error", error_json(record)},
      {"times_s",
       {{"read", record.times.read}, {"setup", record.times.setup}, {"solve", record.times.solve}}},
      {"operations",
       {{"setup", accounts_json(record.setup_accounts, record.machine.ranks)},
        {"solve", accounts_json(record.solve_accounts, record.machine.ranks)}}},
      {"local_kernels", traffic_json(frame.traffic)},
      {"prediction", prediction_json(record, frame.prediction)},
      {"pictures", pictures_json(frame.pictures)},
      {"memory_bytes",
       {{"peak_resident_max", record.memory.peak_max_bytes},
        {"peak_resident_sum", record.memory.peak_sum_bytes}}},
      {"solution_file", text_or_null(frame.solution_file)},
      {"exit_code", frame.exit_code}};
  return dumped(json);
}

}  // namespace nodewise::report
