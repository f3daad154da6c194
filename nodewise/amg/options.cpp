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
  for (const auto& [name, value] : options.method->fixes) options.set(name, value);
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
  const bool directed = options.smoother == SmootherKind::gauss_seidel ||
                        options.smoother == SmootherKind::l1_gauss_seidel ||
                        options.smoother == SmootherKind::block_gauss_seidel ||
                        options.smoother == SmootherKind::l1_block_gauss_seidel ||
                        options.smoother == SmootherKind::fc_jacobi;
  const bool one_way =
      options.sweep_order == SweepOrder::forward || options.sweep_order == SweepOrder::backward;
  const std::string of_method = (*options.method->asymmetry)(options);
  if (!of_method.empty()) return of_method;
  if (options.cycle == CycleKind::f) return "cycle f";
  if (options.cycle == CycleKind::k) return "cycle k";
  if (options.cycle == CycleKind::additive) return {};  // its sweeps are symmetric ones
  if (options.pre_sweeps != options.post_sweeps) return "pre_sweeps other than post_sweeps";
  if (directed && one_way) return "sweep_order forward or backward";
  return {};
}

void check_sweep_order(const Options& options) {
  if (!goes_by_points(options.sweep_order)) return;
  const bool by_rows = options.smoother == SmootherKind::gauss_seidel ||
                       options.smoother == SmootherKind::l1_gauss_seidel;
  if (by_rows && options.method->has_coarse_points) return;
  throw Error(ErrorCode::invalid_argument,
              "multigrid setup: sweep_order coarse_fine and coarse_fine_symmetric are for the "
              "smoothers gauss_seidel and l1_gauss_seidel with method classical, which alone has "
              "coarse and "
              "fine points");
}

namespace {

/// Sets, with the method, what it wants of other options.
Field<Options> method_field() {
  Field<Options> f = field("method", &Options::method, "How a level is joined to the next");
  f.set = [choose = f.set](Options& options, std::string_view text) {
    choose(options, text);
    complete(options);
  };
  return f;
}

}  // namespace

std::span<const Field<Options>> option_fields() {
  using O = Options;
  const std::vector<Word> routes = {"direct", "two_step", "three_step", "automatic"};
  const std::vector<Word> transports = {"point_to_point",          "persistent", "neighborhood",
                                        "persistent_neighborhood", "rma",        "shared_memory"};
  std::vector<Word> transports_or_trial = transports;
  transports_or_trial.emplace_back("automatic");
  static const std::vector<Field<O>> fields = {
      method_field(),
      field("unknowns", &O::unknowns,
            "Rows that belong to one point, such as the displacements of a node, interleaved; "
            "classical coarsening leaves couplings between different unknowns out of strength, "
            "splitting and interpolation",
            1, 64),
      field("seed", &O::seed,
            "Of the weights that decide between equal points, and of estimates of spectral radii",
            0),
      field("smoother", &O::smoother,
            "The relaxation; those of blocks solve for all unknowns of a point at once",
            std::vector<Word>{"l1_gauss_seidel", "gauss_seidel", "l1_jacobi", "jacobi", "chebyshev",
                              "ilu0", "l1_block_gauss_seidel", "block_gauss_seidel",
                              "l1_block_jacobi", "block_jacobi", "fc_jacobi"}),
      field("sweep_order", &O::sweep_order,
            "Gauss-Seidel sweeps: forward before and backward after the coarse correction, or both "
            "ways each time, in one exchange (symmetric) or in two (alternating); automatic: the "
            "last for a nonsymmetric matrix. forward and backward run the same way both times, "
            "which is not for conjugate gradients. coarse_fine: through the coarse points, then "
            "the fine ones before the coarse correction, and all the way back after it, or both "
            "ways through each (coarse_fine_symmetric); by rows, with method classical",
            std::vector<Word>{"automatic", "forward_backward", "symmetric", "alternating",
                              "forward", "backward", "coarse_fine", "coarse_fine_symmetric"}),
      field("pre_sweeps", &O::pre_sweeps, "Sweeps before the coarse correction", 0, 100),
      field("post_sweeps", &O::post_sweeps, "Sweeps after the coarse correction", 0, 100),
      field("jacobi_weight", &O::jacobi_weight, "Damping of the jacobi and block_jacobi smoothers",
            0.0, 2.0),
      field("sor_weight", &O::sor_weight,
            "Weight of Gauss-Seidel sweeps, below 2; above 1 it is over-relaxation", 0.001, 1.999),
      field("chebyshev_degree", &O::chebyshev_degree, "Products in one sweep of chebyshev", 1, 20),
      field(
          "chebyshev_fraction", &O::chebyshev_fraction,
          "Where the part of the spectrum that chebyshev reduces begins, in units of the spectral "
          "radius",
          0.001, 0.9),
      field("fine_sweeps", &O::fine_sweeps,
            "Jacobi sweeps over the fine points in one sweep of fc_jacobi", 0, 100),
      field("coarse_sweeps", &O::coarse_sweeps,
            "Jacobi sweeps over the coarse points that follow them", 0, 100),
      field("cycle", &O::cycle,
            "How the levels are visited: v, w or f; k: two Krylov steps on each coarse level; "
            "additive: all levels at once. f and k are not for conjugate gradients",
            std::vector<Word>{"v", "w", "f", "k", "additive"}),
      field("precision", &O::precision,
            "Of the cycle: that of the matrix, or single, which moves half as much data; auto is "
            "single where the matrix is symmetric and rounding does not matter to it",
            std::vector<Word>{"same", "single", "auto"}),
      field("max_levels", &O::max_levels, "Most levels, the finest included", 1, 100),
      field("max_coarse_rows", &O::max_coarse_rows,
            "Coarsening ends at a matrix with no more rows, which is solved directly", 1, 2000),
      field(
          "coarse_solve", &O::coarse_solve,
          "Who holds the inverse of the coarsest matrix: every rank its own rows, a rank of every "
          "node, one rank; or relaxation instead; auto is every_rank",
          std::vector<Word>{"auto", "every_rank", "every_node", "one_rank", "relaxation"}),
      field(
          "route", &O::route,
          "How data travels between nodes: straight to every rank, once from each rank to each "
          "node, or gathered on the node and once from node to node; or a list by level, such as "
          "direct,three_step, whose last word is for all deeper levels. automatic: on each level "
          "what costs least on `machine`, or by a short look at the network, which is what a solve "
          "takes where the ranks are on several nodes and no route is given",
          routes),
      field("setup_route", &O::setup_route,
            "The same for what travels while the hierarchy is set up, matrix rows above all; "
            "without it, the route of the solve",
            routes),
      field("route_from_level", &O::route_from_level,
            "The first level that takes these routes; finer ones are direct", 0, 100),
      field("transport", &O::transport,
            "By which means of MPI messages travel in the solve, on every level or by level. "
            "shared_memory is for messages on a node, those between nodes are then point_to_point. "
            "automatic, which a solve takes where none is given: what a short trial on each level "
            "finds quicker by a tenth, or point_to_point where expected_solves are too few for a "
            "trial to pay",
            transports_or_trial),
      field("setup_transport", &O::setup_transport,
            "The same for the setup, where the lengths of messages vary", transports),
      field("expected_solves", &O::expected_solves,
            "How many solves the hierarchy is to serve, in which what is spent on automatic routes "
            "and transports must be saved; transports are tried from 25 on",
            1, 1'000'000'000),
  };
  return fields;
}

}  // namespace nodewise::amg
