#include "nodewise/amg/presets.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace nodewise::amg {

namespace {

std::vector<Preset> make_presets() {
  const PresetOption chebyshev = {"smoother", "chebyshev", false,
                                  "a symmetric polynomial, the same on any number of ranks"};
  return {
      {"default", 1, "anything: the defaults of the options", {}, std::nullopt, false},
      {"poisson", 1, "scalar diffusion on a mesh", {chebyshev}, std::nullopt, false},
      {"anisotropic",
       1,
       "scalar diffusion that is strong in one direction",
       {{"strength_measure", "absolute", false,
         "couplings along the strong direction have either sign where it crosses the mesh"}},
       std::nullopt,
       false},
      {"elasticity",
       1,
       "displacements and other systems of several unknowns a point",
       {{"method", "aggregation", true, "rigid body modes are represented on every level"}},
       std::nullopt,
       true},
      {"convection",
       1,
       "transport, with little diffusion or none",
       {{"strength_measure", "absolute", false, "the sign of a coupling says little"},
        {"sweep_order", "alternating", false, "one of the two directions follows the flow"}},
       solve::Method::gmres,
       false},
      {"graph_laplacian",
       1,
       "Laplacians of graphs with points of very many neighbours",
       {{"coarsening", "pmis", false, "fewer coarse points where many rows are long"}, chebyshev},
       std::nullopt,
       false},
  };
}

/// "1.23 %" for 0.0123.
std::string percent(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

}  // namespace

std::span<const Preset> presets() {
  static const std::vector<Preset> table = make_presets();
  return table;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  names.emplace_back("auto");
  return names;
}

const Preset& find_preset(std::string_view name) {
  std::string word(name);
  std::replace(word.begin(), word.end(), '-', '_');
  std::vector<std::string> names = preset_names();
  names.pop_back();
  const int k = detail::parse_choice("preset", word, names);
  return presets()[static_cast<std::size_t>(k)];
}

PresetChoice choose_preset(const ProblemFacts& facts, const GivenKnowledge& given) {
  const auto choose = [](std::string_view name, std::string reason) {
    return PresetChoice{&find_preset(name), std::move(reason)};
  };
  // A matrix of less than this is symmetric but for round-off or a few boundary rows.
  constexpr double hardly_nonsymmetric = 0.01;
  constexpr double few_positive = 0.15;
  constexpr double very_long_row = 8;
  if (given.near_null_space) return choose("elasticity", "a near null space is known");
  if (!facts.symmetric) {
    const std::string measured =
        fmt::format("the matrix is not symmetric (|A - A^T| / 2 |A| = {:.1e})", facts.asymmetry);
    if (facts.asymmetry >= hardly_nonsymmetric) return choose("convection", measured);
    return choose("default", measured + ", but hardly so");
  }
  if (given.unknowns > 1) {
    return choose("elasticity",
                  fmt::format("symmetric, and {} unknowns a point are given", given.unknowns));
  }
  if (facts.unknowns > 1) {
    return choose(
        "elasticity",
        fmt::format("symmetric, and its blocks are those of {} unknowns a point", facts.unknowns));
  }
  if (facts.nonpositive_diagonals > 0) {
    return choose("default", fmt::format("{} of the diagonal entries are not positive",
                                         facts.nonpositive_diagonals));
  }
  const bool signs = facts.has_signs_of_m_matrix();
  const std::string kind = signs ? "symmetric, with no positive entry off the diagonal"
                                 : fmt::format(
                                       "symmetric, rows add up to zero, and {} of what is "
                                       "off the diagonal is positive",
                                       percent(facts.positive_share));
  const double ratio = static_cast<double>(facts.longest_row) / std::max(1.0, facts.mean_row);
  if (signs && ratio > very_long_row) {
    return choose("graph_laplacian", fmt::format("{}; the longest row has {:.0f} times the entries "
                                                 "of the mean",
                                                 kind, ratio));
  }
  const bool nearly = facts.positive_share <= few_positive && facts.zero_sum_share >= 0.5;
  if (signs || nearly) return choose("poisson", kind);
  return choose("default",
                fmt::format("symmetric, but neither of known blocks nor like a Laplacian: {} of "
                            "what is off the diagonal is positive, {} of the rows add up to zero",
                            percent(facts.positive_share), percent(facts.zero_sum_share)));
}

AppliedPreset apply_preset(const Preset& preset, const GivenKnowledge& knowledge, int unknowns,
                           std::span<const std::string> given, Options& options) {
  AppliedPreset applied;
  const auto set = [&](const std::string& name, const std::string& value) {
    if (std::find(given.begin(), given.end(), name) != given.end()) {
      applied.kept.emplace_back(name, value);
      return;
    }
    set_option(options, option_fields(), name, value);
    applied.set.emplace_back(name, value);
  };
  for (const PresetOption& option : preset.options) {
    if (option.with_near_null_space_only && !knowledge.near_null_space) continue;
    set(option.name, option.value);
  }
  if (preset.takes_unknowns && unknowns > 1) set("unknowns", std::to_string(unknowns));
  return applied;
}

}  // namespace nodewise::amg
