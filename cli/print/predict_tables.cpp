#include "cli/print/predict_tables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/model/cost_term.hpp"

#include "cli/print/predict_gpu.hpp"
#include "cli/print/predict_summary.hpp"
#include "cli/print/tables.hpp"

namespace nodewise::cli {

namespace {

using predict::BestRoutes;
using predict::by_formula;
using predict::by_simulation;
using predict::CollectiveKind;
using predict::Exchanged;
using predict::ExchangeTime;
using predict::PredictedLevel;
using predict::Prediction;
using predict::ScalingPoint;
using predict::seconds;
using predict::setup_exchanged;
using predict::Visits;

/// "12 .. 34"
std::string band(const ExchangeTime& time) {
  return fmt::format("{} .. {}", microseconds(time.low()), microseconds(time.high()));
}

/// Whether every route has the same messages.
bool is_of_any_route(Exchanged what) {
  return what == Exchanged::requests || what == Exchanged::redistribution;
}

/// Whether some smoothers do without it.
bool may_be_none(Exchanged what) {
  return what == Exchanged::spectral_radius || what == Exchanged::row_scales ||
         what == Exchanged::redistribution;
}

/// Columns of the terms of a cost and of their sum.
void add_term_heads(std::vector<std::string>& heads, const Prediction& p) {
  for (const model::CostTerm* term : p.terms) heads.push_back(term->title);
  heads.emplace_back("formula");
}

void add_terms(std::vector<std::string>& row, const Prediction& p,
               const model::ExchangeCost& cost) {
  for (const model::CostTerm* term : p.terms) row.push_back(microseconds(cost.*(*term->member)));
  row.push_back(microseconds(cost.total()));
}

/// One exchange of every level over every route, term by term; of the setup with its bytes.
void print_terms(Console& console, const Prediction& p, Exchanged what, const char* title) {
  const bool of_setup =
      std::find(setup_exchanged.begin(), setup_exchanged.end(), what) != setup_exchanged.end();
  std::vector<std::string> heads = {"level", "route", "messages\noff node"};
  add_term_heads(heads, p);
  heads.insert(heads.end(), {"simu-\nlated", of_setup ? "bytes of\nall ranks" : "its band"});
  Table table(heads);
  bool is_empty = true;
  for (std::size_t l = 0; l < p.levels.size(); ++l) {
    const std::vector<ExchangeTime>& times = p.levels[l].of(what);
    for (std::size_t k = 0; k < times.size(); ++k) {
      if (is_of_any_route(what) && k > 0) break;
      if (may_be_none(what) && times[k].messages == 0) continue;
      is_empty = false;
      std::vector<std::string> row = {std::to_string(l),
                                      is_of_any_route(what) ? "any" : p.routes[k].name(),
                                      grouped(times[k].max_off_node)};
      add_terms(row, p, times[k].formula);
      row.push_back(microseconds(times[k].simulated.front()));
      row.push_back(of_setup ? human_bytes(static_cast<double>(times[k].bytes)) : band(times[k]));
      table.add_row(std::move(row));
    }
  }
  if (!is_empty) table.print(console, title);
}

/// The cheapest route of a level; a mark where that is not certain, nothing where all are the same.
std::string cheapest_text(const Prediction& p, std::size_t level, std::size_t measure) {
  const Visits& visits = p.levels[level].visits;
  if (visits.products == 0 && visits.transfers == 0) return "";
  const std::string name = p.routes[p.best(measure).of_level[level]].name();
  return measure == by_simulation && !p.is_certain(level) ? name + "?" : name;
}

void print_levels_of_cycle(Console& console, const Prediction& p, std::size_t measure,
                           const char* title) {
  std::vector<std::string> heads = {"level",           "rows",     "ranks\nwith rows",
                                    "rows of\na rank", "products", "to the next\nand back"};
  for (const comm::Route& route : p.routes) heads.emplace_back(route.name());
  heads.emplace_back("cheapest");
  Table table(heads);
  for (std::size_t l = 0; l < p.levels.size(); ++l) {
    const PredictedLevel& level = p.levels[l];
    std::vector<std::string> row = {std::to_string(l),
                                    grouped(level.rows),
                                    ranks_text(level.active_ranks, level.copies),
                                    grouped(level.most_rows),
                                    fmt::format("{:g}", level.visits.products),
                                    fmt::format("{:g}", level.visits.transfers)};
    for (std::size_t k = 0; k < p.routes.size(); ++k) {
      row.push_back(microseconds(seconds(level.of_cycle(k, CollectiveKind::plain), measure)));
    }
    row.push_back(cheapest_text(p, l, measure));
    table.add_row(std::move(row));
  }
  table.print(console, title);
}

/// Names with times, term by term.
class Totals {
 public:
  explicit Totals(const Prediction& prediction) : prediction_(prediction) {}
  void add(const std::string& name, const ExchangeTime& time) {
    std::vector<std::string> row = {name};
    add_terms(row, prediction_, time.formula);
    row.push_back(microseconds(time.simulated.front()));
    row.push_back(band(time));
    table_.add_row(std::move(row));
  }
  void add_always(const comm::Route& route, const ExchangeTime& time) {
    add(fmt::format("always {}", route.name()), time);
  }
  const Table& table() const { return table_; }

 private:
  std::vector<std::string> heads() const {
    std::vector<std::string> all = {""};
    add_term_heads(all, prediction_);
    all.insert(all.end(), {"simu-\nlated", "its band"});
    return all;
  }

  const Prediction& prediction_;
  Table table_{heads()};
};

void print_totals(Console& console, const Prediction& p) {
  Totals totals(p);
  for (std::size_t k = 0; k < p.routes.size(); ++k) totals.add_always(p.routes[k], p.cycle(k));
  totals.add("best by level, by formula", p.cycle(p.best(by_formula)));
  totals.add("best by level, simulated", p.cycle(p.best(by_simulation)));
  if (!p.allreduce.empty()) {
    totals.add("(allreduce of a number)", p.allreduce[0]);
    totals.add("(node-aware allreduce)", p.allreduce[1]);
  }
  totals.table().print(console, "The exchanges of one cycle, in microseconds");
}

/// A level's setup over every route, by formula.
void print_routes_of_setup(Console& console, const Prediction& p, const BestRoutes& best) {
  std::vector<std::string> heads = {"level", "rounds of\nsplitting", "allreduces"};
  for (const comm::Route& route : p.routes) heads.emplace_back(route.name());
  heads.emplace_back("cheapest");
  Table table(heads);
  for (std::size_t l = 0; l < p.levels.size(); ++l) {
    const PredictedLevel& level = p.levels[l];
    std::vector<std::string> row = {
        std::to_string(l), level.splitting_rounds ? std::to_string(*level.splitting_rounds) : "",
        std::to_string(level.setup_reductions)};
    for (std::size_t k = 0; k < p.routes.size(); ++k) {
      row.push_back(
          microseconds(seconds(p.setup_of_level(l, k, CollectiveKind::plain), by_formula)));
    }
    row.emplace_back(l + 1 < p.levels.size() ? p.routes[best.of_level[l]].name() : "");
    table.add_row(std::move(row));
  }
  table.print(console, "The exchanges of the setup, level by level, by formula, in microseconds");
}

/// What a level's setup is made up of over its cheapest route, by formula.
void print_parts_of_setup(Console& console, const Prediction& p, const BestRoutes& best) {
  Table table({"level", "split-\nting", "spectral\nradius", "row\nscales", "inter-\npolation",
               "rows\nof P", "rows of\nproduct", "re-\nquests", "moves", "gather-\ning",
               "all-\nreduces", "in all"});
  std::string waits;
  const auto kind = static_cast<std::size_t>(best.gathering);
  for (std::size_t l = 0; l < p.levels.size(); ++l) {
    const PredictedLevel& level = p.levels[l];
    std::vector<std::string> row = {std::to_string(l)};
    const auto add = [&](const std::vector<ExchangeTime>& times, std::size_t which) {
      row.push_back(times.empty() ? "" : microseconds(seconds(times[which], by_formula)));
    };
    for (const Exchanged e : setup_exchanged) add(level.of(e), best.of_level[l]);
    add(level.matrix_gathering, kind);
    row.push_back(microseconds(static_cast<double>(level.setup_reductions) *
                               seconds(p.allreduce[kind], by_formula)));
    const ExchangeTime together = p.setup_of_level(l, best.of_level[l], best.gathering);
    row.push_back(microseconds(seconds(together, by_formula)));
    waits += (l == 0 ? "" : ", ") + std::to_string(together.waits);
    table.add_row(std::move(row));
  }
  table.print(console, "The same over the cheapest route, by operation");
  console.line(
      fmt::format("  Stages with messages between nodes that wait for one another: {}; by level {}",
                  p.setup(best).waits, waits));
}

void print_setup(Console& console, const Prediction& p) {
  print_routes_of_setup(console, p, p.best_for_setup(by_formula));
  print_parts_of_setup(console, p, p.best_for_setup(by_formula));
  Totals totals(p);
  for (std::size_t k = 0; k < p.routes.size(); ++k) totals.add_always(p.routes[k], p.setup(k));
  totals.add("best by level, by formula", p.setup(p.best_for_setup(by_formula)));
  totals.add("best by level, simulated", p.setup(p.best_for_setup(by_simulation)));
  totals.table().print(console, "The exchanges of the setup, in microseconds");
}

void print_scaling_of(Console& console, const predict::Result& result,
                      const predict::ScalingParts ScalingPoint::*part, const char* title) {
  const std::string first = result.prediction.routes.front().name();
  Table table({"ranks", "nodes", "rows of\na rank", "arith-\nmetic", first + "\nformula",
               "by level\nformula", first + "\nsimulated", "by level\nsimulated", "gain\nformula",
               "gain\nsimulated"});
  for (const ScalingPoint& point : result.scaling) {
    const predict::ScalingParts& parts = point.*part;
    std::vector<std::string> row = {grouped(point.ranks), grouped(point.nodes),
                                    grouped(std::llround(point.rows_of_a_rank)),
                                    microseconds(parts.work_s)};
    std::vector<std::string> gains;
    for (const std::size_t measure : {by_formula, by_simulation}) {
      const double plain = parts.seconds_of_first(measure);
      const double best = parts.seconds_of_best(measure);
      row.insert(row.end(), {microseconds(plain), microseconds(best)});
      gains.push_back(fmt::format("{:.2f}", plain / best));
    }
    row.insert(row.end(), gains.begin(), gains.end());
    table.add_row(std::move(row));
  }
  table.print(console, title);
}

void print_scaling(Console& console, const predict::Result& result) {
  if (result.scaling.empty()) return;
  print_scaling_of(console, result, &ScalingPoint::cycle,
                   "Strong scaling: arithmetic and exchanges of one cycle, in microseconds");
  print_scaling_of(
      console, result, &ScalingPoint::setup,
      "Strong scaling of the setup: arithmetic of its Galerkin products and exchanges, "
      "in microseconds");
}

}  // namespace

void print_prediction_tables(Console& console, const predict::Result& result) {
  const Prediction& p = result.prediction;
  if (result.gpu) {
    print_gpu_tables(console, *result.gpu);
    print_setup(console, p);
    print_scaling(console, result);
    return;
  }
  print_terms(console, p, Exchanged::product, "A product with a level's matrix, in microseconds");
  if (p.levels.size() > 1) {
    print_terms(console, p, Exchanged::restriction, "The restriction to the next level");
    print_terms(console, p, Exchanged::prolongation, "The prolongation from the next level");
    print_terms(console, p, Exchanged::interpolation_rows,
                "The rows of the interpolation for the product A P of the setup");
    print_terms(console, p, Exchanged::product_rows,
                "The rows of its other product, partial ones on their way to their owners");
    print_terms(console, p, Exchanged::splitting, "All rounds of the splitting, in the setup");
    print_terms(console, p, Exchanged::spectral_radius,
                "The products that estimate spectral radii, in the setup");
    print_terms(console, p, Exchanged::row_scales, "The scales of the rows, in the setup");
    print_terms(console, p, Exchanged::interpolation,
                "What the interpolation is made of, in the setup: coarse points, links and rows");
    print_terms(console, p, Exchanged::requests,
                "Who needs what of the new matrices, in the setup");
    print_terms(console, p, Exchanged::redistribution,
                "What is known of levels on their way to fewer ranks, in the setup");
  }
  print_levels_of_cycle(console, p, by_formula,
                        "The exchanges of one cycle, level by level, by formula, in microseconds");
  print_levels_of_cycle(console, p, by_simulation,
                        "The same simulated (?: within the band another route can be cheaper)");
  print_totals(console, p);
  print_setup(console, p);
  print_scaling(console, result);
}

}  // namespace nodewise::cli
