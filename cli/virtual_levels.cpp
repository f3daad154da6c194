#include "cli/virtual_levels.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/timer.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"

#include "cli/exit_code.hpp"
#include "cli/machine.hpp"

namespace nodewise::cli {

namespace {

using comm::Route;
using Starts = std::span<const GlobalIndex>;

std::vector<Route> parse_routes(const std::string& text) {
  const std::string underscored = [&] {
    std::string copy = text;
    std::replace(copy.begin(), copy.end(), '-', '_');
    return copy + ",";
  }();
  std::vector<Route> routes;
  for (std::size_t at = 0; at < underscored.size();) {
    const std::size_t comma = underscored.find(',', at);
    const std::string name = underscored.substr(at, comma - at);
    at = comma + 1;
    bool known = false;
    for (const Route route : {Route::direct, Route::two_step, Route::three_step}) {
      if (name != comm::to_string(route)) continue;
      known = true;
      if (std::find(routes.begin(), routes.end(), route) != routes.end()) {
        throw Failure(ExitCode::usage, fmt::format("--routes: {} is named twice", name));
      }
      routes.push_back(route);
    }
    if (!known) {
      throw Failure(ExitCode::usage,
                    fmt::format("--routes: '{}' is none of direct, two_step, three_step", name));
    }
  }
  return routes;
}

/// The exchanges of one level.
class LevelVisit {
 public:
  LevelVisit(const VirtualMachine& machine, std::size_t level, const ExchangeVisitor& visit,
             const CountObserver& observe)
      : machine_(machine), level_(level), visit_(visit), observe_(observe) {}

  /// Of a product with M, whose rows are spread as `rows` says, the vectors it multiplies as
  /// `cols`, and of rows of P that begin so (matrix::virtual_row_words), where there are any.
  void plan(Operation operation, const Matrix& M, Starts rows, Starts cols,
            std::span<const Offset> P_words = {}) {
    const Timer timer;
    double rows_seconds = 0;
    const std::vector<comm::Pattern> patterns =
        comm::virtual_patterns(cols, matrix::virtual_ghosts(M.on(), rows, cols));
    for (std::size_t k = 0; k < machine_.routes.size(); ++k) {
      const std::vector<comm::Plan> plans =
          comm::virtual_plans(patterns, machine_.topology, machine_.routes[k]);
      visit_({level_, operation, k, plans, {}});
      if (P_words.empty()) continue;
      const Timer rows_timer;
      visit_({level_, Operation::interpolation_rows, k, plans, P_words});
      rows_seconds += rows_timer.seconds();
    }
    observe_(level_, operation, timer.seconds() - rows_seconds);
    if (!P_words.empty()) observe_(level_, Operation::interpolation_rows, rows_seconds);
  }

 private:
  const VirtualMachine& machine_;
  std::size_t level_;
  const ExchangeVisitor& visit_;
  const CountObserver& observe_;
};

}  // namespace

VirtualMachine virtual_machine(const Settings& settings) {
  return {place_virtual_ranks(settings), parse_routes(settings.virtual_machine.routes)};
}

void check_one_process(const mpi::Comm& world, const char* doing) {
  if (world.size() == 1) return;
  throw Failure(ExitCode::usage,
                fmt::format("--virtual-ranks {} in one process: start nodewise on one rank, "
                            "not on {}",
                            doing, world.size()));
}

bool is_independent_of_ranks(const amg::Options& options) {
  const bool one_point = options.interpolation == amg::Interpolation::one_point ||
                         (options.interpolation == amg::Interpolation::automatic &&
                          options.method == amg::Method::air);
  if (one_point && options.aggressive_levels == 0) return true;  // nothing is dropped from its rows
  return options.max_interpolation_entries == 0 && options.interpolation_truncation == 0;
}

void visit_exchanges(const amg::Hierarchy<double>& hierarchy, const VirtualMachine& machine,
                     const ExchangeVisitor& visit, const CountObserver& observe) {
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    const Starts fine = hierarchy.virtual_starts(l);
    const Matrix* P = hierarchy.interpolation(l);
    LevelVisit level(machine, l, visit, observe);
    if (P == nullptr) {
      level.plan(Operation::product, *hierarchy.matrix(l), fine, fine);
      continue;
    }
    const Starts coarse = hierarchy.virtual_starts(l + 1);
    level.plan(Operation::product, *hierarchy.matrix(l), fine, fine,
               matrix::virtual_row_words(P->on(), fine, coarse));
    level.plan(Operation::interpolation, *P, fine, coarse);
    if (const Matrix* R = hierarchy.restriction(l)) {
      level.plan(Operation::restriction, *R, coarse, fine);
    }
  }
}

void visit_exchanges(const Matrix& A, Starts rows, Starts cols, const VirtualMachine& machine,
                     const ExchangeVisitor& visit, const CountObserver& observe) {
  LevelVisit(machine, 0, visit, observe).plan(Operation::product, A, rows, cols);
}

}  // namespace nodewise::cli
