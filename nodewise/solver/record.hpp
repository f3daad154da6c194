// All that is known of one solve: what a summary prints and a JSON report holds.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nodewise/advise/diagnosis.hpp"
#include "nodewise/amg/cycle/precision_choice.hpp"
#include "nodewise/amg/setup/level_info.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/mpi/memory.hpp"
#include "nodewise/partition/partition_decision.hpp"
#include "nodewise/run/environment.hpp"
#include "nodewise/run/records.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solver/options.hpp"

namespace nodewise::solver {

/// Where the right-hand side came from.
enum class RhsKind {
  given,  ///< by the caller
  file,
  problem,     ///< that of the model problem
  random,      ///< standard normal
  ones,        ///< A times ones
  consistent,  ///< A times random numbers, where A times ones vanishes
};
const char* to_string(RhsKind kind) noexcept;

/// The error against a known solution.
struct SolutionError {
  double relative = 0;            ///< |x - x*| / |x*|, 2-norms
  bool modulo_constants = false;  ///< the means were subtracted first
};

/// What the option `preset` came to.
struct PresetRecord {
  std::string name;
  std::string rule;       ///< that chose it; empty where it was named
  std::string reason;     ///< of the rule
  NamedValues set, kept;  ///< what it set, and the preset's values of what was given otherwise
  bool set_solver = false;
  std::vector<PresetChoice> ways_out = {};  ///< what `auto` tries where this one fails
};

/// What was tried before: a preset that `auto` chose, and that did not do.
struct Attempt {
  std::string preset, preconditioner;
  std::string method;   ///< the Krylov method; empty where the setup was refused
  std::string why;      ///< it was given up
  int iterations = 0;   ///< of the solve
  double residual = 1;  ///< that it left, relative
};

/// A device that solves.
struct DeviceRecord {
  std::string name;                      ///< of the method
  NamedValues set;                       ///< what it needs and was not given
  std::int64_t max_bytes = 0;            ///< of its memory, for the rank that has most there
  std::vector<offload::WayRecord> ways;  ///< of each level's data to other ranks
};

/// An option that was given and has no effect beside the others.
struct UnusedOption {
  std::string name;
  std::string needs;  ///< of the others, to have one
};

/// Levels of a hierarchy that got entries back during a solve.
struct EntriesBack {
  int rhs = 0;        ///< the right-hand side, or the first of those that are solved for at once
  int iteration = 0;  ///< after so many
  std::vector<std::size_t> levels;
};

struct SolveRecord {
  Options options;  ///< as the solve used them: given, set by the preset, or defaults
  PresetRecord preset;
  std::vector<Attempt> attempts;       ///< in their order
  std::optional<DeviceRecord> device;  ///< none: the host's own methods solve
  std::vector<UnusedOption> unused;
  run::Environment machine;
  run::MatrixSummary matrix;
  RhsKind rhs = RhsKind::given;
  int n_rhs = 1;         ///< right-hand sides
  bool at_once = false;  ///< they are solved for together, not one after another
  std::string preconditioner;
  std::string preconditioner_text;  ///< what it came to; empty: nothing to tell
  Choice<solve::KrylovMethod> method;
  bool solver_was_chosen = false;  ///< by the symmetry of the matrix
  run::CollectiveChoices collectives;
  std::optional<partition::PartitionDecision> partition_decision;  ///< of partition automatic
  /// What the placement of the partition's parts gained, where one was asked for.
  std::optional<partition::PlacementGain> placement_gain;
  std::vector<amg::LevelInfo> levels;  ///< empty without multigrid
  double grid_complexity = 0;
  double operator_complexity = 0;
  amg::PrecisionChoice precision;  ///< of the cycle
  std::vector<advise::Finding> findings;
  std::vector<solve::Report> reports;  ///< one for each right-hand side
  std::vector<EntriesBack> entries_back;
  std::size_t worst = 0;               ///< the one that fared worst: worst_of()
  std::optional<SolutionError> error;  ///< where the solution is known
  run::Times times;
  std::vector<mpi::SharedAccount> setup_accounts, solve_accounts;
  mpi::MemoryUse memory;

  /// Of the right-hand side that fared worst.
  const solve::Report& report() const { return reports.at(worst); }
  bool converged() const { return report().converged(); }
  int iterations() const { return report().iterations; }
};

/// The first of the solves that did not converge, or else, of those with the most iterations, the
/// one with the largest residual.
std::size_t worst_of(std::span<const solve::Report> reports);

/// The geometric mean of the residual's reduction in an iteration; NaN without iterations.
double average_convergence_factor(const solve::Report& report);

}  // namespace nodewise::solver
