// What a multigrid V-cycle costs, level by level: the model of Gahvari, Gropp, Jordan, Schulz and
// Yang, "Algebraic multigrid on a dragonfly network", 2014, section 4.1.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nodewise/model/machine.hpp"
#include "nodewise/model/scenario.hpp"

namespace nodewise::model {

/// One operator of a level: how much of it there is, and what the busiest rank sends for it.
struct OperatorWork {
  double nonzeros_per_row = 0;  ///< s_i
  double sends = 0;             ///< p_i, most messages that a rank sends
  double elements = 0;          ///< n_i, most doubles that a rank sends
  double messages = 0;          ///< m, messages of all ranks
};

/// What the model knows of one level.
struct LevelWork {
  double unknowns = 0;          ///< C_i
  OperatorWork solve;           ///< A_i
  OperatorWork interpolation;   ///< P_i, to this level from the next coarser one; none on the last
  double active_processes = 0;  ///< P_i, those with unknowns; 0: all
};

/// How the job is spread over the machine. There are processes * threads_per_process cores at
/// work, each with its share of the rows.
struct JobShape {
  int processes = 1;
  int processes_per_node = 1;
  int threads_per_process = 1;

  int nodes() const { return (processes - 1) / processes_per_node + 1; }
};

/// Seconds of one level, by operation.
struct LevelCost {
  double smooth_s = 0;
  double restrict_s = 0;
  double interpolate_s = 0;
  double computation_s = 0;  ///< counted in those above
  double latency_s = 0;      ///< likewise
  double bandwidth_s = 0;    ///< likewise

  double total() const { return smooth_s + restrict_s + interpolate_s; }
};

/// Local. t_i of a level: by s_per_flop_by_size for the nonzeros a core holds, where the machine
/// has that; otherwise by level. Times b_1 / b_j for j threads, where it has thread_bandwidth;
/// between two numbers of threads that were measured, that of the larger one. Throws
/// invalid_argument where the machine has no floating-point times.
double flop_s(const Machine& machine, std::size_t level, double nonzeros_per_core, int threads);

/// alpha and beta of a message between nodes, per double, with the penalties of one operation.
struct NetworkParameters {
  double latency_s = 0;
  double s_per_double = 0;
};

/// Local. alpha and beta are those of messages to other nodes of 8 bytes and of `bytes`. Terms of
/// a network whose shape is not known are left out; without hardware_bytes_per_s, B_max is B.
NetworkParameters network_parameters(const Machine& machine, const Penalties& penalties,
                                     const JobShape& job, double active_processes, double messages,
                                     double bytes);

/// Local. Every level of a V-cycle with one sweep before and one after the coarse correction:
///   T_smooth   = 6 C_i/P s_i t_i + 3 (p_i alpha + n_i beta)
///   T_restrict = 2 C_{i+1}/P s^_i t_i + p^_i alpha + n^_i beta          (not on the last level)
///   T_interp   = 2 C_{i-1}/P s^_{i-1} t_i + p^_{i-1} alpha + n^_{i-1} beta  (not on the first)
/// with s^, p^, n^ those of interpolation. The last level is costed as if it were smoothed, though
/// most solvers do something else there. Throws invalid_argument for a job that is none, work that
/// is negative or not finite, and as flop_s().
std::vector<LevelCost> cycle_cost(const Machine& machine, const JobShape& job,
                                  std::span<const LevelWork> levels, const Penalties& penalties);

/// The sum over the levels.
double total_s(std::span<const LevelCost> levels);

}  // namespace nodewise::model
