#include "nodewise/solver/presets.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace nodewise::solver {

namespace {

PresetOption precision() {
  return {"precision", "auto", SetWhere::always, "half the data where rounding does not matter"};
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

const Preset& default_preset() {
  static const Preset preset = {{"default", "anything: the defaults of the options", ""}, {}};
  return preset;
}

const Preset& poisson() {
  static const Preset preset = {{"poisson", "scalar diffusion on a mesh", ""},
                                join({precision()}, aggressive())};
  return preset;
}

const Preset& anisotropic() {
  static const Preset preset = {
      {"anisotropic",
       "scalar diffusion that is strong in some directions, on meshes of stretched elements", ""},
      {{"strength_threshold", "0.5", SetWhere::always,
        "couplings across the strong directions are none"},
       precision()}};
  return preset;
}

const Preset& elasticity() {
  // An order of sweeps is nothing to a polynomial.
  const std::vector<std::string> not_in_an_order = {"sweep_order"};
  constexpr SetWhere polynomial = SetWhere::with_near_null_space_if_symmetric;
  const std::vector<PresetOption> with_modes = {
      {"method", "aggregation", SetWhere::with_near_null_space,
       "rigid body modes are represented on every level"},
      {"smoother", "chebyshev", polynomial, "iterations do not grow with the ranks",
       not_in_an_order},
      {"chebyshev_fraction", "0.1", polynomial, "aggregates leave it more of the spectrum",
       not_in_an_order},
      precision()};
  static const Preset preset = {
      {"elasticity", "displacements and other systems of several unknowns a point", ""},
      join(with_modes, aggressive(SetWhere::without_near_null_space)),
      std::nullopt,
      true};
  return preset;
}

const Preset& convection() {
  // It relaxes in its own way, and without it another interpolation is better.
  const std::vector<std::string> not_with_air = {"method", "smoother", "sweep_order", "pre_sweeps"};
  static const Preset preset = {
      {"convection", "transport, with little diffusion or none", ""},
      {{"method", "air", SetWhere::always, "restrictions are made for what flows one way",
        not_with_air},
       {"interpolation", "direct", SetWhere::always,
        "one point alone is too little where there is diffusion", not_with_air}},
      "gmres"};
  return preset;
}

const Preset& graph_laplacian() {
  const std::vector<PresetOption> own = {
      {"coarsening", "pmis", SetWhere::always, "fewer coarse points where many rows are long"},
      {"smoother", "chebyshev", SetWhere::always,
       "a symmetric polynomial, the same on any number of ranks"},
      precision()};
  static const Preset preset = {
      {"graph_laplacian", "Laplacians of graphs with points of very many neighbours", ""},
      join(own, aggressive())};
  return preset;
}

const Preset& network() {
  static const Preset preset = {
      {"network", "scalar diffusion in networks with few links a point", ""}, {precision()}};
  return preset;
}

/// Options of classical coarsening have no effect on aggregates.
std::vector<std::string> not_with_aggregation() {
  return {"method",
          "strength_threshold",
          "strength_measure",
          "max_row_sum",
          "coarsening",
          "aggressive_levels",
          "aggressive_paths",
          "interpolation",
          "max_interpolation_entries",
          "interpolation_truncation",
          "isolated_couplings"};
}

const Preset& grid() {
  static const Preset preset = {
      {"grid", "scalar diffusion on regular grids that are as fine in all directions", ""},
      {{"method", "aggregation", SetWhere::always,
        "less to set up and to store, for a few more iterations on many ranks than on one",
        not_with_aggregation()},
       {"aggregates", "auto", SetWhere::always, "boxes of the grid where ranks have many points",
        not_with_aggregation()},
       precision()}};
  return preset;
}

const Preset& card() {
  static const Preset preset = {
      {"card", "symmetric scalar systems that are solved on a device", ""},
      {{"method", "aggregation", SetWhere::always,
        "few levels of few entries, each of which costs a device some launches",
        not_with_aggregation()},
       {"aggregates", "independent_set", SetWhere::always, "those that a device sets up itself",
        not_with_aggregation()},
       {"smoother", "chebyshev", SetWhere::always, "all rows at once"},
       {"precision", "single", SetWhere::always, "half the data, under a solve in double"}}};
  return preset;
}

const Preset& blocks() {
  static const Preset preset = {
      {"blocks",
       "nonsymmetric systems of several unknowns a point that are all coupled, such as reservoirs",
       ""},
      {{"smoother", "block_gauss_seidel", SetWhere::always, "solves for all unknowns of a point"}},
      "gmres",
      true};
  return preset;
}

const Preset& direct() {
  static const Preset preset = {
      {"direct", "what multigrid does not help: factors, if they take no more than minutes", ""},
      {},
      std::nullopt,
      false,
      {{"preconditioner", "direct"}, {"factor_limit", "2e11"}}};
  return preset;
}

const Preset& saddle_point() {
  static const Preset preset = {
      {"saddle_point", "two fields, one of which has no diagonal, such as velocities and pressures",
       ""},
      {},
      std::nullopt,
      false,
      {{"preconditioner", "fields"}}};
  return preset;
}

const Preset& incomplete() {
  static const Preset preset = {
      {"incomplete",
       "nonsymmetric systems that neither multigrid nor factors suit: incomplete ones", ""},
      {},
      "gmres",
      false,
      {{"preconditioner", "ilu"}}};
  return preset;
}

const Preset& indefinite() {
  static const Preset preset = {
      {"indefinite", "symmetric systems that are not definite, such as saddle points", ""},
      {},
      "minres",
      false,
      {{"preconditioner", "none"}, {"scale", "equilibrate"}}};
  return preset;
}

/// "`smoother chebyshev` or `method air`"
std::string methods_text(const KnownField& option) {
  std::string text;
  for (const KnownField::Owner& owner : option.owners) {
    text += fmt::format("{}`{} {}`", text.empty() ? "" : " or ", owner.kind, owner.name);
  }
  return text;
}

/// Throws invalid_argument for an option whose method was not chosen, with what was, and by whom.
[[noreturn]] void refuse(const std::string& name, const Preset& preset, const amg::Options& options,
                         std::span<const NamedValue> given) {
  amg::Options defaults;
  const std::vector<KnownField> all = known_fields(view(defaults, amg::option_fields()));
  const auto find = [&](const std::string& wanted) {
    return std::find_if(all.begin(), all.end(),
                        [&](const KnownField& f) { return f.info.name == wanted; });
  };
  const KnownField& option = *find(name);
  const std::string& kind = option.owners.front().kind;
  const bool is_given = std::any_of(given.begin(), given.end(),
                                    [&](const NamedValue& value) { return value.first == kind; });
  std::string why;
  if (!options.has(kind)) {
    why = fmt::format(", which needs {}", methods_text(*find(kind)));
  } else if (is_given) {
    why = fmt::format(", not `{} {}`", kind, options.get(kind));
  } else if (options.get(kind) == find(kind)->standard) {
    why = fmt::format("; the default is {}", options.get(kind));
  } else {
    why = fmt::format("; preset {} takes {}", *preset.name, options.get(kind));
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("`{}` needs {}{}", name, methods_text(option), why));
}

bool is_set(SetWhere where, const GivenKnowledge& known) {
  switch (where) {
    case SetWhere::always:
      return true;
    case SetWhere::with_near_null_space:
      return known.near_null_space;
    case SetWhere::with_near_null_space_if_symmetric:
      return known.near_null_space && known.symmetric;
    case SetWhere::without_near_null_space:
      return !known.near_null_space;
  }
  return false;
}

}  // namespace

Family<Preset>& Preset::family() {
  static Family<Preset> presets(
      "preset",
      {&default_preset(), &poisson(), &anisotropic(), &elasticity(), &convection(),
       &graph_laplacian(), &network(), &grid(), &card(), &blocks(), &direct(), &saddle_point(),
       &incomplete(), &indefinite()},
      {"auto", "looks at the matrix and says why it chose"});
  return presets;
}

AppliedPreset apply_preset(const Preset& preset, const GivenKnowledge& knowledge, int unknowns,
                           std::span<const NamedValue> given, amg::Options& options) {
  AppliedPreset applied;
  const auto is_given = [&](const std::string& name) {
    return std::any_of(given.begin(), given.end(),
                       [&](const NamedValue& value) { return value.first == name; });
  };
  const auto want = [&](const std::string& name, const std::string& value, bool contradicted) {
    (is_given(name) || contradicted ? applied.kept : applied.set).emplace_back(name, value);
  };
  for (const PresetOption& option : preset.sets) {
    if (!is_set(option.where, knowledge)) continue;
    want(option.name, option.value,
         std::any_of(option.unless_given.begin(), option.unless_given.end(), is_given));
  }
  if (preset.takes_unknowns && unknowns > 1) want("unknowns", std::to_string(unknowns), false);
  std::vector<NamedValue> all(given.begin(), given.end());
  all.insert(all.end(), applied.set.begin(), applied.set.end());
  OptionView<amg::Options> tree(amg::option_fields(), options);
  for (const NamedValue& left : set_options_there(tree, all)) {
    if (is_given(left.first)) refuse(left.first, preset, options, given);
    std::erase(applied.set, left);
    applied.kept.push_back(left);
  }
  return applied;
}

}  // namespace nodewise::solver
