// Many messages at a time: queues, contention, and what a message costs the processors.
#include <algorithm>
#include <cmath>

#include "nodewise/calibrate/measure.hpp"
#include "nodewise/calibrate/ping_pong.hpp"

namespace nodewise::calibrate {

namespace {

constexpr int most_volume_repeats = 21;
constexpr int most_messages = 2048;
constexpr double message_bytes = 8;

/// HighVolumePingPong for 1, 2, 4, ... messages, until one takes too large a part of the time.
std::vector<VolumeTimes> measure_volume(Stopwatch& stopwatch, const std::vector<RankPair>& pairs,
                                        bool reversed_too) {
  Talk talk(stopwatch.comm(), message_bytes * most_messages);
  const bool speaks = talk.join(pairs);
  const auto run = [&](int n, bool reversed) {
    return speaks ? talk.high_volume(n, message_bytes, reversed) : 0.0;
  };
  std::vector<VolumeTimes> volumes;
  const double most_seconds = stopwatch.part_seconds() / 60;
  for (int n = 1; n <= most_messages; n *= 2) {
    const double t = stopwatch.longest(run(n, reversed_too));
    if (n > 8 && 2 * t > most_seconds) break;
    volumes.push_back({n, {}, {}});
  }
  const std::size_t ways = reversed_too ? 2 : 1;
  measure_in_turn(
      stopwatch, ways * volumes.size(), most_volume_repeats,
      [&](std::size_t k) { return run(volumes[k / ways].messages, k % ways == 1); },
      [](std::size_t, double) {},
      [&](std::size_t k, double t) {
        VolumeTimes& volume = volumes[k / ways];
        (k % ways == 1 ? volume.reversed : volume.in_order).seconds.push_back(t);
      });
  return volumes;
}

/// The time of posting a message, on one side, and of taking one that has arrived, on the other.
struct Ends {
  double send = 0;
  double receive = 0;
};

Ends measure_ends(Talk& talk) {
  constexpr int n = 32;
  Ends ends;
  talk.meet();
  const Timer timer;
  if (talk.is_first()) {
    for (int k = 0; k < n; ++k) talk.start_send(message_bytes, k);
    ends.send = timer.seconds() / n;
    talk.wait();
    talk.send(message_bytes, n);
    talk.meet();
    return ends;
  }
  talk.receive(message_bytes, n);  // behind all others: they are here
  const Timer receiving;
  for (int k = 0; k < n; ++k) talk.receive(message_bytes, k);
  ends.receive = receiving.seconds() / n;
  talk.meet();
  return ends;
}

void measure_overheads_of(Stopwatch& stopwatch, const std::vector<RankPair>& pairs,
                          OverheadTimes& overheads) {
  Talk talk(stopwatch.comm(), 64 * message_bytes);
  const bool speaks = talk.join(pairs);
  double receive = 0;
  const auto measure = [&](std::size_t) {
    const Ends ends = speaks ? measure_ends(talk) : Ends{};
    receive = stopwatch.longest(ends.receive);
    return ends.send;
  };
  measure_in_turn(
      stopwatch, 1, most_volume_repeats, measure, [](std::size_t, double) {},
      [&](std::size_t, double t) {
        overheads.send.seconds.push_back(t);
        if (receive > 0) overheads.receive.seconds.push_back(receive);
      });
}

}  // namespace

void measure_queue(Stopwatch& stopwatch, Record& record) {
  const mpi::Topology& topology = stopwatch.comm().topology();
  const std::vector<RankPair> far = pairs_of(topology, "other_node");
  stopwatch.begin("queue search", MeasureWeights::queue * (far.empty() ? 1 : 0.6));
  const std::vector<RankPair> pairs = any_pair(topology, record.queue_locality);
  if (pairs.empty()) {
    record.not_measured.push_back({"queue search", "needs 2 ranks"});
    return;
  }
  record.queue = measure_volume(stopwatch, pairs, true);
  if (far.empty()) return;
  stopwatch.begin("messages in a row between nodes", MeasureWeights::queue * 0.4);
  record.far_volume = measure_volume(stopwatch, {far.front()}, false);
}

void measure_contention(Stopwatch& stopwatch, Record& record) {
  stopwatch.begin("contention", MeasureWeights::contention);
  const mpi::Topology& topology = stopwatch.comm().topology();
  if (topology.n_nodes() < 4) {
    record.not_measured.push_back({"contention", "needs 4 nodes"});
    return;
  }
  const std::vector<RankPair> alone = pairs_between(topology, 0, 2);
  std::vector<RankPair> together = pairs_between(topology, 1, 3);
  together.insert(together.begin(), alone.begin(), alone.end());
  for (const int n : {1, 4, 16}) {
    for (const double bytes : {1024.0, 16384.0, 65536.0}) {
      const double on_link = static_cast<double>(together.size()) * n * bytes;
      record.contention.push_back({n, bytes, on_link, {}, {}});
    }
  }
  Talk talk(stopwatch.comm(), 16 * 65536.0);
  const auto measure = [&](std::size_t k) {
    const ContentionTimes& what = record.contention[k / 2];
    const bool speaks = talk.join(k % 2 == 0 ? alone : together);
    mpi::check(MPI_Barrier(stopwatch.comm().get()), "MPI_Barrier");
    return speaks ? talk.high_volume(what.messages, what.bytes, false) : 0.0;
  };
  measure_in_turn(
      stopwatch, 2 * record.contention.size(), most_volume_repeats, measure,
      [](std::size_t, double) {},
      [&](std::size_t k, double t) {
        ContentionTimes& times = record.contention[k / 2];
        (k % 2 == 0 ? times.alone : times.together).seconds.push_back(t);
      });
}

void measure_overheads(Stopwatch& stopwatch, Record& record) {
  const mpi::Topology& topology = stopwatch.comm().topology();
  for (const std::string locality : {"same_node", "other_node"}) {
    stopwatch.begin("overheads, " + locality, MeasureWeights::overheads / 2);
    const std::vector<RankPair> pairs = pairs_of(topology, locality);
    if (pairs.empty()) continue;  // said of the messages themselves already
    record.overheads.push_back({locality, {}, {}});
    measure_overheads_of(stopwatch, {pairs.front()}, record.overheads.back());
  }
}

}  // namespace nodewise::calibrate
