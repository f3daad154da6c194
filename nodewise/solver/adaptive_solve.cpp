#include "nodewise/solver/adaptive_solve.hpp"

#include <algorithm>
#include <cmath>

namespace nodewise::solver {

namespace {

const amg::SparsificationOptions& options_of(const amg::Hierarchy<double>& hierarchy) {
  return hierarchy.options().sparsification.options<amg::SparsificationOptions>();
}

bool has_lost_entries(const amg::Hierarchy<double>& hierarchy) {
  return std::any_of(hierarchy.levels().begin(), hierarchy.levels().end(),
                     [](const amg::LevelInfo& info) { return info.sparsity != nullptr; });
}

/// Looks at the residual after every few iterations.
class Watch {
 public:
  Watch(const amg::SparsificationOptions& options, double relative)
      : options_(options), at_last_look_(relative) {}

  /// Whether the solve may go on; once it may not, that holds.
  bool operator()(int iteration, double relative) {
    if (iteration % options_.adaptive_iterations != 0) return !is_slow_;
    const double factor = std::pow(relative / at_last_look_, 1.0 / options_.adaptive_iterations);
    is_slow_ = is_slow_ || !(factor <= options_.adaptive_factor);
    at_last_look_ = relative;
    return !is_slow_;
  }
  bool is_slow() const { return is_slow_; }

 private:
  const amg::SparsificationOptions& options_;
  double at_last_look_;
  bool is_slow_ = false;
};

/// Appends a solve that went on where the others ended.
void append(solve::Report& total, solve::Report more) {
  if (total.history.empty()) {
    total = std::move(more);
    return;
  }
  more.iterations += total.iterations;
  more.seconds += total.seconds;
  total.history.insert(total.history.end(), more.history.begin() + 1, more.history.end());
  more.history = std::move(total.history);
  total = std::move(more);
}

}  // namespace

bool is_adaptive(const amg::Hierarchy<double>& hierarchy) {
  return hierarchy.options().sparsification->drops_entries && options_of(hierarchy).adaptive &&
         has_lost_entries(hierarchy);
}

solve::Report solve_adaptively(const SolveSetup& setup, const solve::Operator<double>& A,
                               std::span<const double> b, std::span<double> x,
                               const solve::Observer& observe, std::vector<EntriesBack>& events) {
  amg::Hierarchy<double>& hierarchy = *setup.hierarchy;
  const amg::SparsificationOptions& adaptive = options_of(hierarchy);
  solve::Report total;
  while (true) {
    const int done = total.iterations;
    solve::Options options = setup.options;
    options.max_iterations -= done;
    Watch watch(adaptive, total.history.empty() ? 1 : total.history.back());
    const bool watches = has_lost_entries(hierarchy);
    const auto hear = [&](int iteration, double relative) {
      const bool goes_on = observe(done + iteration, relative);
      return (!watches || watch(iteration, relative)) && goes_on;
    };
    int interval = adaptive.adaptive_iterations;
    if (observe.may_stop()) interval = std::min(interval, observe.interval());
    append(total, solve::solve_by<double>(setup.method, A, setup.preconditioner, b, x, options,
                                          solve::Observer(hear).agreed_every(interval)));
    const bool may_go_on = total.iterations < setup.options.max_iterations;
    if (total.outcome != solve::Outcome::interrupted || !watch.is_slow() || !may_go_on) break;
    events.push_back({0, total.iterations, hierarchy.put_entries_back(adaptive.adaptive_levels)});
  }
  return total;
}

}  // namespace nodewise::solver
