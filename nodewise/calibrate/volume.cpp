// Many messages at a time: queues, contention, and what a message costs the processors.
#include <algorithm>
#include <cmath>

#include "nodewise/calibrate/measure.hpp"
#include "nodewise/calibrate/ping_pong.hpp"

namespace nodewise::calibrate {

namespace {

constexpr int most_volume_repeats = 21;
constexpr double message_bytes = 8;

/// Several messages at once.
struct Volume {
  int most_messages;
  double bytes;    ///< of all of them
  bool is_shared;  ///< by all messages, so that many are short; else each has its part of the most
  bool reversed_too;

  double bytes_of_each(int n) const { return std::floor(bytes / (is_shared ? n : most_messages)); }
};
constexpr Volume searched = {10000, 10000 * message_bytes, true, true};
constexpr Volume in_a_row = {2048, 2048 * message_bytes, false, false};

/// HighVolumePingPong for 1, 2, 4, ... messages, until one takes too large a part of the time.
std::vector<VolumeTimes> measure_volume(Stopwatch& stopwatch, const std::vector<RankPair>& pairs,
                                        const Volume& volume) {
  Talk talk(stopwatch.comm(), volume.bytes);
  const bool speaks = talk.join(pairs);
  const auto run = [&](const VolumeTimes& v, bool reversed) {
    return speaks ? talk.high_volume(v.messages, v.bytes, reversed) : 0.0;
  };
  const bool reversed_too = volume.reversed_too;
  std::vector<VolumeTimes> volumes;
  const double most_seconds = stopwatch.part_seconds() / 60;
  for (int n = 1; n <= volume.most_messages;
       n = std::max(n + 1, std::min(2 * n, volume.most_messages))) {
    const VolumeTimes next = {n, volume.bytes_of_each(n), {}, {}};
    const double t = stopwatch.longest(run(next, reversed_too));
    if (n > 8 && 2 * t > most_seconds) break;
    volumes.push_back(next);
  }
  const std::size_t ways = reversed_too ? 2 : 1;
  measure_in_turn(
      stopwatch, ways * volumes.size(), most_volume_repeats,
      [&](std::size_t k) { return run(volumes[k / ways], k % ways == 1); },
      [](std::size_t, double) {},
      [&](std::size_t k, double t) {
        VolumeTimes& times = volumes[k / ways];
        (k % ways == 1 ? times.reversed : times.in_order).seconds.push_back(t);
      });
  return volumes;
}

/// Steps through a queue of receives, over the square of their number.
struct Steps {
  double in_order = 0, reversed = 0;
};

/// Sends a message to every other rank, and takes one from each as they are there.
Steps take_from_all(const mpi::Comm& comm, int tag) {
  const int me = comm.rank();
  std::vector<MPI_Request> requests;
  std::vector<int> open;  // ascending
  double outgoing = 0, incoming = 0;
  for (int step = 1; step < comm.size(); ++step) {
    const int to = (me + step) % comm.size();
    mpi::check(MPI_Isend(&outgoing, 1, MPI_DOUBLE, to, tag, comm.get(), &requests.emplace_back()),
               "MPI_Isend");
  }
  for (int r = 0; r < comm.size(); ++r) {
    if (r != me) open.push_back(r);
  }
  const auto n = static_cast<double>(open.size());
  Steps steps;
  while (!open.empty()) {
    MPI_Status status;
    mpi::check(MPI_Probe(MPI_ANY_SOURCE, tag, comm.get(), &status), "MPI_Probe");
    const auto at = std::lower_bound(open.begin(), open.end(), status.MPI_SOURCE);
    steps.in_order += static_cast<double>(at - open.begin() + 1) / (n * n);
    steps.reversed += static_cast<double>(open.end() - at) / (n * n);
    mpi::check(
        MPI_Recv(&incoming, 1, MPI_DOUBLE, status.MPI_SOURCE, tag, comm.get(), MPI_STATUS_IGNORE),
        "MPI_Recv");
    open.erase(at);
  }
  mpi::check(MPI_Waitall(narrow<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
             "MPI_Waitall");
  return steps;
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
  record.queue = measure_volume(stopwatch, pairs, searched);
  if (far.empty()) return;
  stopwatch.begin("messages in a row between nodes", MeasureWeights::queue * 0.4);
  record.far_volume = measure_volume(stopwatch, {far.front()}, in_a_row);
}

void measure_positions(Stopwatch& stopwatch, Record& record) {
  stopwatch.begin("queue positions", MeasureWeights::positions);
  const mpi::Comm& comm = stopwatch.comm();
  if (comm.size() < 3) {
    record.not_measured.push_back({"queue positions", "needs 3 ranks"});
    return;
  }
  QueuePositions& positions = record.positions;
  positions.messages = comm.size() - 1;
  double reversed = 0;
  measure_in_turn(
      stopwatch, 1, most_volume_repeats,
      [&](std::size_t) {
        mpi::check(MPI_Barrier(comm.get()), "MPI_Barrier");
        const Steps steps = take_from_all(comm, 0);
        reversed = stopwatch.longest(steps.reversed);
        return steps.in_order;
      },
      [](std::size_t, double) {},
      [&](std::size_t, double in_order) {
        positions.in_order.push_back(in_order);
        positions.reversed.push_back(reversed);
      });
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
