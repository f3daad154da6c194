// All that is known of a run of `nodewise tune`.
#pragma once

#include <string>
#include <vector>

#include "cli/record.hpp"
#include "cli/tune_candidates.hpp"

namespace nodewise::cli {

/// How one candidate did.
struct Trial {
  OptionList options;
  std::string command;  ///< the words to paste
  std::string method;   ///< Krylov; empty where it was not chosen
  bool converged = false;
  std::string reason;  ///< why it did not converge
  double setup = 0;    ///< seconds, the longest over the ranks
  double solve = 0;
  int iterations = 0;
  double operator_complexity = 0;  ///< 0 without multigrid
  std::int64_t memory_bytes = 0;   ///< of the hierarchy, on all ranks

  double total() const { return setup + solve; }
};

struct TuneRecord {
  std::vector<std::string> command_line;
  Machine machine;
  MatrixFacts matrix;
  std::vector<Trial> trials;  ///< those that converged by time, then the others
  int not_tried = 0;          ///< for lack of time
  double seconds = 0;         ///< of all trials
  ExitCode exit_code = ExitCode::success;

  /// The fastest; null where none converged.
  const Trial* best() const {
    return trials.empty() || !trials.front().converged ? nullptr : &trials.front();
  }
};

/// Local. The command line that solves with these options: the words of `nodewise tune` but for
/// what concerns tuning and reports, quoted for a shell.
std::string command_to_paste(const TuneRecord& record, const OptionList& options);

std::string tune_json(const TuneRecord& record, const Settings& settings);

}  // namespace nodewise::cli
