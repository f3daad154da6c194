#include "nodewise/amg/options.hpp"

#include <utility>

namespace nodewise::amg {

Options& Options::set(std::string_view name, std::string_view value) {
  set_option(*this, option_fields(), name, value);
  return *this;
}

bool Options::has(std::string_view name) const {
  Options copy = *this;
  return has_option(view(copy, option_fields()), name);
}

std::string Options::get(std::string_view name) const {
  Options copy = *this;
  const OptionView<Options> tree(option_fields(), copy);
  return has_option(tree, name) ? get_option(tree, name) : std::string();
}

routing::LevelRoutes routes_of_level(const Options& options, int level) {
  routing::LevelRoutes routes;
  routes.setup_transport = options.setup_transport.on(level);
  routes.solve_transport = options.transport.on(level);
  if (level < options.route_from_level) return routes;
  const ByLevel<comm::Route>& setup =
      options.setup_route.empty() ? options.route : options.setup_route;
  routes.setup = setup.on(level);
  routes.solve = options.route.on(level);
  return routes;
}

void complete(Options& options) {
  for (const auto& [name, value] : options.method->fixes) {
    if (options.has(name)) options.set(name, value);
  }
}

const AirOptions* air_options(const Options& options) {
  return options.method.has_options<AirOptions>() ? &options.method.options<AirOptions>() : nullptr;
}

const ClassicalOptions& classical_options(const Options& options) {
  if (const AirOptions* air = air_options(options)) return *air;
  return options.method.options<ClassicalOptions>();
}

ClassicalOptions& classical_options(Options& options) {
  return const_cast<ClassicalOptions&>(classical_options(std::as_const(options)));
}

bool has_smoothed_restriction(const Options& options) {
  return options.method.has_options<AggregationOptions>() &&
         !options.method.options<AggregationOptions>().restriction->is_transposed;
}

Choice<InterpolationMethod> interpolation_of_level(const Options& options, int level) {
  const ClassicalOptions& classical = classical_options(options);
  if (classical.is_aggressive(level)) return "multipass";
  return classical.interpolation.is_automatic()
             ? Choice<InterpolationMethod>(options.method->interpolation)
             : classical.interpolation;
}

std::string asymmetry_of(const Options& options) {
  const std::string of_method = (*options.method->asymmetry)(options);
  if (!of_method.empty()) return of_method;
  if (!options.cycle->is_symmetric) return "cycle " + options.cycle.name();
  if (!options.cycle.has_options<SweepCounts>()) return {};  // its sweeps are symmetric ones
  const SweepCounts& sweeps = options.cycle.options<SweepCounts>();
  if (sweeps.pre_sweeps != sweeps.post_sweeps) return "pre_sweeps other than post_sweeps";
  const bool one_way =
      options.smoother->is_directed() && goes_one_way(relax::order_of(options.smoother));
  if (!one_way) return {};
  return relax::order_of(options.smoother) == SweepOrder::forward ? "sweep_order forward"
                                                                  : "sweep_order backward";
}

void check_sweep_order(const Options& options) {
  if (!goes_by_points(relax::order_of(options.smoother))) return;
  if (options.smoother->knows_coarse_points && options.method->has_coarse_points) return;
  std::string names;
  for (const relax::SmootherMethod& smoother : relax::SmootherMethod::family()) {
    if (!smoother.knows_coarse_points) continue;
    names += (names.empty() ? "" : " and ") + *smoother.name;
  }
  throw Error(ErrorCode::invalid_argument,
              "multigrid setup: sweep_order coarse_fine and coarse_fine_symmetric are for the "
              "smoothers " +
                  names + " with method classical, which alone has coarse and fine points");
}

void check_coarse_rows(const Options& options) {
  constexpr int most_of_an_inverse = 2000;
  const bool holds_all = options.max_coarse_rows <= most_of_an_inverse;
  if (holds_all || chosen(options.coarse_solve).has_factors) return;
  throw Error(ErrorCode::invalid_argument,
              "multigrid setup: `max_coarse_rows` is at most " +
                  std::to_string(most_of_an_inverse) +
                  " for an inverse; take `coarse_solve factors`, or fewer");
}

namespace {

/// Sets, with the method, what it wants of other options.
Field<Options> method_field() {
  Field<Options> f = field("method", &Options::method, "How a level is joined to the next")
                         .affecting(Affects::levels)
                         .common();
  f.set = [choose = f.set](Options& options, std::string_view text) {
    choose(options, text);
    complete(options);
  };
  return f;
}

/// The field without the word for leaving the choice to the library.
template <class S>
Field<S> never_automatic(Field<S> field) {
  const FamilyBase& family = *field.family;
  field.choices = family.words();
  std::erase_if(field.choices,
                [&](const Word& word) { return word.name == family.automatic().name; });
  field.family = nullptr;
  field.set = [name = field.name, words = field.choices, set = field.set](S& s,
                                                                          std::string_view text) {
    for (const std::string_view word : detail::split_list(text)) {
      detail::parse_choice(name, word, words);
    }
    set(s, text);
  };
  return field;
}

}  // namespace

std::span<const Field<Options>> option_fields() {
  using O = Options;
  const auto moves_rows = [](const O& o) -> bool { return o.redistribution->moves_rows; };
  static const std::vector<Field<O>> fields = {
      method_field(),
      field("unknowns", &O::unknowns,
            "Rows that belong to one point, such as the displacements of a node, interleaved; "
            "classical coarsening takes each unknown by itself",
            1, 64)
          .affecting(Affects::levels | Affects::rows)
          .common(),
      field("seed", &O::seed,
            "Of the weights that decide between equal points, and of estimates of spectral radii",
            0)
          .affecting(Affects::levels),
      field("smoother", &O::smoother,
            "The relaxation; those of blocks solve for all unknowns of a point at once")
          .affecting(Affects::exchanges | Affects::kernels)
          .common(),
      field("cycle", &O::cycle, "How the levels are visited")
          .affecting(Affects::exchanges)
          .common(),
      field("precision", &O::precision,
            "Of the cycle: that of the matrix, or single, which moves half as much data; auto is "
            "single where the matrix is symmetric and rounding does not matter to it",
            std::vector<Word>{"same", "single", "auto"})
          .affecting(Affects::exchanges),
      field("max_levels", &O::max_levels, "Most levels, the finest included", 1, 100)
          .affecting(Affects::levels),
      field("max_coarse_rows", &O::max_coarse_rows,
            "Coarsening ends at a matrix with no more rows, which is solved directly; beyond 2000 "
            "by `coarse_solve factors` alone",
            1, 10000000)
          .affecting(Affects::levels),
      field("coarse_solve", &O::coarse_solve, "Who solves the coarsest system, and by what")
          .affecting(Affects::levels),
      field(
          "redistribution", &O::redistribution,
          "On how many ranks coarse levels are; on fewer they send fewer messages. Where the ranks "
          "of a solve are on several nodes it is automatic, unless it is given")
          .affecting(Affects::levels),
      field("redistribution_groups", &O::redistribution_groups,
            "Which ranks give their rows of such a level to one of them")
          .needing("a redistribution that moves rows", moves_rows)
          .affecting(Affects::levels),
      field("redistribution_move", &O::redistribution_move,
            "How right-hand sides and corrections get to the ranks of such a level and back")
          .needing("a redistribution that moves rows", moves_rows)
          .affecting(Affects::levels),
      field("sparsification", &O::sparsification,
            "Which coarse matrices lose small entries, so that their ranks have fewer neighbours")
          .affecting(Affects::levels),
      field(
          "route", &O::route,
          "How data travels between nodes: straight to every rank, once from each rank to each "
          "node, or gathered on the node and once from node to node; or a list by level, such as "
          "direct,three_step, whose last word is for all deeper levels. automatic: on each level "
          "what costs least on `machine`, or by a short look at the network, which is what a solve "
          "takes where the ranks are on several nodes and no route is given")
          .affecting(Affects::travel)
          .common(),
      field("setup_route", &O::setup_route,
            "The same for what travels while the hierarchy is set up, matrix rows above all; "
            "without it, the route of the solve")
          .affecting(Affects::setup_travel),
      field("route_from_level", &O::route_from_level,
            "The first level that takes these routes; finer ones are direct", 0, 100)
          .affecting(Affects::travel),
      field("transport", &O::transport,
            "By which means of MPI messages travel in the solve, on every level or by level. "
            "shared_memory is for messages on a node, those between nodes are then point_to_point. "
            "automatic, which a solve takes where none is given: what a short trial on each level "
            "finds quicker by a tenth, or point_to_point where expected_solves are too few for a "
            "trial to pay")
          .affecting(Affects::travel),
      never_automatic(field("setup_transport", &O::setup_transport,
                            "The same for the setup, where the lengths of messages vary"))
          .affecting(Affects::setup_travel),
      field(
          "overlap", &O::overlap,
          "What is computed while messages travel in the solve, on every level or by level. none: "
          "nothing; naive, taken where nothing is given: what needs no ghosts, while MPI carries "
          "what it carries by itself; task: the same on all threads but one, which does nothing "
          "but exchange; automatic: what a short trial of each level's product finds",
          {comm::overlap_name(comm::Overlap::none), comm::overlap_name(comm::Overlap::naive),
           comm::overlap_name(comm::Overlap::task), comm::overlap_name(comm::Overlap::automatic)})
          .affecting(Affects::travel),
      field(
          "expected_solves", &O::expected_solves,
          "How many solves the hierarchy is to serve, in which what is spent on automatic routes, "
          "transports and partitions must be saved; transports are tried from 25 on",
          1, 1'000'000'000)
          .affecting(Affects::travel | Affects::prediction),
  };
  return fields;
}

}  // namespace nodewise::amg
