#include "cli/predict_tables.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/format.hpp"
#include "cli/preset.hpp"
#include "cli/summary.hpp"
#include "cli/tables.hpp"

namespace nodewise::cli {

namespace {

std::string microseconds(double seconds) {
  const double us = 1e6 * seconds;
  return fmt::format("{:.{}f}", us, us >= 99.95 || us == 0 ? 0 : us >= 9.995 ? 1 : 2);
}

/// "12 .. 34"
std::string band(const ExchangeTime& time) {
  return fmt::format("{} .. {}", microseconds(time.low()), microseconds(time.high()));
}

void print_table(Console& console, const char* title, const Table& table) {
  console.line(title);
  for (const std::string& line : table.lines()) console.line(line);
  console.line();
}

void print_machine(Console& console, const PredictRecord& record, const Settings& settings) {
  const PredictedMachine& machine = record.machine;
  const Prediction& p = record.prediction;
  console.line("Prediction");
  print_entry(console, "matrix", matrix_text(record.matrix));
  print_entry(console, "machine",
              machine.name + (machine.measured ? "; " : "; NOT MEASURED; ") + machine.source);
  if (!machine.left_out.empty()) {
    print_entry(console, "left out",
                fmt::format("{}, of which it says nothing", fmt::join(machine.left_out, ", ")));
  }
  if (!machine.knows_overheads) {
    print_entry(console, "assumed",
                "for the simulation a gap of 50 ns, and a quarter of the latency at each end of a "
                "message for the processors");
  }
  print_entry(console, "ranks",
              fmt::format("{} on {}, {}", counted(p.n_ranks(), "rank"),
                          counted(std::ssize(p.ranks_per_node), "node"),
                          settings.virtual_machine.placement == Dealing::block
                              ? "successive ranks on one node"
                              : "successive ranks on successive nodes"));
  if (!p.levels_are_exact) {
    print_entry(console, "levels",
                "the finest as on so many ranks; coarser ones nearly, for which of equally large "
                "weights an interpolation keeps depends on the ranks");
  }
  if (settings.has("preset")) print_entry(console, "preset", preset_text(record.preset));
  console.line();
}

/// One exchange of every level over every route, term by term.
void print_terms(Console& console, const Prediction& p, Exchanged what, const char* title) {
  Table table({"level", "route", "messages\noff node", "latency", "band-\nwidth", "injec-\ntion",
               "queue", "conten-\ntion", "formula", "simu-\nlated", "its band"});
  for (std::size_t l = 0; l < p.levels.size(); ++l) {
    const std::vector<ExchangeTime>& times = p.levels[l].of(what);
    for (std::size_t k = 0; k < times.size(); ++k) {
      const model::ExchangeCost& f = times[k].formula;
      table.add_row({std::to_string(l), comm::to_string(p.routes[k]),
                     grouped(times[k].max_off_node), microseconds(f.latency_s),
                     microseconds(f.bandwidth_s), microseconds(f.injection_s),
                     microseconds(f.queue_s), microseconds(f.contention_s), microseconds(f.total()),
                     microseconds(times[k].simulated.front()), band(times[k])});
    }
  }
  print_table(console, title, table);
}

/// Whether every scenario agrees with the base on the cheapest route of a level.
bool all_agree(const Prediction& p, std::size_t level) {
  const std::size_t route = p.best(by_simulation).of_level[level];
  for (std::size_t k = 1; k < p.scenarios.size(); ++k) {
    if (p.best(by_simulation + k).of_level[level] != route) return false;
  }
  return true;
}

/// The cheapest route of a level; a mark where that is not certain, nothing where all are the same.
std::string cheapest_text(const Prediction& p, std::size_t level, std::size_t measure) {
  const Visits& visits = p.levels[level].visits;
  if (visits.products == 0 && visits.transfers == 0) return "";
  const std::string name = comm::to_string(p.routes[p.best(measure).of_level[level]]);
  return measure == by_simulation && !all_agree(p, level) ? name + "?" : name;
}

void print_levels_of_cycle(Console& console, const Prediction& p, std::size_t measure,
                           const char* title) {
  std::vector<std::string> heads = {"level",           "rows",     "ranks\nwith rows",
                                    "rows of\na rank", "products", "to the next\nand back"};
  for (const comm::Route route : p.routes) heads.emplace_back(comm::to_string(route));
  heads.emplace_back("cheapest");
  Table table(heads);
  for (std::size_t l = 0; l < p.levels.size(); ++l) {
    const PredictedLevel& level = p.levels[l];
    std::vector<std::string> row = {std::to_string(l),
                                    grouped(level.rows),
                                    grouped(level.active_ranks),
                                    grouped(level.most_rows),
                                    fmt::format("{:g}", level.visits.products),
                                    fmt::format("{:g}", level.visits.transfers)};
    for (std::size_t k = 0; k < p.routes.size(); ++k) {
      row.push_back(microseconds(seconds(level.of_cycle(k, CollectiveKind::plain), measure)));
    }
    row.push_back(cheapest_text(p, l, measure));
    table.add_row(std::move(row));
  }
  print_table(console, title, table);
}

void print_totals(Console& console, const Prediction& p, bool knows_work) {
  Table table({"", "latency", "band-\nwidth", "injec-\ntion", "queue", "conten-\ntion", "formula",
               "simu-\nlated", "its band"});
  const auto add = [&](const std::string& name, const ExchangeTime& time) {
    const model::ExchangeCost& f = time.formula;
    table.add_row({name, microseconds(f.latency_s), microseconds(f.bandwidth_s),
                   microseconds(f.injection_s), microseconds(f.queue_s),
                   microseconds(f.contention_s), microseconds(f.total()),
                   microseconds(time.simulated.front()), band(time)});
  };
  for (std::size_t k = 0; k < p.routes.size(); ++k) {
    add(fmt::format("always {}", comm::to_string(p.routes[k])), p.cycle(k));
  }
  add("best by level, by formula", p.cycle(p.best(by_formula)));
  add("best by level, simulated", p.cycle(p.best(by_simulation)));
  if (!p.allreduce.empty()) {
    add("(allreduce of a number)", p.allreduce[0]);
    add("(node-aware allreduce)", p.allreduce[1]);
  }
  print_table(console, "The exchanges of one cycle, in microseconds", table);
  const auto gain = [&](std::size_t measure) {
    return seconds(p.cycle(0), measure) / seconds(p.cycle(p.best(measure)), measure);
  };
  const char* first = comm::to_string(p.routes.front());
  if (seconds(p.cycle(p.best(by_simulation)), by_simulation) > 0) {
    print_entry(console, "gain",
                fmt::format("routes chosen by level are {:.2f} times as fast as always {} by "
                            "formula, {:.2f} times in simulation",
                            gain(by_formula), first, gain(by_simulation)));
  }
  if (knows_work) {
    print_entry(console, "arithmetic",
                fmt::format("{} us a cycle on the rank with most", microseconds(p.work_s())));
  }
  console.line();
}

std::string turn_text(const std::vector<ScalingPoint>& curve, bool best, std::size_t measure) {
  const std::size_t k = fastest(curve, best, measure);
  const std::string where = fmt::format("{} with {:.0f} rows each", counted(curve[k].ranks, "rank"),
                                        curve[k].rows_of_a_rank);
  return k + 1 == curve.size() ? "more ranks still pay at " + where
                               : "no more ranks pay than " + where;
}

void print_scaling(Console& console, const PredictRecord& record) {
  const std::vector<ScalingPoint>& curve = record.scaling;
  if (curve.empty()) return;
  const std::string first = comm::to_string(record.prediction.routes.front());
  Table table({"ranks", "nodes", "rows of\na rank", "arith-\nmetic", first + "\nformula",
               "by level\nformula", first + "\nsimulated", "by level\nsimulated", "gain\nformula",
               "gain\nsimulated"});
  for (const ScalingPoint& point : curve) {
    std::vector<std::string> row = {grouped(point.ranks), grouped(point.nodes),
                                    fmt::format("{:.0f}", point.rows_of_a_rank),
                                    microseconds(point.work_s)};
    std::vector<std::string> gains;
    for (const std::size_t measure : {by_formula, by_simulation}) {
      const double plain = point.seconds_of_first(measure);
      const double best = point.seconds_of_best(measure);
      row.insert(row.end(), {microseconds(plain), microseconds(best)});
      gains.push_back(fmt::format("{:.2f}", plain / best));
    }
    row.insert(row.end(), gains.begin(), gains.end());
    table.add_row(std::move(row));
  }
  print_table(console, "Strong scaling: arithmetic and exchanges of one cycle, in microseconds",
              table);
  print_entry(console, first, "by formula, " + turn_text(curve, false, by_formula));
  print_entry(console, "", "simulated, " + turn_text(curve, false, by_simulation));
  print_entry(console, "by level", "by formula, " + turn_text(curve, true, by_formula));
  print_entry(console, "", "simulated, " + turn_text(curve, true, by_simulation));
  console.line();
}

}  // namespace

void print_prediction(Console& console, const PredictRecord& record, const Settings& settings) {
  const Prediction& p = record.prediction;
  print_machine(console, record, settings);
  print_terms(console, p, Exchanged::product, "A product with a level's matrix, in microseconds");
  if (p.levels.size() > 1) {
    print_terms(console, p, Exchanged::restriction, "The restriction to the next level");
    print_terms(console, p, Exchanged::prolongation, "The prolongation from the next level");
    print_terms(console, p, Exchanged::interpolation_rows,
                "The rows of the interpolation for the product A P of the setup");
  }
  print_levels_of_cycle(console, p, by_formula,
                        "The exchanges of one cycle, level by level, by formula, in microseconds");
  print_levels_of_cycle(console, p, by_simulation,
                        "The same simulated (?: within the band another route can be cheaper)");
  print_totals(console, p, record.machine.knows_work);
  print_scaling(console, record);
  print_entry(console, "time",
              fmt::format("read {}, setup {}, prediction {}", human_seconds(record.times.read),
                          human_seconds(record.times.setup), human_seconds(record.times.predict)));
  if (!settings.result.json.empty()) print_entry(console, "report", settings.result.json);
}

}  // namespace nodewise::cli
