// The time that measurements may take, and the one way in which ranks agree on what they measured.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nodewise/base/timer.hpp"
#include "nodewise/calibrate/record.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::calibrate {

/// Told of every part that begins: the seconds since the start, and its name.
using PartObserver = std::function<void(double seconds, const std::string& part)>;

/// Parts of the measurement share the time that is left in proportion to their weights. What a rank
/// knows of the time is what all have agreed on last, so that no rank goes on alone.
class Stopwatch {
 public:
  Stopwatch(std::shared_ptr<const mpi::Comm> comm, double seconds, double total_weight,
            PartObserver observe = {});

  const mpi::Comm& comm() const { return *comm_; }
  const std::shared_ptr<const mpi::Comm>& shared_comm() const { return comm_; }

  /// Local. Starts a part; what the parts before have not used is shared by it and those to come.
  void begin(const std::string& part, double weight);
  /// Local. The time that the part was given.
  double part_seconds() const { return end_ - begin_; }
  /// Local; the same on every rank.
  bool is_time_left() const { return now_ < end_; }
  /// Collective. The largest of the ranks' numbers. Ranks that wait leave their core to those that
  /// measure. One reduction.
  double longest(double mine);
  /// Local. Time since the beginning, as of the last longest().
  double elapsed() const { return now_; }

 private:
  std::shared_ptr<const mpi::Comm> comm_;
  PartObserver observe_;
  Timer timer_;
  double seconds_;
  double weight_left_;
  double now_ = 0;
  double begin_ = 0;
  double end_ = 0;
};

/// Collective. Measures `count` things in turn, again and again, so that what disturbs the machine
/// for a while disturbs all of them: at least once each, after one time more to warm up, then until
/// the part's time is up or each was measured `most_repeats` times. measure(k) is collective, and
/// gives what this rank has measured, 0 where it only waits; the longest goes to warm_up(k, t) the
/// first time and to store(k, t) then.
void measure_in_turn(Stopwatch& stopwatch, std::size_t count, int most_repeats,
                     const std::function<double(std::size_t)>& measure,
                     const std::function<void(std::size_t, double)>& warm_up,
                     const std::function<void(std::size_t, double)>& store);

}  // namespace nodewise::calibrate
