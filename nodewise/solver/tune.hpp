// Trying combinations of options, to find which solves a system fastest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/partition/partition_decision.hpp"
#include "nodewise/partition/placement_method.hpp"
#include "nodewise/run/records.hpp"
#include "nodewise/solver/options.hpp"
#include "nodewise/solver/problem.hpp"

namespace nodewise::solver {

/// How much may be tried.
struct TuneOptions {
  double max_seconds = 60;
  int max_candidates = 16;
};

std::span<const Field<TuneOptions>> tune_fields();

/// How one candidate did.
struct Trial {
  NamedValues options;  ///< beside those that were given
  std::string method;   ///< Krylov; empty where it was not chosen
  bool converged = false;
  std::string reason;  ///< why it did not converge
  double setup = 0;    ///< seconds, the longest over the ranks
  double solve = 0;
  int iterations = 0;
  double operator_complexity = 0;  ///< 0 without multigrid
  std::int64_t memory_bytes = 0;   ///< of the hierarchy, on all ranks

  int runs = 0;          ///< that converged; the times are of the fastest
  double slowest = 0;    ///< setup and solve of the slowest
  bool is_tied = false;  ///< with the best: their times differ by less than those of several runs

  double total() const { return setup + solve; }
  /// By how much the slowest of several runs takes longer than the fastest, of its time.
  double spread() const { return runs > 1 ? slowest / total() - 1 : 0; }
};

struct TuneResult {
  std::vector<Trial> trials;  ///< those that converged by time, then the others
  int not_tried = 0;          ///< for lack of time
  double seconds = 0;         ///< of all trials
  /// Of the rows that all trials solve with, where a partition was chosen, and where its parts were
  /// placed.
  std::optional<partition::PartitionDecision> partition_decision;
  std::optional<partition::PlacementGain> placement_gain;

  /// The fastest; null where none converged.
  const Trial* best() const {
    return trials.empty() || !trials.front().converged ? nullptr : &trials.front();
  }
};

/// Who looks on: called on every rank before a trial, the k-th of n, and after it.
struct TuneObservers {
  std::function<void(std::size_t k, std::size_t n, const Trial&)> begin, end;
};

/// Collective. Solves A x = b, from x = 0, by one combination of options after the other: first
/// what the rule of preset `auto` chooses, then the defaults, then others. None changes an option
/// that was given; the preset of `options` is not heeded. A trial is given up when it takes several
/// times as long as the best. Those near the best run up to three times, while the time lasts.
/// `matrix` is what summarize() says of A. What makes a trial fail on every rank is its reason;
/// throws only what may have left the ranks apart.
TuneResult tune(const std::shared_ptr<const matrix::DistMatrix<double>>& A,
                std::span<const double> b, const Options& options, const TuneOptions& limits,
                const Problem& problem, const run::MatrixSummary& matrix,
                const TuneObservers& observe = {});

}  // namespace nodewise::solver
