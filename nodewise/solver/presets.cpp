#include "nodewise/solver/presets.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace nodewise::solver {

namespace {

PresetOption chebyshev_smoother() {
  return {"smoother", "chebyshev", SetWhere::always,
          "a symmetric polynomial, the same on any number of ranks"};
}

PresetOption higher_threshold() {
  return {"strength_threshold", "0.5", SetWhere::always,
          "couplings across the strong directions are none"};
}

PresetOption aggregation() {
  return {"method", "aggregation", SetWhere::with_near_null_space,
          "rigid body modes are represented on every level"};
}

PresetOption pmis() {
  return {"coarsening", "pmis", SetWhere::always, "fewer coarse points where many rows are long"};
}

PresetOption precision() {
  return {"precision", "auto", SetWhere::always, "half the data where rounding does not matter"};
}

/// Not where an order of sweeps is given, which a polynomial would not heed.
std::vector<PresetOption> chebyshev_for_modes() {
  const std::vector<std::string> not_in_an_order = {"sweep_order"};
  return {{"smoother", "chebyshev", SetWhere::with_near_null_space,
           "iterations do not grow with the ranks", not_in_an_order},
          {"chebyshev_fraction", "0.1", SetWhere::with_near_null_space,
           "aggregates leave it more of the spectrum", not_in_an_order}};
}

/// With one path, coarsening is so fast that iterations cost what the levels save.
std::vector<PresetOption> aggressive(SetWhere where = SetWhere::always) {
  return {{"aggressive_levels", "1", where,
           "a small second level: less to set up and to store, for some iterations more"},
          {"aggressive_paths", "2", where, "not too small a one"}};
}

/// The options of several, in their order.
std::vector<PresetOption> join(std::vector<PresetOption> options,
                               const std::vector<PresetOption>& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

std::vector<Preset> make_presets() {
  // It relaxes in its own way, and without it another interpolation is better.
  const std::vector<std::string> not_with_air = {"method", "smoother", "sweep_order", "pre_sweeps"};
  // Which it would not heed.
  const std::vector<std::string> not_with_aggregation = {"method",
                                                         "strength_threshold",
                                                         "strength_measure",
                                                         "max_row_sum",
                                                         "coarsening",
                                                         "aggressive_levels",
                                                         "aggressive_paths",
                                                         "interpolation",
                                                         "max_interpolation_entries",
                                                         "interpolation_truncation"};
  return {
      {"default", 1, "anything: the defaults of the options", {}, std::nullopt, false},
      {"poisson", 3, "scalar diffusion on a mesh", join({precision()}, aggressive()), std::nullopt,
       false},
      {"anisotropic",
       3,
       "scalar diffusion that is strong in some directions, on meshes of stretched elements",
       {higher_threshold(), precision()},
       std::nullopt,
       false},
      {"elasticity", 4, "displacements and other systems of several unknowns a point",
       join(join({aggregation()}, chebyshev_for_modes()),
            join({precision()}, aggressive(SetWhere::without_near_null_space))),
       std::nullopt, true},
      {"convection",
       2,
       "transport, with little diffusion or none",
       {{"method", "air", SetWhere::always, "restrictions are made for what flows one way",
         not_with_air},
        {"interpolation", "direct", SetWhere::always,
         "one point alone is too little where there is diffusion", not_with_air}},
       solve::Method::gmres,
       false},
      {"graph_laplacian", 3, "Laplacians of graphs with points of very many neighbours",
       join({pmis(), chebyshev_smoother(), precision()}, aggressive()), std::nullopt, false},
      {"network",
       1,
       "scalar diffusion in networks with few links a point",
       {precision()},
       std::nullopt,
       false},
      {"grid",
       1,
       "scalar diffusion on regular grids that are as fine in all directions",
       {{"method", "aggregation", SetWhere::always,
         "less to set up and to store, for a few more iterations on many ranks than on one",
         not_with_aggregation},
        {"aggregates", "auto", SetWhere::always, "boxes of the grid where ranks have many points",
         not_with_aggregation},
        precision()},
       std::nullopt,
       false},
  };
}

std::vector<Preset> make_earlier_presets() {
  const PresetOption chebyshev = chebyshev_smoother();
  return {
      {"poisson", 2, "scalar diffusion on a mesh", {precision()}, std::nullopt, false},
      {"poisson", 1, "scalar diffusion on a mesh", {chebyshev}, std::nullopt, false},
      {"anisotropic",
       2,
       "scalar diffusion that is strong in some directions, on meshes of stretched elements",
       {higher_threshold(), chebyshev},
       std::nullopt,
       false},
      {"anisotropic",
       1,
       "scalar diffusion that is strong in one direction",
       {{"strength_measure", "absolute", SetWhere::always,
         "couplings along the strong direction have either sign where it crosses the mesh"}},
       std::nullopt,
       false},
      {"elasticity", 3, "displacements and other systems of several unknowns a point",
       join({aggregation(), precision()}, aggressive(SetWhere::without_near_null_space)),
       std::nullopt, true},
      {"elasticity",
       2,
       "displacements and other systems of several unknowns a point",
       {aggregation(), precision()},
       std::nullopt,
       true},
      {"elasticity",
       1,
       "displacements and other systems of several unknowns a point",
       {aggregation()},
       std::nullopt,
       true},
      {"convection",
       1,
       "transport, with little diffusion or none",
       {{"strength_measure", "absolute", SetWhere::always, "the sign of a coupling says little"},
        {"sweep_order", "alternating", SetWhere::always,
         "one of the two directions follows the flow"}},
       solve::Method::gmres,
       false},
      {"graph_laplacian",
       2,
       "Laplacians of graphs with points of very many neighbours",
       {pmis(), chebyshev, precision()},
       std::nullopt,
       false},
      {"graph_laplacian",
       1,
       "Laplacians of graphs with points of very many neighbours",
       {pmis(), chebyshev},
       std::nullopt,
       false},
  };
}

std::string with_version(const Preset& preset) {
  return fmt::format("{}_{}", preset.name, preset.version);
}

std::string with_underscores(std::string_view name) {
  std::string word(name);
  std::replace(word.begin(), word.end(), '-', '_');
  return word;
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

std::span<const Preset> earlier_presets() {
  static const std::vector<Preset> table = make_earlier_presets();
  return table;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  names.emplace_back("auto");
  for (const Preset& preset : earlier_presets()) names.push_back(with_version(preset));
  for (int rule = 1; rule < static_cast<int>(last_choice_rule); ++rule) {
    names.push_back(with_underscores(to_string(static_cast<ChoiceRule>(rule))));
  }
  return names;
}

const Preset& find_preset(std::string_view name) {
  const std::string word = with_underscores(name);
  for (const std::span<const Preset> table : {presets(), earlier_presets()}) {
    for (const Preset& preset : table) {
      if (word == with_version(preset)) return preset;
    }
  }
  std::vector<Word> names;
  for (const Preset& preset : presets()) names.emplace_back(preset.name, preset.problem);
  const int k = detail::parse_choice("preset", word, names);
  return presets()[static_cast<std::size_t>(k)];
}

std::string to_string(ChoiceRule rule) {
  return fmt::format("auto-{}", static_cast<int>(rule));
}

std::optional<ChoiceRule> find_choice_rule(std::string_view name) {
  const std::string word = with_underscores(name);
  if (word == "auto") return last_choice_rule;
  for (int number = 1; number <= static_cast<int>(last_choice_rule); ++number) {
    const auto rule = static_cast<ChoiceRule>(number);
    if (word == with_underscores(to_string(rule))) return rule;
  }
  return std::nullopt;
}

namespace {

/// The version of a preset that a rule means by its name.
std::string_view version_of(std::string_view name, ChoiceRule rule) {
  using Versions = std::array<std::array<std::string_view, 2>, 4>;
  constexpr Versions before_the_third = {{{"poisson", "poisson_1"},
                                          {"anisotropic", "anisotropic_2"},
                                          {"elasticity", "elasticity_1"},
                                          {"graph_laplacian", "graph_laplacian_1"}}};
  constexpr Versions of_the_third = {{{"poisson", "poisson_2"},
                                      {"anisotropic", "anisotropic_3"},
                                      {"elasticity", "elasticity_2"},
                                      {"graph_laplacian", "graph_laplacian_2"}}};
  if (rule >= ChoiceRule::sixth) return name;
  if (rule >= ChoiceRule::fourth) return name == "elasticity" ? "elasticity_3" : name;
  for (const auto& [newest, earlier] :
       rule == ChoiceRule::third ? of_the_third : before_the_third) {
    if (name == newest) return earlier;
  }
  return name;
}

PresetChoice chosen(std::string_view name, ChoiceRule rule, std::string reason) {
  return {&find_preset(version_of(name, rule)), std::move(reason)};
}

// A matrix of less than this is symmetric but for round-off or a few boundary rows.
constexpr double hardly_nonsymmetric = 0.01;

PresetChoice choose_for_nonsymmetric(const advise::ProblemFacts& facts, ChoiceRule rule) {
  constexpr double nearly_triangular = 0.95;
  const std::string measured =
      fmt::format("the matrix is not symmetric (|A - A^T| / 2 |A| = {:.1e})", facts.asymmetry);
  if (facts.asymmetry < hardly_nonsymmetric)
    return chosen("default", rule, measured + ", but hardly so");
  if (rule == ChoiceRule::first) return chosen("convection_1", rule, measured);
  // Sums in which entries of both signs cancel say nothing of relaxation.
  const bool is_dominant = rule < ChoiceRule::seventh || facts.dominant_share >= 0.5;
  if (facts.relaxed_share >= 0.5 && is_dominant) {
    return chosen("default", rule,
                  fmt::format("{}, and {} of the rows have so large a diagonal that relaxation is "
                              "enough for them",
                              measured, percent(facts.relaxed_share)));
  }
  if (facts.triangular_share >= nearly_triangular) {
    return chosen("default", rule,
                  fmt::format("{}, but nearly triangular: {} of what is off the diagonal is on one "
                              "side of it, and Gauss-Seidel follows the flow",
                              measured, percent(facts.triangular_share)));
  }
  return chosen("convection", rule, measured);
}

}  // namespace

PresetChoice choose_preset(const advise::ProblemFacts& facts, const GivenKnowledge& given,
                           ChoiceRule rule) {
  const bool first = rule == ChoiceRule::first;
  const double few_positive = first ? 0.15 : 0.2;
  constexpr double very_long_row = 8;
  if (given.near_null_space) {
    const std::string reason = "a near null space is known";
    // The interval of a Chebyshev polynomial holds no eigenvalues that are complex.
    return !facts.symmetric && facts.asymmetry >= hardly_nonsymmetric && rule >= ChoiceRule::sixth
               ? chosen("elasticity_3", rule, reason + ", and the matrix is not symmetric")
               : chosen("elasticity", rule, reason);
  }
  if (!facts.symmetric) return choose_for_nonsymmetric(facts, rule);
  if (given.unknowns > 1) {
    return chosen("elasticity", rule,
                  fmt::format("symmetric, and {} unknowns a point are given", given.unknowns));
  }
  if (facts.unknowns > 1) {
    return chosen(
        "elasticity", rule,
        fmt::format("symmetric, and its blocks are those of {} unknowns a point", facts.unknowns));
  }
  if (facts.nonpositive_diagonals > 0) {
    return chosen(
        "default", rule,
        fmt::format("{} of the diagonal entries are not positive", facts.nonpositive_diagonals));
  }
  if (!first && facts.stretched_share >= 0.5 && facts.zero_sum_share >= 0.5) {
    return chosen("anisotropic", rule,
                  fmt::format("symmetric, and {} of the rows are those of stretched elements",
                              percent(facts.stretched_share)));
  }
  const bool signs = facts.has_signs_of_m_matrix();
  const std::string kind = signs ? "symmetric, with no positive entry off the diagonal"
                                 : fmt::format(
                                       "symmetric, rows add up to zero, and {} of what is "
                                       "off the diagonal is positive",
                                       percent(facts.positive_share));
  const double ratio = static_cast<double>(facts.longest_row) / std::max(1.0, facts.mean_row);
  if (signs && ratio > very_long_row) {
    return chosen("graph_laplacian", rule,
                  fmt::format("{}; the longest row has {:.0f} times the entries "
                              "of the mean",
                              kind, ratio));
  }
  const bool nearly = facts.positive_share <= few_positive && facts.zero_sum_share >= 0.5;
  // Two paths leave most points of electric grids and roads coarse, which have 3.5 to 4.6 entries a
  // row; a mesh has 5 at least, but for its edges.
  constexpr double few_entries = 4.7;
  if ((signs || nearly) && facts.mean_row < few_entries && rule >= ChoiceRule::fourth) {
    return chosen("network", rule,
                  fmt::format("{}; {:.3g} entries a row in the mean", kind, facts.mean_row));
  }
  // Rows of a grid are as long as each other but at its border, where a small one has most.
  constexpr double hardly_longer = 1.5, nearly_all = 0.8;
  if (signs && facts.even_share >= nearly_all && ratio <= hardly_longer &&
      rule >= ChoiceRule::fifth) {
    return chosen("grid", rule,
                  fmt::format("{}; {} of the rows have couplings about as large as each other, and "
                              "all about as many",
                              kind, percent(facts.even_share)));
  }
  if (signs || nearly) return chosen("poisson", rule, kind);
  return chosen("default", rule,
                fmt::format("symmetric, but neither of known blocks nor like a Laplacian: {} of "
                            "what is off the diagonal is positive, {} of the rows add up to zero",
                            percent(facts.positive_share), percent(facts.zero_sum_share)));
}

AppliedPreset apply_preset(const Preset& preset, const GivenKnowledge& knowledge, int unknowns,
                           std::span<const std::string> given, amg::Options& options) {
  AppliedPreset applied;
  const auto is_given = [&](const std::string& name) {
    return std::find(given.begin(), given.end(), name) != given.end();
  };
  const auto set = [&](const std::string& name, const std::string& value, bool contradicted) {
    if (is_given(name) || contradicted) {
      applied.kept.emplace_back(name, value);
      return;
    }
    set_option(options, amg::option_fields(), name, value);
    applied.set.emplace_back(name, value);
  };
  for (const PresetOption& option : preset.options) {
    if (option.where == SetWhere::with_near_null_space && !knowledge.near_null_space) continue;
    if (option.where == SetWhere::without_near_null_space && knowledge.near_null_space) continue;
    set(option.name, option.value,
        std::any_of(option.unless_given.begin(), option.unless_given.end(), is_given));
  }
  if (preset.takes_unknowns && unknowns > 1) set("unknowns", std::to_string(unknowns), false);
  return applied;
}

}  // namespace nodewise::solver
