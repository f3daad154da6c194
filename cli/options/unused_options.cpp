#include "cli/options/unused_options.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "nodewise/amg/idle_options.hpp"
#include "nodewise/base/format_numbers.hpp"

#include "cli/options/preset_text.hpp"

namespace nodewise::cli {

namespace {

/// Options in the library's table of multigrid that say how a matrix travels and is stored,
/// whatever the preconditioner.
constexpr std::array<std::string_view, 4> of_the_matrix = {"unknowns", "route", "transport",
                                                           "expected_solves"};

std::string needed_of_solver(std::string_view name, solve::Method method) {
  if (name == "restart" && method != solve::Method::gmres && method != solve::Method::fgmres) {
    return "solver gmres or fgmres";
  }
  if (name == "enlarging-factor" && method != solve::Method::enlarged_cg) {
    return "solver enlarged_cg";
  }
  return "";
}

std::string needed_of_multigrid(std::string_view name, const Settings& settings) {
  if (settings.method.preconditioner == PreconditionerChoice::amg) {
    return amg::needed_by(name, settings.amg);
  }
  return std::find(of_the_matrix.begin(), of_the_matrix.end(), name) == of_the_matrix.end()
             ? "preconditioner amg"
             : "";
}

}  // namespace

std::vector<IdleOption> idle_multigrid_options(const Settings& settings) {
  std::vector<IdleOption> idle;
  for (const std::string& name : given_options(settings)) {
    const std::string needs = needed_of_multigrid(name, settings);
    if (!needs.empty()) idle.push_back({with_dashes(name), needs});
  }
  return idle;
}

std::vector<IdleOption> idle_options(const Settings& settings, solve::Method method) {
  std::vector<IdleOption> idle;
  for (const char* name : {"restart", "enlarging-factor"}) {
    const std::string needs = needed_of_solver(name, method);
    if (settings.has(name) && !needs.empty()) idle.push_back({name, needs});
  }
  const std::vector<IdleOption> of_multigrid = idle_multigrid_options(settings);
  idle.insert(idle.end(), of_multigrid.begin(), of_multigrid.end());
  return idle;
}

std::string idle_text(const std::vector<IdleOption>& options) {
  std::string text;
  for (const IdleOption& option : options) {
    text += fmt::format("{}--{} (needs {})", text.empty() ? "" : ", ", option.name, option.needs);
  }
  return text;
}

}  // namespace nodewise::cli
