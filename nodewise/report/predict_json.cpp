#include "nodewise/report/predict_json.hpp"

#include "nodewise/model/cost_term.hpp"
#include "nodewise/model/gpu_transport.hpp"
#include "nodewise/report/json_parts.hpp"

namespace nodewise::report {

namespace {

using predict::all_exchanged;
using predict::BestRoutes;
using predict::by_formula;
using predict::by_simulation;
using predict::CollectiveKind;
using predict::Exchanged;
using predict::ExchangeTime;
using predict::fastest;
using predict::GpuPrediction;
using predict::PredictedLevel;
using predict::PredictedMachine;
using predict::Prediction;
using predict::ScalingPoint;

/// Raised whenever a field changes its meaning or goes away; new fields leave it as it is.
constexpr int predict_schema_version = 1;

const char* to_string(CollectiveKind kind) {
  return kind == CollectiveKind::plain ? "plain" : "node_aware";
}

Json time_json(const ExchangeTime& time) {
  Json formula;
  for (const model::CostTerm& term : model::CostTerm::family()) {
    formula[*term.name] = number(time.formula.*(*term.member));
  }
  formula["total"] = number(time.formula.total());
  return {{"formula_s", formula},
          {"simulated_s",
           {{"base", number(time.simulated.front())},
            {"low", number(time.low())},
            {"high", number(time.high())},
            {"by_scenario", time.simulated}}}};
}

/// Of one exchange, with what is not added up over several.
Json exchange_json(const ExchangeTime& time) {
  Json json = time_json(time);
  json["max_messages_off_node"] = time.max_off_node;
  json["messages"] = time.messages;
  json["bytes"] = time.bytes;
  json["waits"] = time.waits;
  return json;
}

Json by_route(const std::vector<ExchangeTime>& times, const std::vector<comm::Route>& routes) {
  if (times.empty()) return nullptr;
  Json json = Json::object();
  for (std::size_t k = 0; k < times.size(); ++k) {
    json[routes[k].name()] = exchange_json(times[k]);
  }
  return json;
}

Json by_kind(const std::vector<ExchangeTime>& times) {
  if (times.empty()) return nullptr;
  Json json = Json::object();
  for (const CollectiveKind kind : {CollectiveKind::plain, CollectiveKind::node_aware}) {
    json[to_string(kind)] = exchange_json(times[static_cast<std::size_t>(kind)]);
  }
  return json;
}

Json levels_json(const PredictedMachine& machine, const Prediction& p) {
  const BestRoutes formula = p.best(by_formula);
  const BestRoutes simulation = p.best(by_simulation);
  const BestRoutes setup = p.best_for_setup(by_formula);
  Json levels = Json::array();
  for (std::size_t l = 0; l < p.levels.size(); ++l) {
    const PredictedLevel& level = p.levels[l];
    Json json = {{"rows", level.rows},
                 {"nonzeros", level.nonzeros},
                 {"active_ranks", level.active_ranks},
                 {"copies", level.copies},
                 {"most_rows_of_a_rank", level.most_rows},
                 {"most_nonzeros_of_a_rank", level.most_nonzeros},
                 {"redistribution_choice", redistribution_json(level.redistribution_choice)},
                 {"sparsity_choice", sparsity_choice_json(level.sparsity_choice)},
                 {"in_a_cycle",
                  {{"products", level.visits.products},
                   {"transfers", level.visits.transfers},
                   {"passes", level.visits.passes},
                   {"solves", level.visits.solves}}},
                 {"work_s", machine.knows_work ? number(level.work_s) : Json(nullptr)},
                 {"galerkin_flops", static_cast<std::int64_t>(level.galerkin_flops)},
                 {"setup_work_s", machine.knows_work ? number(level.setup_work_s) : Json(nullptr)}};
    for (const Exchanged e : all_exchanged) json[to_string(e)] = by_route(level.of(e), p.routes);
    json["gathering"] = by_kind(level.gathering);
    json["splitting_rounds"] =
        level.splitting_rounds ? Json(*level.splitting_rounds) : Json(nullptr);
    json["setup_reductions"] = level.setup_reductions;
    json["setup_waits"] = p.setup_of_level(l, setup.of_level[l], setup.gathering).waits;
    json["matrix_gathering"] = by_kind(level.matrix_gathering);
    json["cheapest_by_formula"] = p.routes[formula.of_level[l]].name();
    json["cheapest_by_simulation"] = p.routes[simulation.of_level[l]].name();
    levels.push_back(std::move(json));
  }
  return levels;
}

Json cycle_json(const Prediction& p) {
  Json json = Json::object();
  for (std::size_t k = 0; k < p.routes.size(); ++k) {
    json[p.routes[k].name()] = time_json(p.cycle(k));
  }
  return {{"one_route", json},
          {"best_by_formula", time_json(p.cycle(p.best(by_formula)))},
          {"best_by_simulation", time_json(p.cycle(p.best(by_simulation)))}};
}

/// Seconds of a cycle with its arithmetic by the mode of overlapping, over the best routes.
Json hybrid_json(const Prediction& p) {
  Json json = Json::object();
  for (const auto& [name, measure] :
       {std::pair{"by_formula", by_formula}, std::pair{"by_simulation", by_simulation}}) {
    for (const auto mode : {comm::Overlap::none, comm::Overlap::naive, comm::Overlap::task,
                            comm::Overlap::automatic}) {
      json[name][comm::overlap_name(mode)] =
          number(p.hybrid_cycle_s(p.best(measure), measure, mode));
    }
  }
  return json;
}

Json setup_json(const Prediction& p) {
  Json json = Json::object();
  for (std::size_t k = 0; k < p.routes.size(); ++k) {
    json[p.routes[k].name()] = time_json(p.setup(k));
  }
  return {{"one_route", json},
          {"best_by_formula", time_json(p.setup(p.best_for_setup(by_formula)))},
          {"best_by_simulation", time_json(p.setup(p.best_for_setup(by_simulation)))},
          {"reductions_of_no_level", p.setup_reductions},
          {"waits", p.setup(p.best_for_setup(by_formula)).waits},
          {"left_out", p.left_out_of_setup}};
}

/// What formula and simulation say where copies are among it.
Json gpu_time_json(const ExchangeTime& time) {
  Json json = time_json(time);
  json["formula_s"]["copies"] = number(time.copies_s);
  json["formula_s"]["total"] = number(predict::seconds(time, by_formula));
  return json;
}

Json pair_json(const GpuPrediction& gpu, const GpuPrediction::Pair& pair) {
  return {{"way", *gpu.ways[pair.way].transport->name},
          {"route", gpu.plain().routes[pair.route].name()}};
}

Json gpu_levels_json(const GpuPrediction& gpu) {
  const GpuPrediction::Best formula = gpu.best(by_formula);
  const GpuPrediction::Best simulation = gpu.best(by_simulation);
  Json levels = Json::array();
  for (std::size_t l = 0; l < gpu.copies_win.size(); ++l) {
    const GpuPrediction::CopiesWin& win = gpu.copies_win[l];
    Json json = {{"mean_message_bytes", number(win.message_bytes)},
                 {"copies_win", nullptr},
                 {"cheapest_by_formula", pair_json(gpu, formula.of_level[l])},
                 {"cheapest_by_simulation", pair_json(gpu, simulation.of_level[l])},
                 {"in_a_cycle", Json::object()}};
    if (win.messages > 0) {
      json["copies_win"] = {{"from_messages", win.messages}, {"way", *win.transport->name}};
    }
    for (std::size_t w = 0; w < gpu.ways.size(); ++w) {
      Json routes = Json::object();
      for (std::size_t k = 0; k < gpu.plain().routes.size(); ++k) {
        routes[gpu.plain().routes[k].name()] =
            gpu_time_json(gpu.of_cycle(l, {w, k}, formula.gathering));
      }
      json["in_a_cycle"][*gpu.ways[w].transport->name] = std::move(routes);
    }
    levels.push_back(std::move(json));
  }
  return levels;
}

Json gpu_json(const std::optional<GpuPrediction>& found) {
  if (!found) return nullptr;
  const GpuPrediction& gpu = *found;
  Json ways = Json::object();
  for (const GpuPrediction::Way& way : gpu.ways) {
    const Prediction& p = way.prediction;
    Json routes = Json::object();
    for (std::size_t k = 0; k < p.routes.size(); ++k) {
      routes[p.routes[k].name()] = gpu_time_json(p.cycle(k));
    }
    ways[*way.transport->name] = {
        {"one_route", routes},
        {"best_by_formula", gpu_time_json(p.cycle(p.best(by_formula)))},
        {"best_by_simulation", gpu_time_json(p.cycle(p.best(by_simulation)))}};
  }
  return {{"gpus_per_node", gpu.gpus_per_node},
          {"unanswered", gpu.unanswered},
          {"levels", gpu_levels_json(gpu)},
          {"cycle",
           {{"one_way", ways},
            {"best_by_formula", gpu_time_json(gpu.cycle(gpu.best(by_formula)))},
            {"best_by_simulation", gpu_time_json(gpu.cycle(gpu.best(by_simulation)))}}}};
}

Json scaling_json(const predict::Result& result) {
  const std::vector<ScalingPoint>& curve = result.scaling;
  if (curve.empty()) return nullptr;
  const auto json_of = result.gpu ? gpu_time_json : time_json;
  Json points = Json::array();
  for (const ScalingPoint& point : curve) {
    points.push_back({{"ranks", point.ranks},
                      {"nodes", point.nodes},
                      {"rows_of_a_rank", point.rows_of_a_rank},
                      {"work_s", number(point.cycle.work_s)},
                      {"first_route", json_of(point.cycle.first_route)},
                      {"best_by_formula", json_of(point.cycle.best_by_formula)},
                      {"best_by_simulation", json_of(point.cycle.best_by_simulation)},
                      {"setup",
                       {{"work_s", number(point.setup.work_s)},
                        {"first_route", time_json(point.setup.first_route)},
                        {"best_by_formula", time_json(point.setup.best_by_formula)},
                        {"best_by_simulation", time_json(point.setup.best_by_simulation)}}}});
  }
  const auto turn = [&](bool best, std::size_t measure) {
    const ScalingPoint& point = curve[fastest(curve, best, measure)];
    return Json{{"ranks", point.ranks}, {"rows_of_a_rank", point.rows_of_a_rank}};
  };
  return {
      {"points", points},
      {"fastest",
       {{"first_route",
         {{"by_formula", turn(false, by_formula)}, {"by_simulation", turn(false, by_simulation)}}},
        {"best",
         {{"by_formula", turn(true, by_formula)}, {"by_simulation", turn(true, by_simulation)}}}}}};
}

Json costs_json(const PredictedMachine& machine) {
  return {{"name", machine.name},
          {"source", machine.source},
          {"measured", machine.measured},
          {"overheads_assumed", !machine.knows_overheads},
          {"allreduce_scale",
           {{"plain", number(machine.allreduce_scale[0])},
            {"node_aware", number(machine.allreduce_scale[1])}}},
          {"scenario", machine.scenario.name()},
          {"unknown", machine.unknown},
          {"left_out", machine.left_out}};
}

}  // namespace

std::string predict_json(const predict::Result& result, const RunFrame& run) {
  const Prediction& p = result.prediction;
  const run::MatrixSummary& matrix = run.matrix;
  Json routes = Json::array();
  for (const comm::Route& route : p.routes) routes.push_back(route.name());
  return dumped(
      {{"schema_version", predict_schema_version},
       {"program", program_json()},
       {"command_line", run.command_line},
       {"options", options_json(run.options)},
       {"preset", preset_json(run.preset)},
       {"machine", costs_json(result.machine)},
       {"matrix",
        {{"source", matrix.source},
         {"rows", matrix.rows},
         {"nonzeros", matrix.nonzeros},
         {"symmetric", matrix.symmetric}}},
       {"ranks", p.n_ranks()},
       {"nodes", p.ranks_per_node.size()},
       {"threads_per_rank", p.threads_per_rank},
       {"routes", routes},
       {"scenarios", p.scenarios},
       {"partition_choice", decision_json(p.partition_decision)},
       {"placement", placement_json(p.placement_gain)},
       {"coarse_levels_are_exact", p.levels_are_exact},
       {"levels", levels_json(result.machine, p)},
       {"allreduce", by_kind(p.allreduce)},
       {"cycle", cycle_json(p)},
       {"setup", setup_json(p)},
       {"gpu", gpu_json(result.gpu)},
       {"work_of_a_cycle_s", result.machine.knows_work ? number(p.work_s()) : Json(nullptr)},
       {"work_of_the_setup_s",
        result.machine.knows_work ? number(p.setup_work_s()) : Json(nullptr)},
       {"overlap", result.machine.knows_work ? hybrid_json(p) : Json(nullptr)},
       {"scaling", scaling_json(result)},
       {"times_s",
        {{"read", run.read_s}, {"setup", result.setup_s}, {"predict", result.predict_s}}},
       {"memory_bytes", {{"peak_resident_max", run.memory.peak_max_bytes}}}});
}

}  // namespace nodewise::report
