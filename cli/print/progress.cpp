#include "cli/print/progress.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/timer.hpp"

#include "cli/interruption.hpp"

namespace nodewise::cli {

amg::LevelObserver level_progress(Console& console) {
  return [&console](int level, const amg::LevelInfo& info) {
    const double per_row =
        info.rows == 0 ? 0 : static_cast<double>(info.nonzeros) / static_cast<double>(info.rows);
    console.progress(fmt::format("  level {:>3}   {:>13} rows   {:>15} nonzeros   {:>6.1f} a row",
                                 level, grouped(info.rows), grouped(info.nonzeros), per_row));
  };
}

predict::Progress predict_progress(Console& console) {
  if (!console.is_live() && !console.wants_lines()) return {};
  predict::Progress progress;
  progress.begin = [&console](int n_ranks) {
    if (console.wants_lines()) console.line(fmt::format("{} ranks", grouped(n_ranks)));
  };
  progress.level = level_progress(console);
  progress.exchange = [&console](std::size_t level, predict::CountedExchange exchange,
                                 double seconds) {
    console.progress(fmt::format("  level {:>3}   {:<20}{:>10}", level, to_string(exchange),
                                 human_seconds(seconds)));
  };
  return progress;
}

calibrate::PartObserver part_progress(Console& console) {
  return [&console](double seconds, const std::string& part) {
    console.progress(fmt::format("  {:>7}   {}", human_seconds(seconds), part));
  };
}

std::function<void(double)> reading_progress(Console& console) {
  const double interval = console.is_live() ? 0.5 : 10;  // seconds; nothing of what is read sooner
  return [&console, interval, timer = Timer(), next = interval](double share) mutable {
    const double passed = timer.seconds();
    if (passed < next) return;
    next = passed + interval;
    console.progress(
        fmt::format("  reading: {:.0f} % after {}", 100 * share, human_seconds(passed)));
  };
}

solve::Observer iteration_progress(Console& console) {
  // The residual of the iteration before, shared by the copies of the observer. The first guess is
  // zero, its relative residual one.
  auto last = std::make_shared<double>(1);
  return [&console, last](int iteration, double residual) {
    std::string factor;
    if (iteration > 0 && *last > 0) factor = fmt::format("   factor {:.3f}", residual / *last);
    *last = residual;
    console.progress(
        fmt::format("  iteration {:>4}   relative residual {:.3e}{}", iteration, residual, factor));
  };
}

solve::Observer interruptible(solve::Observer observe) {
  // The agreement is an allreduce, which most solves are over without.
  constexpr int iterations_between_agreements = 16;
  return solve::Observer([observe = std::move(observe)](int iteration, double residual) {
           observe(iteration, residual);
           return !is_interrupted();
         })
      .agreed_every(iterations_between_agreements);
}

void print_history(Console& console, const solve::Report& report) {
  // At most 12 lines of 4: of a longer history the first, the last, and every so many between.
  constexpr std::size_t columns = 4;
  constexpr std::size_t most = 48;
  const std::size_t n = report.history.size();
  const std::size_t step = std::max<std::size_t>(1, (n + most - 2) / (most - 1));
  std::vector<std::string> cells;
  for (std::size_t k = 0; k < n; ++k) {
    if (k % step != 0 && k + 1 != n) continue;
    cells.push_back(fmt::format("{:>5}  {:.3e}", k, report.history[k]));
  }
  const std::size_t lines = (cells.size() + columns - 1) / columns;
  console.line("Relative residual after each iteration");
  for (std::size_t l = 0; l < lines; ++l) {
    std::string line;
    for (std::size_t k = l; k < cells.size(); k += lines) line += "  " + cells[k] + "    ";
    console.line(line.substr(0, line.find_last_not_of(' ') + 1));
  }
  console.line();
}

}  // namespace nodewise::cli
