// Products of sparse matrices over every route: A A and A^T A in their forms, the Galerkin products
// of a hierarchy, and the same again for new values.
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/recompute.hpp"
#include "nodewise/mpi/ledger.hpp"

#include "measure.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;
using comm::Route;
using ColumnMatrix = matrix::ColumnMatrix<double>;

const Family<comm::RouteMethod>& routes = comm::RouteMethod::family();

struct Arguments {
  std::vector<std::string> problems;
  std::vector<std::string> files;
  int repeats = 9;
  int levels = 3;
  int ranks_per_node = 0;
};

/// What one product sends, the discovery of its result's ghosts and agreements left out: those are
/// no matter of the route.
struct Counts {
  std::int64_t messages = 0, busiest = 0, bytes = 0, messages_on_node = 0;
};

/// A product over one route.
struct Entrant {
  Route route;
  std::function<void()> work;
  Counts counts;
  std::vector<double> samples_ms;
};

struct Operation {
  std::string name;
  std::vector<Entrant> entrants;
};

/// Collective. Runs `work` and counts.
Counts count(const mpi::Comm& comm, const std::function<void()>& work) {
  comm.ledger().clear();
  work();
  Counts mine;
  for (const mpi::Account& account : comm.ledger().accounts()) {
    if (account.operation == "new_matrix") continue;
    mine.messages += account.counts.messages_off_node;
    mine.bytes += account.counts.bytes_off_node;
    mine.messages_on_node += account.counts.messages_on_node;
  }
  return {mpi::sum(comm, mine.messages), mpi::max(comm, mine.messages), mpi::sum(comm, mine.bytes),
          mpi::sum(comm, mine.messages_on_node)};
}

/// Every route in turn, in each repeat in another order. Counting warms up.
void measure(const mpi::Comm& comm, Operation& operation, int repeats) {
  std::vector<Entrant>& entrants = operation.entrants;
  for (Entrant& entrant : entrants) entrant.counts = count(comm, entrant.work);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t k = 0; k < entrants.size(); ++k) {
      Entrant& entrant = entrants[(k + static_cast<std::size_t>(repeat)) % entrants.size()];
      entrant.samples_ms.push_back(1e3 * timed(comm, entrant.work));
    }
  }
}

void print_heading() {
  std::cout << "| product | route | off-node messages | of the busiest rank | off-node KB | "
               "on-node messages | time, ms | direct / this |\n"
               "|---|---|---|---|---|---|---|---|\n";
}

void print(const Operation& operation) {
  for (const Entrant& e : operation.entrants) {
    std::cout << fmt::format(
        "| {} | {} | {} | {} | {:.1f} | {} | {} | {} |\n", operation.name, e.route.name(),
        e.counts.messages, e.counts.busiest, 1e-3 * static_cast<double>(e.counts.bytes),
        e.counts.messages_on_node, to_text(spread(e.samples_ms), 2),
        to_text(spread(ratios(operation.entrants.front().samples_ms, e.samples_ms)), 2));
  }
  std::cout << std::flush;
}

/// Collective. Measures a product over all routes and prints its lines. `make(route)` returns what
/// is to be timed; what it prepares is not.
template <class Make>
void compare(const mpi::Comm& comm, const Arguments& arguments, const std::string& name,
             const Make& make) {
  Operation operation{name, {}};
  for (const Route route : routes) operation.entrants.push_back({route, make(route), {}, {}});
  measure(comm, operation, arguments.repeats);
  if (comm.is_root()) print(operation);
}

using Work = std::function<void()>;

void compare_squares(const Matrix& A, const Arguments& arguments) {
  const mpi::Comm& comm = A.comm();
  const Matrix At = matrix::transpose(A);
  compare(comm, arguments, "A A, row-wise", [&](Route route) -> Work {
    return [&A, routed = A.with_route(route)] { matrix::multiply(routed, A); };
  });
  compare(comm, arguments, "A A, column-wise", [&](Route route) -> Work {
    return [left = ColumnMatrix{At}, right = ColumnMatrix{At.with_route(route)}] {
      matrix::multiply(left, right);
    };
  });
  compare(comm, arguments, "A A, outer products", [&](Route route) -> Work {
    return [&A, left = ColumnMatrix{At.with_route(route)}] { matrix::multiply(left, A); };
  });
}

void compare_normal_equations(const Matrix& A, const Arguments& arguments) {
  const mpi::Comm& comm = A.comm();
  const Matrix At = matrix::transpose(A);
  compare(comm, arguments, "AᵀA, row-wise", [&](Route route) -> Work {
    return [&A, left = At.with_route(route)] { matrix::multiply(left, A); };
  });
  compare(comm, arguments, "AᵀA, row-wise, values only", [&](Route route) -> Work {
    const Matrix left = At.with_route(route);
    const auto product =
        std::make_shared<matrix::Product<double>>(left, A, matrix::multiply(left, A));
    return [&A, left, product] { product->recompute(left, A); };
  });
  compare(comm, arguments, "AᵀA, outer products", [&](Route route) -> Work {
    return [&A, left = A.with_route(route)] { matrix::multiply_transposed(left, A); };
  });
  compare(comm, arguments, "AᵀA, outer products, values only", [&](Route route) -> Work {
    const Matrix left = A.with_route(route);
    const auto product = std::make_shared<matrix::TransposedProduct<double>>(
        left, A, matrix::multiply_transposed(left, A));
    return [&A, left, product] { product->recompute(left, A); };
  });
}

void compare_galerkin(const amg::Hierarchy<double>& hierarchy, const Arguments& arguments) {
  for (std::size_t l = 0; l < static_cast<std::size_t>(arguments.levels); ++l) {
    if (l + 1 >= hierarchy.levels().size()) break;
    const Matrix& A = *hierarchy.matrix(l);
    const Matrix& P = *hierarchy.interpolation(l);
    const std::string name = fmt::format("PᵀAP, level {} ({} rows), ", l, A.rows().n_global());
    for (const auto form : {matrix::GalerkinForm::fused, matrix::GalerkinForm::unfused}) {
      const bool fused = form == matrix::GalerkinForm::fused;
      compare(A.comm(), arguments, name + (fused ? "fused" : "unfused"), [&](Route route) -> Work {
        return [form, A_routed = A.with_route(route), P_routed = P.with_route(route)] {
          matrix::galerkin_product(A_routed, P_routed, form);
        };
      });
    }
    compare(A.comm(), arguments, name + "values only, P kept", [&](Route route) -> Work {
      const Matrix A_routed = A.with_route(route);
      const Matrix P_routed = P.with_route(route);
      const auto product = std::make_shared<matrix::GalerkinProduct<double>>(
          A_routed, P_routed, matrix::galerkin_product(A_routed, P_routed));
      return [A_routed, product] { product->recompute(A_routed); };
    });
  }
}

void run(const std::string& name, const std::shared_ptr<const Matrix>& A,
         const Arguments& arguments) {
  const mpi::Comm& comm = A->comm();
  if (comm.is_root()) {
    std::cout << fmt::format("#### {}, {} x {}, {} nonzeros: {} ranks on {} nodes\n\n", name,
                             A->rows().n_global(), A->cols().n_global(), A->nnz_global(),
                             comm.size(), comm.topology().n_nodes());
    print_heading();
  }
  if (A->rows() == A->cols()) compare_squares(*A, arguments);
  compare_normal_equations(*A, arguments);
  std::string no_hierarchy;
  if (arguments.levels > 0) {
    try {
      const amg::Hierarchy<double> hierarchy(A, {});
      compare_galerkin(hierarchy, arguments);
    } catch (const Error& error) {  // thrown on every rank or none
      if (error.code() != ErrorCode::unsuitable_matrix &&
          error.code() != ErrorCode::dimension_mismatch) {
        throw;
      }
      no_hierarchy = std::string("\nNo PᵀAP: ") + error.what() + ".\n";
    }
  }
  if (comm.is_root()) std::cout << no_hierarchy << "\n" << std::flush;
}

void run(const Arguments& arguments) {
  // Agreements between the ranks by MPI's own reduction, which is not counted: a product over a
  // route of more stages has more of them, and they would hide that fewer messages carry rows.
  const std::shared_ptr<const mpi::Comm> comm =
      make_comm(arguments.ranks_per_node, {.allreduce = "mpi"});
  for (const std::string& text : arguments.problems) {
    const Problem problem = parse_problem(text);
    run(fmt::format("{}, n = {}", problem.name, problem.n), make_matrix(comm, problem), arguments);
  }
  for (const std::string& path : arguments.files) {
    run(std::filesystem::path(path).filename().string(),
        std::make_shared<const Matrix>(io::read_matrix<double>(comm, path)), arguments);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Compare products of sparse matrices over the routes; prints Markdown.");
  app.add_option("--problem", arguments.problems, "model problems, name:n");
  app.add_option("--matrix", arguments.files, "files, Matrix Market or PETSc binary");
  app.add_option("--repeats", arguments.repeats, "samples of each route")
      ->check(CLI::PositiveNumber);
  app.add_option("--levels", arguments.levels, "whose Galerkin products are compared; 0: none")
      ->check(CLI::NonNegativeNumber);
  add_ranks_per_node(app, arguments.ranks_per_node);
  return run_program(app, argc, argv, [&] {
    if (arguments.problems.empty() && arguments.files.empty()) {
      arguments.problems = {"laplace27:24", "random:4000"};
    }
    run(arguments);
  });
}
