#include "petsc/view.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "nodewise/base/version.hpp"

#include "petsc/errors.hpp"

namespace nodewise::petsc {

namespace {

std::string listed(const solver::NamedValues& values, const char* prefix) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += (text.empty() ? "" : ", ") + as_typed(fmt::format("`{} {}`", name, value), prefix);
  }
  return text;
}

void append_line(std::string& text, const char* label, const std::string& what) {
  if (!what.empty()) text += fmt::format("{}: {}\n", label, what);
}

std::string unused_of(const solver::SolveRecord& record, const char* prefix) {
  std::string text;
  for (const solver::UnusedOption& option : record.unused) {
    text += fmt::format("{}{} (needs {})", text.empty() ? "" : ", ",
                        as_typed("`" + option.name + "`", prefix), option.needs);
  }
  return text;
}

bool is_direct(const amg::LevelInfo& info) {
  return info.routes.solve == comm::Route("direct");
}

/// A line a level. Messages are those of one product, over all ranks.
std::string levels_of(const solver::SolveRecord& record) {
  const bool has_routes = !std::all_of(record.levels.begin(), record.levels.end(), is_direct);
  std::string text =
      fmt::format("{:>5} {:>12} {:>14} {:>6} {:>10} {:>12}{}\n", "level", "rows", "nonzeros",
                  "ranks", "messages", "off node", has_routes ? "  route" : "");
  for (std::size_t l = 0; l < record.levels.size(); ++l) {
    const amg::LevelInfo& info = record.levels[l];
    const comm::Traffic& sent = info.traffic;
    text += fmt::format("{:>5} {:>12} {:>14} {:>6} {:>10} {:>12}", l, info.rows, info.nonzeros,
                        info.active_ranks, sent.messages_on_node + sent.messages_off_node,
                        sent.messages_off_node);
    if (has_routes) text += "  " + info.routes.solve.name();
    text += '\n';
  }
  return text;
}

}  // namespace

std::string description(const solver::SolveRecord& record, const char* prefix) {
  std::string text =
      fmt::format("Nodewise {}: preconditioner {}\n", version(), record.preconditioner);
  std::string preset = record.preset.name;
  if (!record.preset.reason.empty()) preset += ", since " + as_typed(record.preset.reason, prefix);
  append_line(text, "preset", preset);
  append_line(text, "set by it", listed(record.preset.set, prefix));
  append_line(text, "options", listed(record.options.given, prefix));
  append_line(text, "without effect", unused_of(record, prefix));
  if (record.levels.empty()) return text;
  text += fmt::format(
      "smoother {}, cycle {}, {}\n", record.options.amg.smoother.name(),
      record.options.amg.cycle.name(),
      record.levels.front().is_single_precision ? "in single precision" : "in double precision");
  text += levels_of(record);
  text += fmt::format("grid complexity {:.3f}, operator complexity {:.3f}, coarsest level: {}\n",
                      record.grid_complexity, record.operator_complexity,
                      record.levels.back().coarse_solver);
  return text;
}

}  // namespace nodewise::petsc
