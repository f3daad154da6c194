#include "nodewise/solver/tune.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "nodewise/advise/problem_facts.hpp"
#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/timer.hpp"
#include "nodewise/run/timed.hpp"
#include "nodewise/solver/method_choice.hpp"
#include "nodewise/solver/prepared_system.hpp"
#include "nodewise/solver/row_placement.hpp"
#include "nodewise/solver/solve_all.hpp"
#include "nodewise/solver/tune_candidates.hpp"

namespace nodewise::solver {

namespace {

/// A candidate that takes so many times the best time so far is given up.
constexpr double hopeless = 4;
/// But not before so many seconds: short times are noise.
constexpr double least_patience = 1;

/// What all trials have in common.
struct System {
  const RowPlacement& placement;
  std::shared_ptr<const Matrix> A;  ///< with the rows there
  std::span<const double> b;        ///< likewise
  const Problem& problem;
  const run::MatrixSummary& matrix;
};

/// Local, but for a sum over the ranks: what was set up takes.
void describe(const mpi::Comm& comm, const PreparedSystem& prepared, Trial& trial) {
  std::size_t bytes = 0;
  if (const amg::Hierarchy<double>* hierarchy = prepared.preconditioner.hierarchy) {
    trial.operator_complexity = hierarchy->operator_complexity();
    bytes += hierarchy->memory_bytes();
  }
  if (prepared.device != nullptr) {
    if (const offload::OwnSetup* own = prepared.device->own_setup()) {
      trial.operator_complexity = amg::complexity(own->levels, &amg::LevelInfo::nonzeros);
    }
    bytes += prepared.device->bytes();
  }
  trial.memory_bytes = mpi::sum(comm, static_cast<std::int64_t>(bytes));
}

/// Collective. One candidate, given up when its setup and solve take longer than `limit`.
void run_trial(const System& system, const Options& options, double limit, Trial& trial) {
  const mpi::Comm& comm = system.A->comm();
  const Choice<solve::KrylovMethod> method = choose_method(options, system.matrix);
  trial.method = method.name();
  check_method(*method, options);
  amg::ProblemInfo<double> info;
  if (options.method.preconditioner->is_multigrid) {
    info = system.placement.problem_info(system.problem, options, system.matrix.symmetric);
  }
  PreparedSystem prepared;
  RowFields fields = system.placement.fields(system.problem.fields);
  trial.setup = run::timed(
      comm, [&] { prepared.set_up(system.A, std::move(info), options, {}, std::move(fields)); });
  describe(comm, prepared, trial);
  std::vector<double> x(system.b.size(), 0.0);
  solve::Report report;
  std::vector<EntriesBack> entries_back;
  const Timer timer;
  const double left = limit - trial.setup;
  trial.solve = run::timed(comm, [&] {
    report = solve_all(
                 {prepared.A, prepared.map(), prepared.preconditioner.hierarchy, method,
                  options.krylov, prepared.device.get()},
                 system.b, x, 1,
                 [&](const RhsGroup&) -> solve::Observer {
                   return [&](int, double) { return timer.seconds() < left; };
                 },
                 entries_back)
                 .front();
  });
  trial.iterations = report.iterations;
  trial.converged = report.converged();
  if (trial.converged) {
    trial.runs = 1;
    trial.slowest = trial.total();
  }
  if (report.outcome == solve::Outcome::interrupted) {
    trial.reason = fmt::format("given up after {}", human_seconds(trial.total()));
  } else if (!report.converged()) {
    trial.reason = fmt::format("{}: {}", solve::to_string(report.outcome), report.diagnosis);
  }
}

/// Runs the trial; what makes it fail on every rank is its reason.
void try_candidate(const System& system, const Options& options, double limit, Trial& trial) {
  try {
    run_trial(system, options, limit, trial);
  } catch (const Error& error) {
    // MPI and defects may have left the ranks apart.
    if (error.code() == ErrorCode::mpi || error.code() == ErrorCode::internal) throw;
    trial.reason = error.what();
  }
}

void sort_trials(std::vector<Trial>& trials) {
  std::stable_sort(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) {
    if (a.converged != b.converged) return a.converged;
    return a.converged && a.total() < b.total();
  });
}

/// Takes what another run of the same candidate says.
void merge(const Trial& again, Trial& trial) {
  if (!again.converged) return;
  ++trial.runs;
  trial.slowest = std::max(trial.slowest, again.total());
  if (again.total() >= trial.total()) return;
  trial.setup = again.setup;
  trial.solve = again.solve;
}

/// Collective. Runs those again that are near the best, while the time lasts: a ranking by one run
/// each is one of noise.
void repeat_the_best(const System& system, const std::vector<Candidate>& candidates,
                     const TuneOptions& limits, TuneResult& result) {
  constexpr double near = 1.3;
  constexpr int most_runs = 3;
  const mpi::Comm& comm = system.A->comm();
  const Timer timer;
  for (int run = 1; run < most_runs; ++run) {
    const double best = result.best() == nullptr ? 0 : result.best()->total();
    for (Trial& trial : result.trials) {
      const auto candidate =
          std::find_if(candidates.begin(), candidates.end(),
                       [&](const Candidate& c) { return c.options == trial.options; });
      const double passed = result.seconds + mpi::max(comm, timer.seconds());
      const double left = limits.max_seconds - passed;
      if (!trial.converged || trial.total() > near * best || candidate == candidates.end() ||
          left < 2 * trial.slowest) {
        continue;
      }
      Trial again;
      try_candidate(system, candidate->all, left, again);
      merge(again, trial);
    }
  }
  result.seconds += mpi::max(comm, timer.seconds());
}

/// Any candidate may have the points that were found in the pattern.
Options with_whole_points(Options options, int unknowns) {
  if (!options.has("unknowns")) options.amg.unknowns = unknowns;
  return options;
}

/// Of those that are near the best by less than what repetition varies.
void mark_ties(TuneResult& result) {
  const Trial* best = result.best();
  for (Trial& trial : result.trials) {
    if (best == nullptr || &trial == best || !trial.converged) continue;
    trial.is_tied = trial.total() <= std::max(best->slowest, best->total() * (1 + trial.spread()));
  }
}

}  // namespace

std::span<const Field<TuneOptions>> tune_fields() {
  static const std::vector<Field<TuneOptions>> fields = {
      field("max_seconds", &TuneOptions::max_seconds,
            "begin no candidate after this time; an iteration of one in progress is its last", 0.0)
          .common(),
      field("max_candidates", &TuneOptions::max_candidates,
            "the most combinations of options that are tried", 1, 1000)
          .common(),
  };
  return fields;
}

TuneResult tune(const std::shared_ptr<const Matrix>& A, std::span<const double> b,
                const Options& options, const TuneOptions& limits, const Problem& problem,
                const run::MatrixSummary& matrix, const TuneObservers& observe) {
  const mpi::Comm& comm = A->comm();
  offload::require_device(comm, *options.method.device);
  const advise::ProblemFacts facts = advise::problem_facts(*A, matrix.symmetric);
  const std::vector<Candidate> candidates =
      tune_candidates(options, problem, facts, limits.max_candidates);
  const RowPlacement placement(*A, with_whole_points(options, facts.unknowns));
  const std::vector<double> b_there = placement.there(b);
  const System system = {placement, placement.there(A), b_there, problem, matrix};
  TuneResult result;
  result.partition_decision = placement.partition_decision();
  result.placement_gain = placement.placement_gain();
  double best = std::numeric_limits<double>::infinity();
  const Timer timer;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    // The ranks' clocks differ; the slowest decides for all.
    const double left = limits.max_seconds - mpi::max(comm, timer.seconds());
    if (left <= 0 && k > 0) {
      result.not_tried = static_cast<int>(candidates.size() - k);
      break;
    }
    Trial trial;
    trial.options = candidates[k].options;
    if (observe.begin) observe.begin(k, candidates.size(), trial);
    const double patience = std::max(least_patience, hopeless * best);
    try_candidate(system, candidates[k].all, std::min(left, patience), trial);
    if (trial.converged) best = std::min(best, trial.total());
    if (observe.end) observe.end(k, candidates.size(), trial);
    result.trials.push_back(std::move(trial));
  }
  result.seconds = mpi::max(comm, timer.seconds());
  sort_trials(result.trials);
  repeat_the_best(system, candidates, limits, result);
  sort_trials(result.trials);
  mark_ties(result);
  return result;
}

}  // namespace nodewise::solver
