#include "entrants.hpp"

#include <algorithm>
#include <iterator>

#include "name_and_value.hpp"

namespace nodewise::bench {

namespace {

using Texts = std::vector<std::string>;

amg::Options options_of(const Texts& texts) {
  amg::Options options;
  set_from_words(options, texts);
  return options;
}

Texts join(Texts texts, const Texts& more) {
  texts.insert(texts.end(), more.begin(), more.end());
  return texts;
}

Entrant nodewise_auto(const std::string& choices, const std::string& precision) {
  return {"Nodewise", choices, [precision](const System& system) {
            return make_nodewise(system, {{"precision", precision}});
          }};
}

Entrant nodewise_single(const std::string& choices, const Texts& texts) {
  return {"Nodewise", "single, " + choices,
          [options = options_of(join({"precision=single"}, texts))](const System& system) {
            return make_nodewise(system, options);
          }};
}

std::vector<Entrant> nodewise_entrants(int unknowns) {
  const Texts half = {"strength_threshold=0.5"}, cut = {"interpolation_truncation=0.2"};
  const Texts aggressive = {"aggressive_levels=1"}, two_paths = {"aggressive_paths=2"};
  const Texts aggregation = {"method=aggregation"}, greedy = {"aggregates=standard"};
  std::vector<Entrant> all = {
      nodewise_auto("auto, double", "same"),
      nodewise_auto("auto, single", "single"),
      nodewise_single("threshold 0.5", half),
      nodewise_single("threshold 0.5, truncated", join(half, cut)),
      nodewise_single("direct", {"interpolation=direct"}),
      nodewise_single("PMIS, one point", {"coarsening=pmis", "interpolation=one_point"}),
      nodewise_single("aggressive", aggressive),
      nodewise_single("aggressive, two paths", join(aggressive, two_paths)),
      nodewise_single("aggressive, two paths, threshold 0.5",
                      join(join(aggressive, two_paths), half)),
      nodewise_single("greedy aggregation", join(aggregation, greedy)),
      nodewise_single("greedy aggregation, Chebyshev",
                      join(join(aggregation, greedy), {"smoother=chebyshev"}))};
  if (unknowns == 1) return all;
  const auto add = [&](const std::string& choices, const Texts& texts) {
    const Texts told = {"unknowns=" + std::to_string(unknowns)};
    all.push_back(nodewise_single("unknowns, " + choices, join(told, texts)));
  };
  add("aggressive", aggressive);  // without more: auto
  add("aggressive, two paths", join(aggressive, two_paths));
  add("aggregation", aggregation);
  add("greedy aggregation", join(aggregation, greedy));
  return all;
}

#ifdef NODEWISE_HAVE_HYPRE
Entrant hypre_entrant(const std::string& choices, const Texts& texts, int nodal = 0) {
  return {"hypre", choices, [options = options_of(texts), nodal](const System& system) {
            return make_hypre(system, options, nodal);
          }};
}

/// HMIS and extended+i unless said otherwise. hypre's documentation advises the threshold 0.5 in
/// space and, for several unknowns a point, to coarsen each by itself or the nodes together.
std::vector<Entrant> hypre_entrants(int unknowns) {
  const Texts l1 = {"smoother=l1_gauss_seidel", "sweep_order=forward_backward"};
  const Texts hybrid = {"smoother=gauss_seidel", "sweep_order=symmetric"};
  const Texts half = {"strength_threshold=0.5"}, cut = {"interpolation_truncation=0.2"};
  const Texts aggressive = {"aggressive_levels=1"}, two_paths = {"aggressive_paths=2"};
  std::vector<Entrant> all;
  const auto add = [&](const std::string& choices, const Texts& texts, int nodal = 0) {
    all.push_back(hypre_entrant(choices, texts, nodal));
  };
  add("l1", l1);
  add("l1, threshold 0.5", join(l1, half));
  add("l1, threshold 0.5, truncated", join(join(l1, half), cut));
  add("l1, direct", join(l1, {"interpolation=direct"}));
  add("l1, aggressive", join(l1, aggressive));
  add("l1, aggressive, two paths", join(join(l1, aggressive), two_paths));
  add("l1, aggressive, two paths, threshold 0.5",
      join(join(join(l1, aggressive), two_paths), half));
  add("hybrid symmetric", hybrid);
  add("hybrid symmetric, aggressive", join(hybrid, aggressive));
  if (unknowns == 1) return all;
  constexpr int row_sum = 4;  // the norm of blocks
  const Texts told = join(l1, {"unknowns=" + std::to_string(unknowns)});
  add("l1, unknowns", told);
  add("l1, unknowns, threshold 0.5", join(told, half));
  add("l1, unknowns, aggressive", join(told, aggressive));
  add("l1, unknowns, aggressive, two paths", join(join(told, aggressive), two_paths));
  add("l1, nodes", told, row_sum);
  add("l1, nodes, threshold 0.5", join(told, half), row_sum);
  add("l1, nodes, aggressive", join(told, aggressive), row_sum);
  return all;
}
#endif

#ifdef NODEWISE_HAVE_PETSC
std::vector<Entrant> petsc_entrants(int unknowns) {
  const std::string low = "-pc_gamg_threshold 0.02";
  const auto entrant = [](const std::string& choices, const std::string& options, int told) {
    return Entrant{"PETSc", choices, [options, told](const System& system) {
                     return make_petsc(system, options, told);
                   }};
  };
  std::vector<Entrant> all = {entrant("GAMG", "", 1), entrant("GAMG, threshold 0.02", low, 1)};
  if (unknowns > 1) {
    all.push_back(entrant("GAMG, block size", "", unknowns));
    all.push_back(entrant("GAMG, block size, threshold 0.02", low, unknowns));
  }
  return all;
}
#endif

[[maybe_unused]] void append(std::vector<Entrant>& all, std::vector<Entrant> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

}  // namespace

std::vector<Entrant> all_entrants(const std::vector<std::string>& libraries, int unknowns) {
  std::vector<Entrant> all = nodewise_entrants(unknowns);
#ifdef NODEWISE_HAVE_HYPRE
  append(all, hypre_entrants(unknowns));
#endif
#ifdef NODEWISE_HAVE_PETSC
  append(all, petsc_entrants(unknowns));
#endif
#ifdef NODEWISE_HAVE_AMGCL
  all.push_back({"AMGCL", "smoothed aggregation", make_amgcl});
#endif
  if (!libraries.empty()) {
    std::erase_if(all, [&](const Entrant& entrant) {
      return std::find(libraries.begin(), libraries.end(), entrant.library) == libraries.end();
    });
  }
  return all;
}

}  // namespace nodewise::bench
