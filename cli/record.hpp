// All that is known of one solve: what the summary prints and the JSON report holds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nodewise/advise/diagnosis.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/mpi/comm.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/roofline/solve_traffic.hpp"
#include "nodewise/run/environment.hpp"
#include "nodewise/solve/krylov.hpp"

#include "cli/exit_code.hpp"

namespace nodewise::cli {

using Machine = run::Environment;

struct MatrixFacts {
  std::string source;  ///< the file, or the model problem
  std::string format;  ///< of the file; empty for a model problem
  bool graph_laplacian = false;
  GlobalIndex rows = 0;
  GlobalIndex nonzeros = 0;
  GlobalIndex duplicates = 0;  ///< entries of the file added to an earlier one in the same place
  bool symmetric = false;
  bool negative = false;  ///< symmetric, and every diagonal entry is below zero
};

/// Where the right-hand side came from.
enum class RhsKind {
  file,
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

/// The longest over the ranks, in seconds.
struct Times {
  double read = 0;
  double setup = 0;
  double solve = 0;
};

struct MemoryUse {
  std::int64_t peak_max_bytes = 0;  ///< of the rank that held most
  std::int64_t peak_sum_bytes = 0;
};

/// An algorithm that a communicator uses, and why.
struct AlgorithmChoice {
  std::string algorithm;  ///< the one used, never "automatic"
  bool chosen = false;    ///< by the library; otherwise as the options say
  std::string reason;
};

struct CollectiveChoices {
  AlgorithmChoice dot_products;
  AlgorithmChoice sparse_exchange;  ///< that finds the pattern of the finest matrix
};

/// What --preset came to.
struct PresetRecord {
  std::string name;
  int version = 0;
  std::string rule;    ///< that chose it; empty where it was named
  std::string reason;  ///< of the rule
  /// What it set, and what of it was given otherwise: names of options and the preset's values.
  std::vector<std::pair<std::string, std::string>> set, kept;
  bool set_solver = false;
};

/// An option that was given and has no effect beside the others.
struct IdleOption {
  std::string name;   ///< as on the command line, without dashes before it
  std::string needs;  ///< of the others, to have one
};

struct SolveRecord {
  std::vector<std::string> command_line;
  PresetRecord preset;
  std::vector<IdleOption> idle;
  Machine machine;
  MatrixFacts matrix;
  RhsKind rhs = RhsKind::ones;
  int n_rhs = 1;         ///< right-hand sides
  bool at_once = false;  ///< they are solved for together, not one after another
  std::string preconditioner;
  solve::Method method = solve::Method::cg;
  bool solver_was_chosen = false;  ///< by the symmetry of the matrix
  CollectiveChoices collectives;
  std::vector<amg::LevelInfo> levels;  ///< empty without multigrid
  double grid_complexity = 0;
  double operator_complexity = 0;
  amg::PrecisionChoice precision;  ///< of the cycle
  std::vector<advise::Finding> findings;
  std::vector<solve::Report> reports;  ///< one for each right-hand side
  std::size_t worst = 0;               ///< the one that fared worst: worst_of()
  std::optional<SolutionError> error;
  Times times;
  std::vector<mpi::SharedAccount> setup_accounts, solve_accounts;
  std::optional<roofline::SolveTraffic> traffic;  ///< where --profile asks for it
  MemoryUse memory;
  std::string solution_file;  ///< empty where none was written
  ExitCode exit_code = ExitCode::success;

  const solve::Report& report() const { return reports.at(worst); }
  bool converged() const { return report().converged(); }
};

/// The first of the solves that did not converge, or else, of those with the most iterations, the
/// one with the largest residual.
std::size_t worst_of(std::span<const solve::Report> reports);

/// The geometric mean of the residual's reduction in an iteration; NaN without iterations.
double average_convergence_factor(const solve::Report& report);

}  // namespace nodewise::cli
