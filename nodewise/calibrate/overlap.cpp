// Whether this MPI moves data while the program computes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "nodewise/calibrate/measure.hpp"
#include "nodewise/calibrate/ping_pong.hpp"

namespace nodewise::calibrate {

namespace {

constexpr int most_overlap_repeats = 21;
/// The last is that of listing 2.
constexpr std::array<double, 6> sizes = {1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 22, 80e6};
/// From here on a message takes as long as its bytes do.
constexpr double least_for_rates = 1 << 22;
/// The work of a sweep, as parts of what the message takes alone.
constexpr std::array<double, 7> swept = {0, 0.25, 0.5, 0.75, 1, 1.5, 2};

/// Keeps the compiler from knowing what the work begins with, and that nobody needs its result.
volatile double number_at_work = 0.5;

/// Work in registers only.
void work_in_registers(std::int64_t steps) {
  double x = number_at_work;
  for (std::int64_t k = 0; k < steps; ++k) x = x * 0.999999 + 1e-6;
  number_at_work = x;
}

/// Seconds of a step, the least of some trials: others may want the core, too.
double measure_step() {
  constexpr std::int64_t steps = 20'000;
  double least = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < 9; ++trial) {
    const Timer timer;
    work_in_registers(steps);
    least = std::min(least, timer.seconds() / steps);
  }
  return std::max(least, 1e-12);
}

enum Kind : std::size_t { message_only, work_only, both_at_once, n_kinds };

/// Listing 2: a nonblocking message, work, and the wait for the message. The sender learns from an
/// answer that its message is there.
double run(Talk& talk, Kind kind, bool receives, double bytes, std::int64_t steps) {
  talk.meet();
  const Timer timer;
  if (!talk.is_first()) {
    if (kind == work_only) return 0;
    if (receives) {
      talk.send(bytes, 0);
    } else {
      talk.receive(bytes, 0);
      talk.send(0, 1);
    }
    return 0;
  }
  if (kind != work_only) {
    if (receives) {
      talk.start_receive(bytes, 0);
    } else {
      talk.start_receive(0, 1);
      talk.start_send(bytes, 0);
    }
  }
  if (kind != message_only) work_in_registers(steps);
  if (kind != work_only) talk.wait();
  return timer.seconds();
}

Repeats& times_of(OverlapTimes& times, std::size_t kind) {
  if (kind == message_only) return times.message;
  return kind == work_only ? times.work : times.both;
}

/// What messages and work take alone and together, for every size and direction.
class OverlapMeasurement {
 public:
  /// Collective.
  OverlapMeasurement(Stopwatch& stopwatch, Talk& talk, bool speaks, Record& record)
      : stopwatch_(stopwatch),
        talk_(talk),
        speaks_(speaks),
        points_(record.overlap),
        most_seconds_(stopwatch.part_seconds() / 10),
        is_left_out_(points_.size(), false),
        steps_(points_.size(), std::numeric_limits<std::int64_t>::max()) {
    seconds_per_step_ = stopwatch.longest(speaks && talk.is_first() ? measure_step() : 0.0);
  }

  /// Collective. As much work as the message takes by itself; the first one takes longer.
  void measure_points() {
    const auto learn = [&](std::size_t k, double t) {
      if (k % n_kinds != message_only) return;
      leave_out_long_ones(k / n_kinds, t);
      const auto wanted = static_cast<std::int64_t>(t / seconds_per_step_);
      steps_[k / n_kinds] = std::clamp<std::int64_t>(wanted, 1, steps_[k / n_kinds]);
    };
    const auto measure = [&](std::size_t k) {
      const std::size_t point = k / n_kinds;
      if (is_left_out_[point]) return 0.0;
      return run_point(point, static_cast<Kind>(k % n_kinds), steps_[point]);
    };
    measure_in_turn(stopwatch_, n_kinds * points_.size(), most_overlap_repeats, measure, learn,
                    [&](std::size_t k, double t) {
                      learn(k, t);
                      times_of(points_[k / n_kinds], k % n_kinds).seconds.push_back(t);
                    });
  }

  /// Collective. The curve of listing 2: the largest messages that leave time for it, and more and
  /// more work.
  void sweep_work() {
    std::vector<std::size_t> largest;
    for (const char* direction : {"receive", "send"}) {
      std::optional<std::size_t> last;
      for (std::size_t k = 0; k < points_.size(); ++k) {
        if (points_[k].direction == direction && !is_left_out_[k]) last = k;
      }
      if (last) largest.push_back(*last);
    }
    for (const std::size_t point : largest) {
      for (const double part : swept) {
        const double steps = part * static_cast<double>(steps_[point]);
        points_[point].sweep.push_back({steps * seconds_per_step_, {}});
      }
    }
    measure_in_turn(
        stopwatch_, largest.size() * swept.size(), most_overlap_repeats,
        [&](std::size_t k) {
          const std::size_t point = largest[k / swept.size()];
          const double steps = swept[k % swept.size()] * static_cast<double>(steps_[point]);
          return run_point(point, both_at_once, static_cast<std::int64_t>(steps));
        },
        [](std::size_t, double) {},
        [&](std::size_t k, double t) {
          points_[largest[k / swept.size()]].sweep[k % swept.size()].both.seconds.push_back(t);
        });
  }

 private:
  /// A message that takes too long, and longer ones that would by their bytes.
  void leave_out_long_ones(std::size_t point, double seconds) {
    for (std::size_t k = point; k < points_.size(); ++k) {
      if (points_[k].direction != points_[point].direction) break;
      if (seconds * points_[k].bytes / points_[point].bytes > most_seconds_ &&
          (k == point || points_[point].bytes >= least_for_rates)) {
        is_left_out_[k] = true;
      }
    }
  }

  double run_point(std::size_t point, Kind kind, std::int64_t steps) {
    if (!speaks_) return 0;
    return run(talk_, kind, points_[point].direction == "receive", points_[point].bytes, steps);
  }

  Stopwatch& stopwatch_;
  Talk& talk_;
  bool speaks_;
  std::vector<OverlapTimes>& points_;
  double most_seconds_;
  double seconds_per_step_ = 0;
  std::vector<bool> is_left_out_;  // what takes too much of the time
  std::vector<std::int64_t> steps_;
};

}  // namespace

void measure_overlap(Stopwatch& stopwatch, Record& record) {
  stopwatch.begin("progress while computing", MeasureWeights::overlap);
  const mpi::Topology& topology = stopwatch.comm().topology();
  std::vector<RankPair> pairs = pairs_of(topology, "other_node");
  std::string locality;
  if (pairs.empty()) pairs = any_pair(topology, locality);
  if (pairs.empty()) {
    record.not_measured.push_back({"progress while computing", "needs 2 ranks"});
    return;
  }
  Talk talk(stopwatch.comm(), sizes.back());
  const bool speaks = talk.join({pairs.front()});
  for (const char* direction : {"receive", "send"}) {
    for (const double bytes : sizes) record.overlap.push_back({direction, bytes, {}, {}, {}, {}});
  }
  OverlapMeasurement measurement(stopwatch, talk, speaks, record);
  measurement.measure_points();
  stopwatch.begin("progress by work", MeasureWeights::overlap_sweep);
  measurement.sweep_work();
}

}  // namespace nodewise::calibrate
