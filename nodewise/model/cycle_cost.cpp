#include "nodewise/model/cycle_cost.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/model/penalties.hpp"

namespace nodewise::model {

namespace {

constexpr double bytes_of_double = 8;

void check_job(const JobShape& job) {
  if (job.processes < 1 || job.processes_per_node < 1 || job.threads_per_process < 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a job of {} processes, {} a node, of {} threads is none",
                            job.processes, job.processes_per_node, job.threads_per_process));
  }
}

void check_work(std::span<const LevelWork> levels) {
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const LevelWork& w = levels[i];
    for (const double value :
         {w.unknowns, w.active_processes, w.solve.nonzeros_per_row, w.solve.sends, w.solve.elements,
          w.solve.messages, w.interpolation.nonzeros_per_row, w.interpolation.sends,
          w.interpolation.elements, w.interpolation.messages}) {
      if (value >= 0 && std::isfinite(value)) continue;
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("level {}: an amount of work is {}", i, value));
    }
  }
}

/// b_1 / b_j: how much slower a core is where j of them share the memory without a partition.
double slowdown_of_threads(const Machine& machine, int threads) {
  const auto& bandwidth = machine.thread_bandwidth;
  if (bandwidth.empty() || threads == 1) return 1;
  const auto enough = std::find_if(bandwidth.begin(), bandwidth.end(),
                                   [&](const ThreadBandwidth& b) { return b.threads >= threads; });
  const double of_threads =
      enough != bandwidth.end() ? enough->bytes_per_s : bandwidth.back().bytes_per_s;
  return bandwidth.front().bytes_per_s / of_threads;
}

/// The seconds of one kind of operation of a level, `times` over.
struct Operation {
  double computation_s = 0, latency_s = 0, bandwidth_s = 0;

  double add_to(LevelCost& level) const {
    level.computation_s += computation_s;
    level.latency_s += latency_s;
    level.bandwidth_s += bandwidth_s;
    return computation_s + latency_s + bandwidth_s;
  }
};

/// Costs the operations of one level.
class LevelModel {
 public:
  LevelModel(const Machine& machine, const JobShape& job, const Penalties& penalties,
             std::size_t level, const LevelWork& work)
      : machine_(machine), job_(job), penalties_(penalties), work_(work) {
    const double cores = 1.0 * job.processes * job.threads_per_process;
    cores_ = cores;
    s_per_flop_ = flop_s(machine, level, work.unknowns / cores * work.solve.nonzeros_per_row,
                         job.threads_per_process);
  }

  /// `times` products with `rows` rows of an operator: a multiplication and an addition for each
  /// nonzero, and its messages.
  Operation products(double times, double rows, const OperatorWork& op) const {
    const double active =
        work_.active_processes > 0 ? work_.active_processes : 1.0 * job_.processes;
    const double bytes = op.sends > 0 ? op.elements / op.sends * bytes_of_double : 0;
    const NetworkParameters net =
        network_parameters(machine_, penalties_, job_, active, op.messages, bytes);
    return {times * 2 * rows / cores_ * op.nonzeros_per_row * s_per_flop_,
            times * op.sends * net.latency_s, times * op.elements * net.s_per_double};
  }

 private:
  const Machine& machine_;
  const JobShape& job_;
  const Penalties& penalties_;
  const LevelWork& work_;
  double cores_ = 1;
  double s_per_flop_ = 0;
};

}  // namespace

double flop_s(const Machine& machine, std::size_t level, double nonzeros_per_core, int threads) {
  const auto& by_size = machine.s_per_flop_by_size;
  const auto& by_level = machine.s_per_flop_by_level;
  double seconds = 0;
  if (!by_size.empty()) {
    const auto fits = std::find_if(by_size.begin(), by_size.end(), [&](const FlopCost& cost) {
      return nonzeros_per_core <= cost.up_to_nonzeros;
    });
    seconds = fits != by_size.end() ? fits->s_per_flop : by_size.back().s_per_flop;
  } else if (!by_level.empty()) {
    seconds = by_level[std::min(level, by_level.size() - 1)];
  } else {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("machine {} has no times of floating-point operations "
                            "(computation.s_per_flop_by_size or .s_per_flop_by_level)",
                            machine.name));
  }
  return seconds * slowdown_of_threads(machine, threads);
}

NetworkParameters network_parameters(const Machine& machine, const Penalties& penalties,
                                     const JobShape& job, double active_processes, double messages,
                                     double bytes) {
  const double ranks_a_node =
      std::ceil(job.processes_per_node * active_processes / job.processes - 1e-12);
  const MessageParameters message =
      charged(machine, machine.parameters(Locality::other_node, bytes),
              charges(machine, penalties, {job.nodes(), messages, ranks_a_node}));
  return {message.latency_s, bytes_of_double / message.rate_bytes_per_s};
}

std::vector<LevelCost> cycle_cost(const Machine& machine, const JobShape& job,
                                  std::span<const LevelWork> levels, const Penalties& penalties) {
  check_job(job);
  check_work(levels);
  std::vector<LevelCost> costs;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const LevelModel level(machine, job, penalties, i, levels[i]);
    LevelCost& cost = costs.emplace_back();
    cost.smooth_s = level.products(3, levels[i].unknowns, levels[i].solve).add_to(cost);
    if (i + 1 < levels.size()) {
      cost.restrict_s =
          level.products(1, levels[i + 1].unknowns, levels[i].interpolation).add_to(cost);
    }
    if (i > 0) {
      cost.interpolate_s =
          level.products(1, levels[i - 1].unknowns, levels[i - 1].interpolation).add_to(cost);
    }
  }
  return costs;
}

double total_s(std::span<const LevelCost> levels) {
  double total = 0;
  for (const LevelCost& level : levels) total += level.total();
  return total;
}

}  // namespace nodewise::model
