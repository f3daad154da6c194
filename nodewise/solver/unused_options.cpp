#include "nodewise/solver/unused_options.hpp"

#include <algorithm>
#include <array>

namespace nodewise::solver {

namespace {

/// Options in the library's table of multigrid that say how a matrix travels and is stored,
/// whatever the preconditioner.
constexpr std::array<std::string_view, 5> of_the_matrix = {"unknowns", "route", "transport",
                                                           "expected_solves", "overlap"};

std::string needed_of_multigrid(std::string_view name, const Options& options) {
  if (options.method.preconditioner->facts.has_cycles) {
    amg::Options copy = options.amg;
    amg::complete(copy);
    return needed_by(view(copy, amg::option_fields()), name);
  }
  return std::find(of_the_matrix.begin(), of_the_matrix.end(), name) == of_the_matrix.end()
             ? "preconditioner amg"
             : "";
}

}  // namespace

std::vector<UnusedOption> unused_multigrid_options(const Options& options) {
  std::vector<UnusedOption> unused;
  amg::Options defaults;
  for (const KnownField& f : known_fields(view(defaults, amg::option_fields()))) {
    if (!options.has(f.info.name)) continue;
    const std::string needs = needed_of_multigrid(f.info.name, options);
    if (!needs.empty()) unused.push_back({f.info.name, needs});
  }
  return unused;
}

std::vector<UnusedOption> unused_options(const Options& options,
                                         const Choice<solve::KrylovMethod>& method) {
  MethodOptions chosen = options.method;
  chosen.solver = method;
  const OptionView<MethodOptions> tree(method_fields(), chosen);
  std::vector<UnusedOption> unused;
  for (const KnownField& f : known_fields(tree)) {
    const std::string needs = needed_by(tree, f.info.name);
    if (options.has(f.info.name) && !needs.empty()) unused.push_back({f.info.name, needs});
  }
  const std::vector<UnusedOption> of_multigrid = unused_multigrid_options(options);
  unused.insert(unused.end(), of_multigrid.begin(), of_multigrid.end());
  return unused;
}

bool leaves_methods_open(const Options& options) {
  if (options.has("solver") || options.has("preconditioner")) return false;
  if (offload::solves(options.method.device)) return false;
  Options without = options;
  without.method.preconditioner = "none";
  return unused_multigrid_options(without).empty();
}

}  // namespace nodewise::solver
