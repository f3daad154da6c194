#include "nodewise/solver/adaptive_solve.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace nodewise::solver {

namespace {

const amg::SparsificationOptions& options_of(const amg::Hierarchy<double>& hierarchy) {
  return hierarchy.options().sparsification.options<amg::SparsificationOptions>();
}

/// Looks at the residual after every few iterations.
class Watch {
 public:
  Watch(const amg::SparsificationOptions& options, double relative)
      : options_(options), at_last_look_(relative) {}

  /// Whether this is an iteration at which to look, and the residual fell too slowly.
  bool finds_slow(int iteration, double relative) {
    if (iteration % options_.adaptive_iterations != 0) return false;
    const double factor = std::pow(relative / at_last_look_, 1.0 / options_.adaptive_iterations);
    at_last_look_ = relative;
    return !(factor <= options_.adaptive_factor);
  }

 private:
  const amg::SparsificationOptions& options_;
  double at_last_look_;
};

bool any_ended(std::span<const solve::Report> reports, solve::Outcome outcome) {
  return std::any_of(reports.begin(), reports.end(),
                     [&](const solve::Report& report) { return report.outcome == outcome; });
}

/// A solve, and what its hierarchy gets back on the way.
class Solve {
 public:
  Solve(const SolveSetup& setup, const SolveOnce& once, const solve::Observer& observe,
        std::vector<EntriesBack>& events)
      : setup_(setup),
        once_(once),
        observe_(observe),
        events_(events),
        own_(options_of(*setup.hierarchy)) {}

  std::vector<solve::Report> run() {
    const bool bears_change = !setup_.method->needs_fixed_preconditioner &&
                              setup_.options.norm == solve::ResidualNorm::unpreconditioned;
    do {
      const bool watches = own_.adaptive && has_lost_entries(*setup_.hierarchy);
      is_slow_ = false;
      solve::Options options = setup_.options;
      options.max_iterations -= iterations();
      append(once_(options, !watches       ? plain_observer()
                            : bears_change ? changing_observer()
                                           : ending_observer()));
    } while (gets_entries_back());
    explain_failures();
    return std::move(reports_);
  }

 private:
  /// That of the caller, who counts the iterations of all solves.
  solve::Observer plain_observer() const {
    const int done = iterations();
    if (done == 0) return observe_;
    if (!observe_.may_stop()) {
      return solve::Observer(
          [this, done](int iteration, double relative) { observe_(done + iteration, relative); });
    }
    return solve::Observer([this, done](int iteration, double relative) {
             return observe_(done + iteration, relative);
           })
        .agreed_every(observe_.interval());
  }

  /// Entries come back while the method goes on.
  solve::Observer changing_observer() {
    const auto look = [this, done = iterations(), watch = Watch(own_, largest_residual())](
                          int iteration, double relative) mutable {
      if (!has_lost_entries(*setup_.hierarchy)) return;
      if (watch.finds_slow(iteration, relative)) {
        put_entries_back(done + iteration, own_.adaptive_levels);
      }
    };
    return plain_observer().changing_preconditioner(look);
  }

  /// Ends a solve that is too slow.
  solve::Observer ending_observer() {
    const auto hear = [this, done = iterations(), watch = Watch(own_, largest_residual())](
                          int iteration, double relative) mutable {
      const bool goes_on = observe_(done + iteration, relative);
      if (watch.finds_slow(iteration, relative)) is_slow_ = true;
      return goes_on && !is_slow_;
    };
    int interval = own_.adaptive_iterations;
    if (observe_.may_stop()) interval = std::min(interval, observe_.interval());
    return solve::Observer(hear).agreed_every(interval);
  }

  /// Whether the method has to begin again, with more entries.
  bool gets_entries_back() {
    if (iterations() >= setup_.options.max_iterations) return false;
    if (!has_lost_entries(*setup_.hierarchy)) return false;
    if (any_ended(reports_, solve::Outcome::indefinite_preconditioner)) {
      put_entries_back(iterations(), 1);
      amg::Hierarchy<double>& hierarchy = *setup_.hierarchy;
      // The levels below are made of what lacked them.
      if (hierarchy.options().sparsification->goes_on_with_rest) {
        hierarchy.rebuild(hierarchy.matrix(0), amg::Reuse::splitting);
      }
      return true;
    }
    if (!is_slow_ || !any_ended(reports_, solve::Outcome::interrupted)) return false;
    put_entries_back(iterations(), own_.adaptive_levels);
    return true;
  }
  void put_entries_back(int iteration, int n_levels) {
    events_.push_back({0, iteration, setup_.hierarchy->put_entries_back(n_levels)});
  }

  int iterations() const {
    int most = 0;
    for (const solve::Report& report : reports_) most = std::max(most, report.iterations);
    return most;
  }
  double largest_residual() const {
    double largest = 0;
    for (const solve::Report& report : reports_) {
      if (!report.converged()) largest = std::max(largest, report.history.back());
    }
    return largest > 0 ? largest : 1;
  }

  /// Takes the reports of solves that went on where the others ended.
  void append(std::vector<solve::Report> more) {
    for (std::size_t k = 0; k < reports_.size(); ++k) {
      solve::Report &before = reports_[k], &after = more[k];
      after.iterations += before.iterations;
      after.seconds += before.seconds;
      if (!after.history.empty()) {
        before.history.insert(before.history.end(), after.history.begin() + 1, after.history.end());
      }
      after.history = std::move(before.history);
    }
    reports_ = std::move(more);
  }

  void explain_failures() {
    const auto levels = setup_.hierarchy->levels();
    const auto first = std::find_if(levels.begin(), levels.end(), [](const amg::LevelInfo& info) {
      return info.sparsity != nullptr;
    });
    if (first == levels.end()) return;
    for (solve::Report& report : reports_) {
      if (report.converged() || report.outcome == solve::Outcome::interrupted) continue;
      report.diagnosis += fmt::format(
          "; level {} lacks the entries that a tolerance of {} dropped: try `adaptive`, "
          "or a lower one",
          first - levels.begin(), first->sparsity->tolerance);
    }
  }

  const SolveSetup& setup_;
  const SolveOnce& once_;
  const solve::Observer& observe_;
  std::vector<EntriesBack>& events_;
  const amg::SparsificationOptions& own_;
  std::vector<solve::Report> reports_;
  bool is_slow_ = false;
};

}  // namespace

bool has_lost_entries(const amg::Hierarchy<double>& hierarchy) {
  return std::any_of(hierarchy.levels().begin(), hierarchy.levels().end(),
                     [](const amg::LevelInfo& info) { return info.sparsity != nullptr; });
}

std::vector<solve::Report> solve_with_lost_entries(const SolveSetup& setup, const SolveOnce& once,
                                                   const solve::Observer& observe,
                                                   std::vector<EntriesBack>& events) {
  return Solve(setup, once, observe, events).run();
}

}  // namespace nodewise::solver
