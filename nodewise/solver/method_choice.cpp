#include "nodewise/solver/method_choice.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/amg/setup/input_check.hpp"
#include "nodewise/base/format_numbers.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/routing/overlap_choice.hpp"
#include "nodewise/routing/route_choice.hpp"

namespace nodewise::solver {

namespace {

/// What of the options makes a preconditioner that is not symmetric; empty where nothing does.
std::string asymmetry(const Options& options) {
  const Choice<RowPermutationMethod>& order = options.method.permute_rows;
  if (!order.is_automatic() && *order->find != nullptr) return "permute_rows " + order.name();
  return PreconditionerMethod::asymmetry_of(options.method.preconditioner, options.amg);
}

/// Whether nothing but the K-cycle stands against conjugate gradients.
bool is_symmetric_but_for_k(const Options& options) {
  amg::Options with_v = options.amg;
  with_v.cycle = "v";
  return PreconditionerMethod::asymmetry_of(options.method.preconditioner, with_v).empty();
}

/// Whether the preconditioner is another map for every vector.
bool varies(const Options& options) {
  return options.method.preconditioner->varies(options.amg);
}

/// Collective. Whether diagonal entries are below zero, but for a few boundary rows.
bool has_negative_diagonal(const Matrix& A) {
  const GlobalIndex here = mpi::collectively(A.comm(), [&] {
    const Array<double> d = matrix::diagonal(A);
    return GlobalIndex{std::count_if(d.begin(), d.end(), [](double value) { return value < 0; })};
  });
  return 100 * (A.rows().n_global() - mpi::sum(A.comm(), here)) <= A.rows().n_global();
}

}  // namespace

run::MatrixSummary summarize(const Matrix& A, run::MatrixSummary known) {
  known.rows = A.rows().n_global();
  known.nonzeros = A.nnz_global();
  known.symmetric = matrix::is_symmetric(A);
  known.negative = known.symmetric && has_negative_diagonal(A);
  return known;
}

void check_shape(const Matrix& A) {
  if (A.rows().n_global() != A.cols().n_global()) {
    throw Error(
        ErrorCode::unsuitable_matrix,
        fmt::format("the matrix has {} and {}; a system to solve needs a square one",
                    counted(A.rows().n_global(), "row"), counted(A.cols().n_global(), "column")));
  }
  if (A.rows().n_global() == 0) {
    throw Error(ErrorCode::unsuitable_matrix, "the matrix has no rows");
  }
}

amg::Redistribution usual_redistribution(const mpi::Topology& topology) {
  return topology.n_nodes() < 2 ? "none" : "automatic";
}

void choose_communication(const mpi::Comm& comm, Options& options) {
  if (comm.size() > 1 && !options.has("transport")) {
    options.amg.transport = "automatic";
  }
  if (options.placement_is_given || comm.topology().n_nodes() < 2) return;
  if (!options.has("route") && !options.has("setup_route")) options.amg.route = "automatic";
  if (!options.has("redistribution")) {
    options.amg.redistribution = usual_redistribution(comm.topology());
  }
}

namespace {

/// The first of a family that runs(method).
template <class Method, class Runs>
const std::string& first_of(const Family<Method>& family, const Runs& runs) {
  for (const Method& method : family) {
    if (runs(method)) return method.name;
  }
  throw Error(ErrorCode::internal, "no " + family.kind() + " is made on devices");
}

}  // namespace

NamedValues choose_for_setup_on_device(Options& options) {
  NamedValues set;
  if (!offload::sets_up(options.method.device)) return set;
  const auto choose = [&](const char* name, const std::string& value) {
    if (options.has(name)) return;
    options.set(name, value);
    set.emplace_back(name, value);
  };
  // Of those the one whose setup is cheaper.
  choose("method", first_of(amg::LevelMethod::family(), [](const amg::LevelMethod& method) {
           return method.is_set_up_on_devices && !method.has_coarse_points;
         }));
  const auto runs = [](const auto& method) { return method.runs_on_devices; };
  if (options.amg.method.has_options<amg::AggregationOptions>()) {
    choose("aggregates", first_of(amg::AggregationMethod::family(), runs));
  } else if (options.amg.method.has_options<amg::ClassicalOptions>()) {
    choose("coarsening", first_of(amg::CoarseningMethod::family(), runs));
    choose("aggressive_levels", "0");
  }
  return set;
}

std::optional<DeviceRecord> choose_for_device(Options& options) {
  if (!offload::solves(options.method.device)) return {};
  if (!options.method.preconditioner->is_multigrid) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("`device {}` solves with `preconditioner amg` alone",
                            options.method.device.name()));
  }
  DeviceRecord record;
  record.name = options.method.device.name();
  NamedValues& set = record.set;
  if (!options.has("smoother") && !options.amg.smoother->runs_on_devices) {
    options.amg.smoother = "chebyshev";
    set.emplace_back("smoother", "chebyshev");
  }
  if (!options.has("redistribution") && options.amg.redistribution->moves_rows) {
    options.amg.redistribution = "none";
    set.emplace_back("redistribution", "none");
  }
  const auto& leaving = options.method.device.options<offload::DeviceOptions>().transport;
  if (!leaving.is_automatic() && leaving->passes_device_memory && !options.has("transport")) {
    options.amg.transport = "point_to_point";  // others may copy on the host
    set.emplace_back("transport", "point_to_point");
  }
  return record;
}

Choice<solve::KrylovMethod> choose_method(const Options& options,
                                          const run::MatrixSummary& matrix) {
  Choice<solve::KrylovMethod> method = options.method.solver;
  if (method.is_automatic()) {
    const PreconditionerFacts& facts = options.method.preconditioner->facts;
    const bool symmetric = matrix.symmetric && asymmetry(options).empty() && !facts.is_exact;
    const bool suits_cg = symmetric && !matrix.negative && !facts.suits_indefinite;
    method = varies(options)                       ? "fgmres"
             : suits_cg                            ? "cg"
             : symmetric && facts.suits_indefinite ? "minres"
                                                   : "gmres";
  }
  if (method.own() != nullptr) set_options_there(*method.own(), options.given);
  return method;
}

void check_method(const solve::KrylovMethod& method, const Options& options) {
  if (offload::solves(options.method.device)) {
    offload::check_for_device(options.method.device, options.amg, method);
  }
  const solve::ResidualNorm norm = options.krylov.norm;
  const std::string& name = method.name;
  const std::string against = asymmetry(options);
  if (!method.knows_all_norms && norm != solve::ResidualNorm::unpreconditioned) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("`norm {}`: {} can test the unpreconditioned norm only; the others "
                            "are known to {}",
                            solve::to_string(norm), name, solve::names_by_norms(true)));
  }
  const PreconditionerMethod& preconditioner = *options.method.preconditioner;
  if (method.needs_symmetric_preconditioner && !against.empty()) {
    const std::string& form = preconditioner.facts.symmetric_form;
    const bool helps = against.substr(0, against.find(' ')) == form.substr(0, form.find(' '));
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("`{}` makes {} nonsymmetric, which {} cannot use: {}, or take `solver "
                    "{}`",
                    against, preconditioner.is_multigrid ? "multigrid" : "the preconditioner", name,
                    helps ? fmt::format("take `{}`", form) : "drop it",
                    varies(options) ? "fgmres" : "gmres"));
  }
  if (method.needs_fixed_preconditioner && varies(options)) {
    const bool but_for_k = is_symmetric_but_for_k(options);
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("`cycle k` makes multigrid another map for every vector, which {} cannot use: "
                    "drop it, or take `solver {}`{}",
                    name, but_for_k ? "flexible_cg" : "fgmres", but_for_k ? " or fgmres" : ""));
  }
}

namespace {

/// Collective. What a hierarchy would see to for its finest level.
void set_overlap(const Matrix& A, const amg::Options& options) {
  amg::check_overlap(options);
  comm::Overlap overlap = options.overlap.on(0);
  if (overlap == comm::Overlap::automatic) overlap = routing::choose_overlap(A)->chosen;
  A.exchange().set_overlap(overlap);
  if (A.blocks() != nullptr) A.blocks()->exchange().set_overlap(overlap);
}

}  // namespace

std::shared_ptr<const Matrix> matrix_of_solve(const std::shared_ptr<const Matrix>& A,
                                              const Options& options) {
  routing::LevelRoutes routes = amg::routes_of_level(options.amg, 0);
  const bool for_hierarchy = options.method.preconditioner->is_multigrid;
  const bool choose_route = routes.solve.is_automatic();
  const bool choose_transport = routes.solve_transport.is_automatic();
  const int solves = options.amg.expected_solves;
  if (choose_route) routes.solve = comm::Route();
  if (choose_transport) routes.solve_transport = comm::Transport();
  std::shared_ptr<const Matrix> M = A;
  if (choose_route && !for_hierarchy) {
    const routing::LevelRoutes wanted = {"direct", "automatic"};
    M = (options.amg.machine ? routing::choose_routes(A, wanted, *options.amg.machine, solves)
                             : routing::choose_routes(A, wanted, solves))
            .for_solve;
    routes.solve = M->route();
  }
  M = std::make_shared<const Matrix>(M->with_route(routes.solve, routes.solve_transport));
  if (choose_transport && !for_hierarchy) M = routing::choose_transport(M, solves).A;
  M = matrix::with_blocks_where_full<double>(M, options.amg.unknowns);
  if (!for_hierarchy) set_overlap(*M, options.amg);
  return M;
}

std::shared_ptr<const Matrix> matrix_as_chosen(const std::shared_ptr<const Matrix>& A,
                                               const amg::Hierarchy<double>& hierarchy,
                                               const Options& options) {
  const Matrix& finest = *hierarchy.matrix(0);
  if (finest.route() == A->route() && finest.transport() == A->transport()) return A;
  return matrix::with_blocks_where_full<double>(
      std::make_shared<const Matrix>(A->with_exchange_of(finest)), options.amg.unknowns);
}

}  // namespace nodewise::solver
