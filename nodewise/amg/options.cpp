#include "nodewise/amg/options.hpp"

namespace nodewise::amg {

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
  if (options.method != Method::air) {
    options.coarse_filter = 0;
    return;
  }
  options.smoother = SmootherKind::fc_jacobi;
  options.sweep_order = SweepOrder::forward;
  options.pre_sweeps = 0;
}

std::string asymmetry_of(const Options& options) {
  const bool directed = options.smoother == SmootherKind::gauss_seidel ||
                        options.smoother == SmootherKind::l1_gauss_seidel ||
                        options.smoother == SmootherKind::block_gauss_seidel ||
                        options.smoother == SmootherKind::l1_block_gauss_seidel ||
                        options.smoother == SmootherKind::fc_jacobi;
  const bool one_way =
      options.sweep_order == SweepOrder::forward || options.sweep_order == SweepOrder::backward;
  if (options.method == Method::air) return "method air";
  if (has_smoothed_restriction(options)) return "restriction smoothed";
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
  if (by_rows && options.method == Method::classical) return;
  throw Error(ErrorCode::invalid_argument,
              "multigrid setup: sweep_order coarse_fine and coarse_fine_symmetric are for the "
              "smoothers gauss_seidel and l1_gauss_seidel with method classical, which alone has "
              "coarse and "
              "fine points");
}

std::span<const Field<Options>> option_fields() {
  using O = Options;
  const std::vector<Word> routes = {"direct", "two_step", "three_step", "automatic"};
  const std::vector<Word> transports = {"point_to_point",          "persistent", "neighborhood",
                                        "persistent_neighborhood", "rma",        "shared_memory"};
  std::vector<Word> transports_or_trial = transports;
  transports_or_trial.emplace_back("automatic");
  static const std::vector<Field<O>> fields = {
      field("method", &O::method,
            "How a level is joined to the next; air, local approximate ideal restriction, is for "
            "nonsymmetric problems, and not for conjugate gradients",
            std::vector<Word>{"classical", "aggregation", "air"}),
      field("unknowns", &O::unknowns,
            "Rows that belong to one point, such as the displacements of a node, interleaved; "
            "classical coarsening leaves couplings between different unknowns out of strength, "
            "splitting and interpolation",
            1, 64),
      field("strength_threshold", &O::strength_threshold,
            "An entry is strong when its size exceeds this fraction of the row's largest", 0.0,
            1.0),
      field(
          "strength_measure", &O::strength_measure,
          "What counts as the size of an entry: its modulus, or its value if its sign is opposite "
          "to the diagonal's and nothing if not; automatic: the latter for a symmetric matrix",
          std::vector<Word>{"automatic", "opposite_sign", "absolute"}),
      field("max_row_sum", &O::max_row_sum,
            "Rows whose sum exceeds this fraction of the diagonal have no strong entries; 1: off",
            0.0, 1.0),
      field("coarsening", &O::coarsening,
            "How the coarse points are chosen; ruge_stueben and its first pass alone look at each "
            "rank's "
            "own rows only",
            std::vector<Word>{"hmis", "pmis", "cljp", "falgout", "ruge_stueben",
                              "ruge_stueben_first_pass"}),
      field("seed", &O::seed, "Of the weights that decide between equal points", 0),
      field("aggressive_levels", &O::aggressive_levels,
            "So many of the finest levels are coarsened twice at once, the second time by paths of "
            "two dependences, and interpolated by multipass",
            0, 100),
      field("aggressive_paths", &O::aggressive_paths,
            "How many such paths make a dependence: with 2 fewer points are dropped than with 1", 1,
            2),
      field(
          "interpolation", &O::interpolation,
          "The formula of the prolongation; automatic: extended_i, with method air one_point",
          std::vector<Word>{"automatic", "extended_i", "extended", "standard", "modified_classical",
                            "classical", "direct", "multipass", "one_point"}),
      field("max_interpolation_entries", &O::max_interpolation_entries,
            "Longest row of the interpolation; 0: any length", 0),
      field("interpolation_truncation", &O::interpolation_truncation,
            "Interpolation weights below this fraction of the row's largest are dropped", 0.0, 1.0),
      field("isolated_couplings", &O::isolated_couplings,
            "What interpolation makes of couplings to fine points that depend on no other, whose "
            "error relaxation alone removes: nothing, or part of the diagonal",
            std::vector<Word>{"dropped", "lumped"}),
      field(
          "restriction_distance", &O::restriction_distance,
          "With method air a coarse point's equation takes in those of fine points so many strong "
          "couplings away",
          1, 2),
      field("restriction_threshold", &O::restriction_threshold,
            "Which couplings are strong for that: the modulus exceeds this fraction of the row's "
            "largest",
            0.0, 1.0),
      field("restriction_truncation", &O::restriction_truncation,
            "Weights of that restriction below this fraction of the row's largest are dropped", 0.0,
            1.0),
      field("coarse_filter", &O::coarse_filter,
            "With method air entries of coarse matrices below this fraction of the row's largest "
            "are added to the diagonal instead; 0: none",
            0.0, 1.0),
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
      field("aggregation_threshold", &O::aggregation_threshold,
            "Points are strongly connected where |a_ij| exceeds this times sqrt |a_ii a_jj|, norms "
            "of blocks where points have several unknowns; negative: 0.02, for such points 0.05",
            -1.0, 1.0),
      field(
          "aggregates", &O::aggregates,
          "How points are grouped: around an independent set, the same on any number of ranks, "
          "or greedily on each rank by itself; auto is standard on one rank and on levels with "
          "2,000 points a rank, where borders do not matter. What greedy neighbourhoods leave over "
          "joins the one it is most connected to, or the first one (standard_first, as in PyAMG)",
          std::vector<Word>{"independent_set", "standard", "standard_first", "auto"}),
      field("aggregation_distance", &O::aggregation_distance,
            "Points of the independent set are more connections apart than this", 1, 8),
      field("prolongation_sweeps", &O::prolongation_sweeps,
            "Jacobi sweeps that smooth the prolongation of an aggregation", 0, 10),
      field("prolongation_weight", &O::prolongation_weight,
            "Their damping, divided by the spectral radius of the scaled matrix", 0.0, 2.0),
      field("filter_prolongation", &O::filter_prolongation,
            "Whether they leave out weak entries of the matrix, lumped into the diagonal"),
      field("candidate_sweeps", &O::candidate_sweeps,
            "Relaxation of the near null space on the finest level, before it is aggregated", 0,
            100),
      field(
          "candidate_relaxation", &O::candidate_relaxation,
          "What that is: damped Jacobi sweeps, or Gauss-Seidel sweeps forward and backward, which "
          "reach further in one exchange and depend on the ranks",
          std::vector<Word>{"jacobi", "gauss_seidel"}),
      field("restriction", &O::restriction,
            "That of an aggregation: the transposed prolongation, or one that is smoothed by the "
            "transposed matrix, which is for nonsymmetric matrices and not for conjugate gradients",
            std::vector<Word>{"transposed", "smoothed"}),
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
