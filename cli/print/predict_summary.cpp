#include "cli/print/predict_summary.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nodewise/base/format_numbers.hpp"

#include "cli/options/preset_text.hpp"
#include "cli/print/level_runs.hpp"
#include "cli/print/predict_gpu.hpp"
#include "cli/print/summary.hpp"
#include "cli/print/tables.hpp"

namespace nodewise::cli {

namespace {

using predict::BestRoutes;
using predict::by_formula;
using predict::by_simulation;
using predict::ExchangeTime;
using predict::PredictedLevel;
using predict::PredictedMachine;
using predict::Prediction;
using predict::ScalingPoint;

std::string always_first(const Prediction& p) {
  return fmt::format("always {}", p.routes.front().name());
}

/// Over the first route and over the best ones, by formula and simulated.
std::vector<std::string> row_of(const std::string& name, const ExchangeTime& first,
                                const ExchangeTime& best_by_formula,
                                const ExchangeTime& best_by_simulation) {
  const double times[] = {seconds(first, by_formula), seconds(first, by_simulation),
                          seconds(best_by_formula, by_formula),
                          seconds(best_by_simulation, by_simulation)};
  std::vector<std::string> row = {name};
  for (const double time : times) row.push_back(microseconds(time));
  for (const std::size_t k : {0, 1}) {
    row.push_back(times[k + 2] > 0 ? fmt::format("{:.2f}", times[k] / times[k + 2]) : "-");
  }
  return row;
}

void print_gain(Console& console, const Prediction& p) {
  const std::string first = always_first(p);
  Table table({"exchanges in\nmicroseconds", first + "\nformula", first + "\nsimulated",
               "best routes\nformula", "best routes\nsimulated", "gain\nformula",
               "gain\nsimulated"});
  table.add_row(
      row_of("a cycle", p.cycle(0), p.cycle(p.best(by_formula)), p.cycle(p.best(by_simulation))));
  table.add_row(row_of("the setup", p.setup(0), p.setup(p.best_for_setup(by_formula)),
                       p.setup(p.best_for_setup(by_simulation))));
  table.print(console);
  console.line();
}

/// "level 2 takes 41 % of a cycle's exchanges"
std::string dearest_text(const Prediction& p, const BestRoutes& routes) {
  const std::size_t l = p.dearest_level(routes, by_simulation);
  const PredictedLevel& level = p.levels[l];
  const double all = seconds(p.cycle(routes), by_simulation);
  const double part = seconds(level.of_cycle(routes.of_level[l], routes.gathering), by_simulation);
  return fmt::format("level {} takes {:.0f} % ({} on {})", l, all > 0 ? 100 * part / all : 0.0,
                     counted(level.rows, "row"),
                     level.copies > 1 ? ranks_text(level.active_ranks, level.copies)
                                      : counted(level.active_ranks, "rank"));
}

/// "level 0 direct, levels 1 to 3 three_step?"
std::string predicted_routes_text(const Prediction& p) {
  const BestRoutes best = p.best(by_simulation);
  const auto name_of = [&](std::size_t l) {
    const std::string name = p.routes[best.of_level[l]].name();
    return p.is_certain(l) ? name : name + "?";
  };
  return by_levels(p.levels.size(), name_of);
}

bool is_uncertain(const Prediction& p) {
  for (std::size_t l = 0; l < p.levels.size(); ++l) {
    if (!p.is_certain(l)) return true;
  }
  return false;
}

std::string turn_text(const std::vector<ScalingPoint>& curve, bool best, std::size_t measure) {
  const std::size_t k = predict::fastest(curve, best, measure);
  return fmt::format(
      "{} {} with {} rows each", k + 1 == curve.size() ? "still pay at" : "pay up to",
      counted(curve[k].ranks, "rank"), grouped(std::llround(curve[k].rows_of_a_rank)));
}

/// Where more ranks stop paying.
void print_turns(Console& console, const predict::Result& result) {
  const std::vector<ScalingPoint>& curve = result.scaling;
  if (curve.empty()) {
    print_entry(console, "more ranks",
                "not asked for; --rank-counts 64,512,4096 says where they stop paying");
    return;
  }
  const auto print = [&](const std::string& label, const std::string& over, bool best) {
    print_entry(
        console, label,
        fmt::format("{}: by formula {}; simulated {}", over, turn_text(curve, best, by_formula),
                    turn_text(curve, best, by_simulation)));
  };
  const std::string first = always_first(result.prediction);
  print("more ranks", result.gpu ? "by the best ways" : "over the best routes", true);
  print("", result.gpu ? "one core, " + first : first, false);
}

/// "86.0 us of a cycle in place of 206, 820 of the setup in place of 1650"
std::string moved_times_text(const amg::RedistributionDecision& choice) {
  std::string text = fmt::format("{} us of a cycle in place of {}", microseconds(choice.moved_s),
                                 microseconds(choice.stay_s));
  if (choice.stay_setup_s > 0) {
    text += fmt::format(", {} of the setup in place of {}", microseconds(choice.moved_setup_s),
                        microseconds(choice.stay_setup_s));
  }
  return text;
}

/// The level that a move would cost least in a cycle, of those that stay.
std::string stays_text(const Prediction& p) {
  std::string text = "none pays";
  double least = 0;
  for (std::size_t l = 1; l < p.levels.size(); ++l) {
    const auto& choice = p.levels[l].redistribution_choice;
    if (!choice || choice->moved_s == 0) continue;
    const double ratio = choice->moved_s / choice->stay_s;
    if (least > 0 && ratio >= least) continue;
    least = ratio;
    text = fmt::format("none pays; nearest is level {}, {}", l, moved_times_text(*choice));
  }
  return text;
}

std::string decided_text(const Prediction& p) {
  std::vector<std::string> moves;
  double saved = 0;
  for (std::size_t l = 0; l < p.levels.size(); ++l) {
    const auto& choice = p.levels[l].redistribution_choice;
    if (!choice || !choice->moves()) continue;
    const std::string copied =
        choice->redundant ? fmt::format(", copied to {} nodes", p.levels[l].copies) : "";
    moves.push_back(fmt::format("level {} on {} of {}{}: {}", l, grouped(choice->ranks),
                                counted(choice->ranks_before, "rank"), copied,
                                moved_times_text(*choice)));
    saved += choice->stay_s - choice->moved_s;
  }
  if (moves.empty()) return stays_text(p);
  if (moves.size() > 1) moves.push_back(microseconds(saved) + " us of a cycle saved in all");
  return fmt::format("{}", fmt::join(moves, "; "));
}

std::string stays_everywhere_text(const Prediction& p, const Settings& settings) {
  if (settings.predict.memory == predict::Memory::device) return "none: all have their GPUs";
  if (settings.has("redistribution")) {
    return "none, as given; without --redistribution none they are where they pay";
  }
  return p.ranks_per_node.size() < 2 ? "none: all ranks are on one node"
                                     : "none predicted: nodes are not filled one after the other";
}

/// What fewer ranks on coarse levels gain, beside routes.
std::string redistribution_text(const Prediction& p, const Settings& settings) {
  const amg::Redistribution& redistribution = p.redistribution;
  if (!redistribution->moves_rows) return stays_everywhere_text(p, settings);
  if (redistribution->decide != nullptr) {
    return fmt::format("by {}: {}", redistribution.name(), decided_text(p));
  }
  std::vector<std::string> ranks;
  for (const PredictedLevel& level : p.levels) {
    ranks.push_back(ranks_text(level.active_ranks, level.copies));
  }
  return fmt::format(
      "as given, levels on {} ranks; --redistribution none says what all of them cost",
      fmt::join(ranks, ", "));
}

/// What the choice of sparser matrices saves of the levels, where costs made it.
std::string sparser_text(const Prediction& p) {
  std::vector<std::string> sparser;
  for (std::size_t l = 0; l < p.levels.size(); ++l) {
    const auto& choice = p.levels[l].sparsity_choice;
    if (choice && choice->tolerance > 0) {
      sparser.push_back(fmt::format("level {}: {}", l, choice->reason));
    }
  }
  return sparser.empty() ? "no level gains by losing some"
                         : fmt::format("{}", fmt::join(sparser, "; "));
}

/// Of vectors on the host: the gain of routes, and which they are.
void print_routes(Console& console, const Prediction& p) {
  print_gain(console, p);
  if (seconds(p.cycle(0), by_simulation) > 0) {
    print_entry(console, "costs most",
                fmt::format("over the best routes {} of a cycle's exchanges, simulated; {} {}",
                            dearest_text(p, p.best(by_simulation)), always_first(p),
                            dearest_text(p, predict::one_route(p, 0))));
  }
  print_entry(console, "best routes",
              predicted_routes_text(p) +
                  (is_uncertain(p) ? "; ?: another may be cheaper, within what is not known" : ""));
}

/// A cycle with its arithmetic, by what overlaps.
std::string overlap_text(const Prediction& p) {
  const auto in = [&](comm::Overlap mode) {
    return microseconds(p.hybrid_cycle_s(p.best(predict::by_formula), predict::by_formula, mode));
  };
  std::string text = fmt::format("{} us a cycle one after the other, {} with overlap naive",
                                 in(comm::Overlap::none), in(comm::Overlap::naive));
  if (p.threads_per_rank > 1) text += fmt::format(", {} with task", in(comm::Overlap::task));
  return text;
}

void print_answer(Console& console, const predict::Result& result, const Settings& settings) {
  const Prediction& p = result.prediction;
  if (result.gpu) {
    print_gpu_answer(console, result);
  } else {
    print_routes(console, p);
  }
  print_entry(console, "fewer ranks", redistribution_text(p, settings));
  if (std::any_of(p.levels.begin(), p.levels.end(),
                  [](const PredictedLevel& level) { return level.sparsity_choice != nullptr; })) {
    print_entry(console, "fewer entries", sparser_text(p));
  }
  if (result.machine.knows_work) {
    print_entry(
        console, "arithmetic",
        fmt::format("{} us a cycle on the rank with most, {} in the setup's Galerkin products",
                    microseconds(p.work_s()), microseconds(p.setup_work_s())));
    print_entry(console, "both", overlap_text(p));
  }
  print_turns(console, result);
  console.line();
}

/// The problem, the machine, and what is assumed.
void print_subject(Console& console, const PredictRecord& record, const Settings& settings) {
  const PredictedMachine& machine = record.result.machine;
  const Prediction& p = record.result.prediction;
  console.line("Of what");
  print_entry(console, "matrix", matrix_text(record.run.matrix));
  print_entry(console, "machine",
              machine.name + (machine.measured ? "; " : "; NOT MEASURED; ") + machine.source);
  const model::Scenario& scenario = *machine.scenario;
  if (scenario.penalties != model::Penalties()) {
    print_entry(console, "scenario", fmt::format("{}: {}", *scenario.name, *scenario.summary));
  }
  if (!machine.unknown.empty()) {
    print_entry(
        console, "unknown",
        fmt::format("{}, of which its file says nothing", fmt::join(machine.unknown, ", ")));
  }
  if (!machine.left_out.empty()) {
    print_entry(console, "left out",
                fmt::format("{}: its file has them, and this prediction does not take them",
                            fmt::join(machine.left_out, ", ")));
  }
  if (!machine.knows_overheads) {
    print_entry(console, "assumed",
                "for the simulation a gap of 50 ns, and a quarter of the latency at each end of a "
                "message for the processors");
  }
  if (machine.knows_allreduces) {
    print_entry(console, "allreduces",
                fmt::format("scaled by what the machine file has measured: {:.3g} times the plain "
                            "one, {:.3g} times the node-aware one",
                            machine.allreduce_scale[0], machine.allreduce_scale[1]));
  }
  print_entry(
      console, "ranks",
      fmt::format("{}{} on {}, {}", counted(p.n_ranks(), "rank"),
                  p.threads_per_rank > 1 ? fmt::format(" of {} threads", p.threads_per_rank) : "",
                  counted(std::ssize(p.ranks_per_node), "node"),
                  deals_in_blocks(settings) ? "successive ranks on one node"
                                            : "successive ranks on successive nodes"));
  print_partition(console, settings.method);
  print_decision(console, p.partition_decision);
  print_placement(console, settings.method.placement, p.placement_gain);
  if (!p.levels_are_exact) {
    print_entry(
        console, "levels",
        "the finest as on so many ranks; coarser ones nearly, for where weights or connections "
        "nearly tie round-off decides, which depends on the ranks");
  }
  if (is_worth_telling(record.run.preset))
    print_entry(console, "preset", preset_text(record.run.preset));
  if (!p.left_out_of_setup.empty()) {
    print_entry(console, "not counted",
                fmt::format("{} of the setup, where these options send what is not counted",
                            fmt::join(p.left_out_of_setup, ", ")));
  }
  const predict::Result& result = record.result;
  print_entry(console, "time",
              fmt::format("read {}, setup {}, prediction {}", human_seconds(record.run.read_s),
                          human_seconds(result.setup_s), human_seconds(result.predict_s)));
  if (!settings.result.json.empty()) print_entry(console, "report", settings.result.json);
  if (!settings.result.details) {
    print_entry(console, "more",
                "--details: every exchange of every level over every route, term by term");
  }
}

}  // namespace

std::string microseconds(double seconds) {
  const double us = 1e6 * seconds;
  return fmt::format("{:.{}f}", us, us >= 99.95 || us == 0 ? 0 : us >= 9.995 ? 1 : 2);
}

void print_prediction_summary(Console& console, const PredictRecord& record,
                              const Settings& settings) {
  const Prediction& p = record.result.prediction;
  console.line(fmt::format("Prediction for {} on {} of {}{}", counted(p.n_ranks(), "rank"),
                           counted(std::ssize(p.ranks_per_node), "node"),
                           record.result.machine.name, record.result.gpu ? ", a GPU each" : ""));
  print_answer(console, record.result, settings);
  print_subject(console, record, settings);
}

}  // namespace nodewise::cli
