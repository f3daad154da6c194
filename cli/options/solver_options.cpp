#include "cli/options/solver_options.hpp"

#include <algorithm>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/solver/apply_preset.hpp"

#include "cli/options/catalog.hpp"

namespace nodewise::cli {

solver::Options solver_options(const Settings& settings) {
  solver::Options options;
  options.method = settings.method;
  options.krylov = settings.solver;
  options.amg = settings.amg;
  options.only_named_are_given = true;
  options.placement_is_given =
      !settings.placement.node_map.empty() || settings.placement.ranks_per_node > 0;
  for (const Field<solver::Options>& f : solver::option_fields()) {
    const auto is_of_amg = [&](const NamedValue& value) { return value.first == f.name; };
    if (std::any_of(settings.given_amg.begin(), settings.given_amg.end(), is_of_amg)) continue;
    if (settings.has(with_dashes(f.name))) options.given.emplace_back(f.name, f.get(options));
  }
  options.given.insert(options.given.end(), settings.given_of_methods.begin(),
                       settings.given_of_methods.end());
  for (const NamedValue& value : settings.given_amg) {
    if (settings.has(with_dashes(value.first))) options.given.push_back(value);
  }
  return options;
}

void adopt(const solver::Options& options, Settings& settings) {
  settings.method = options.method;
  settings.solver = options.krylov;
  settings.amg = options.amg;
}

solver::PresetRecord apply_preset(const matrix::DistMatrix<double>& A, bool symmetric,
                                  Settings& settings) {
  solver::Options options = solver_options(settings);
  const solver::PresetContext context = {
      .symmetric = symmetric,
      .knows_near_null_space = settings.knows_near_null_space(),
      .solves = false,
      .on_device = settings.predict.memory == predict::Memory::device};
  solver::PresetRecord record = solver::apply_preset(A, context, options);
  adopt(options, settings);
  return record;
}

}  // namespace nodewise::cli
