// Whether this MPI moves data while the program computes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "nodewise/calibrate/measure.hpp"
#include "nodewise/calibrate/ping_pong.hpp"

namespace nodewise::calibrate {

namespace {

constexpr int most_overlap_repeats = 21;
constexpr std::array<double, 5> sizes = {1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 22};

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
    for (const double bytes : sizes) record.overlap.push_back({direction, bytes, {}, {}, {}});
  }
  const bool works = speaks && talk.is_first();
  const double seconds_per_step = stopwatch.longest(works ? measure_step() : 0.0);
  // As much work as the message takes by itself; the first one takes longer.
  const double most_seconds = stopwatch.part_seconds() / 10;
  std::vector<bool> is_left_out(record.overlap.size(), false);  // what takes too much of the time
  std::vector<std::int64_t> steps(record.overlap.size(), std::numeric_limits<std::int64_t>::max());
  const auto learn = [&](std::size_t k, double t) {
    if (k % n_kinds != message_only) return;
    is_left_out[k / n_kinds] = t > most_seconds;
    const auto wanted = static_cast<std::int64_t>(t / seconds_per_step);
    steps[k / n_kinds] = std::clamp<std::int64_t>(wanted, 1, steps[k / n_kinds]);
  };
  const auto measure = [&](std::size_t k) {
    const std::size_t what = k / n_kinds;
    if (is_left_out[what]) return 0.0;
    const bool receives = record.overlap[what].direction == "receive";
    return speaks ? run(talk, static_cast<Kind>(k % n_kinds), receives, record.overlap[what].bytes,
                        steps[what])
                  : 0.0;
  };
  measure_in_turn(stopwatch, n_kinds * record.overlap.size(), most_overlap_repeats, measure, learn,
                  [&](std::size_t k, double t) {
                    learn(k, t);
                    times_of(record.overlap[k / n_kinds], k % n_kinds).seconds.push_back(t);
                  });
}

}  // namespace nodewise::calibrate
