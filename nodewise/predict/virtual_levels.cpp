#include "nodewise/predict/virtual_levels.hpp"

#include "nodewise/amg/messages/copy_messages.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"
#include "nodewise/base/timer.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"

namespace nodewise::predict {

namespace {

using Starts = std::span<const GlobalIndex>;

/// The exchanges of one level.
class LevelVisit {
 public:
  LevelVisit(const VirtualMachine& machine, std::size_t level, const ExchangeVisitor& visit,
             const CountObserver& observe)
      : machine_(machine), level_(level), visit_(visit), observe_(observe) {}

  /// Of a product with M, whose rows are spread as `rows` says, the vectors it multiplies as
  /// `cols`.
  void plan(CountedExchange operation, const Matrix& M, Starts rows, Starts cols) {
    plan_with_rows(operation, true, M, rows, cols, {});
  }
  /// Likewise, and of rows of P that begin so (matrix::virtual_row_words), over the plans of
  /// `setup_A`, the matrix that P was made for.
  void plan_level(const Matrix& A, const Matrix& setup_A, Starts rows,
                  std::span<const Offset> P_words) {
    const bool is_one = A.shares_entries_with(setup_A);
    if (!is_one) plan(CountedExchange::product, A, rows, rows);
    plan_with_rows(CountedExchange::product, is_one, setup_A, rows, rows, P_words);
  }
  /// Of the transfer to copies of the next level, and of the way back.
  void plan_copies(const amg::Hierarchy<double>& hierarchy) {
    const amg::VirtualCopies copies(hierarchy, level_, machine_.topology);
    const Starts fine = hierarchy.virtual_starts(level_);
    const Starts coarse = hierarchy.virtual_starts(level_ + 1);
    const Matrix* R = hierarchy.restriction(level_);
    const Timer timer;
    double restriction_seconds = 0;
    for (std::size_t k = 0; k < machine_.routes.size(); ++k) {
      const comm::Route& route = machine_.routes[k];
      const auto plans = [&](const Matrix& M, Starts rows, Starts cols) {
        return amg::plans_of(M.on(), rows, cols, machine_.topology, route);
      };
      visit_({level_,
              CountedExchange::interpolation,
              k,
              copies.from_copy(),
              {},
              false,
              plans(*hierarchy.interpolation(level_), fine, coarse)});
      const Timer restriction;
      if (R) {
        visit_({level_,
                CountedExchange::restriction,
                k,
                copies.restriction(route),
                {},
                false,
                plans(*R, coarse, fine)});
      } else {
        visit_({level_, CountedExchange::restriction, k, copies.to_copies(route), {}, true, {}});
      }
      restriction_seconds += restriction.seconds();
    }
    if (!observe_) return;
    observe_(level_, CountedExchange::interpolation, timer.seconds() - restriction_seconds);
    observe_(level_, CountedExchange::restriction, restriction_seconds);
  }

 private:
  void plan_with_rows(CountedExchange operation, bool visits_product, const Matrix& M, Starts rows,
                      Starts cols, std::span<const Offset> P_words) {
    const Timer timer;
    double rows_seconds = 0;
    const std::vector<comm::Pattern> patterns =
        comm::virtual_patterns(cols, matrix::virtual_ghosts(M.on(), rows, cols));
    for (std::size_t k = 0; k < machine_.routes.size(); ++k) {
      const std::vector<comm::Plan> plans =
          comm::virtual_plans(patterns, machine_.topology, machine_.routes[k]);
      if (visits_product) visit_({level_, operation, k, plans, {}, false, {}});
      if (P_words.empty()) continue;
      const Timer rows_timer;
      visit_({level_, CountedExchange::interpolation_rows, k, plans, P_words, false, {}});
      rows_seconds += rows_timer.seconds();
    }
    if (!observe_) return;
    if (visits_product) observe_(level_, operation, timer.seconds() - rows_seconds);
    if (!P_words.empty()) observe_(level_, CountedExchange::interpolation_rows, rows_seconds);
  }

  const VirtualMachine& machine_;
  std::size_t level_;
  const ExchangeVisitor& visit_;
  const CountObserver& observe_;
};

}  // namespace

bool is_independent_of_ranks(const amg::Options& options) {
  if (!options.method->has_coarse_points) return false;
  const amg::ClassicalOptions& classical = amg::classical_options(options);
  const bool drops =
      classical.max_interpolation_entries != 0 || classical.interpolation_truncation != 0;
  if (!drops) return true;
  return classical.aggressive_levels == 0 &&
         amg::interpolation_of_level(options, 0)->has_one_entry_a_row;
}

void visit_exchanges(const amg::Hierarchy<double>& hierarchy, const VirtualMachine& machine,
                     const ExchangeVisitor& visit, const CountObserver& observe) {
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    const Starts fine = hierarchy.virtual_starts(l);
    const Matrix* P = hierarchy.interpolation(l);
    LevelVisit level(machine, l, visit, observe);
    if (P == nullptr) {
      level.plan(CountedExchange::product, *hierarchy.matrix(l), fine, fine);
      continue;
    }
    const Starts coarse = hierarchy.virtual_starts(l + 1);
    level.plan_level(*hierarchy.matrix(l), *hierarchy.setup_matrix(l), fine,
                     matrix::virtual_row_words(P->on(), fine, coarse));
    if (amg::is_copied_below(hierarchy, l)) {
      level.plan_copies(hierarchy);
      continue;
    }
    level.plan(CountedExchange::interpolation, *P, fine, coarse);
    if (const Matrix* R = hierarchy.restriction(l)) {
      level.plan(CountedExchange::restriction, *R, coarse, fine);
    }
  }
}

void visit_exchanges(const Matrix& A, Starts rows, Starts cols, const VirtualMachine& machine,
                     const ExchangeVisitor& visit, const CountObserver& observe) {
  LevelVisit(machine, 0, visit, observe).plan(CountedExchange::product, A, rows, cols);
}

}  // namespace nodewise::predict
