// One message at a time, and one from each of several ranks at a time.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "nodewise/base/types.hpp"
#include "nodewise/calibrate/measure.hpp"
#include "nodewise/calibrate/ping_pong.hpp"

namespace nodewise::calibrate {

namespace {

constexpr int most_message_repeats = 51;

/// So many messages in a row that the clock can tell their time.
int repeats_for(double seconds) {
  constexpr double long_enough = 2e-5;
  return static_cast<int>(std::clamp(std::ceil(long_enough / seconds), 1.0, 64.0));
}

/// 1, 2, 3, 4, 6, 8, 12, ...: two sizes for each factor of two.
std::vector<double> message_sizes(double largest) {
  std::vector<double> sizes = {1};
  for (double size = 2; size <= largest; size *= 2) {
    sizes.push_back(size);
    if (1.5 * size <= largest) sizes.push_back(1.5 * size);
  }
  return sizes;
}

/// 1, 2, 4, ..., and all.
std::vector<int> sender_counts(std::size_t most) {
  std::set<int> counts = {narrow<int>(most)};
  for (int n = 1; std::cmp_less(n, most); n *= 2) counts.insert(n);
  return {counts.begin(), counts.end()};
}

std::string why_no_pair(const mpi::Topology& topology, const std::string& locality) {
  if (locality == "other_node") return "all ranks are on one node";
  if (locality == "same_socket" && !topology.has_domains()) {
    return "sockets are not known (`domains` with bound ranks, or `domain_map`, tells "
           "them)";
  }
  return "no two ranks are placed like that";
}

void measure_path(Stopwatch& stopwatch, double largest, PathTimes& path) {
  for (const double bytes : message_sizes(largest)) path.sizes.push_back({bytes, {}});
  Talk talk(stopwatch.comm(), largest);
  // A new connection takes its time: each pair warms up by itself.
  const std::size_t n_pairs = path.pairs.size();
  path.shortest.resize(n_pairs);
  const std::size_t count = path.sizes.size() * n_pairs;
  std::vector<int> repeats(count, 1);
  const auto measure = [&](std::size_t k) {
    const bool speaks = talk.join({path.pairs[k % n_pairs]});
    return speaks ? talk.ping_pong(path.sizes[k / n_pairs].bytes, repeats[k]) : 0.0;
  };
  measure_in_turn(
      stopwatch, count, most_message_repeats, measure,
      [&](std::size_t k, double t) { repeats[k] = repeats_for(t); },
      [&](std::size_t k, double t) {
        path.sizes[k / n_pairs].times.seconds.push_back(t);
        if (k < n_pairs) path.shortest[k].seconds.push_back(t);
      });
}

}  // namespace

void measure_ping_pong(Stopwatch& stopwatch, double largest, Record& record) {
  const mpi::Topology& topology = stopwatch.comm().topology();
  for (const std::string locality : {"same_socket", "same_node", "other_node"}) {
    PathTimes path{locality, pairs_of(topology, locality), {}, {}};
    if (path.pairs.empty()) {
      record.not_measured.push_back({locality, why_no_pair(topology, locality)});
    } else {
      record.paths.push_back(std::move(path));
    }
  }
  for (PathTimes& path : record.paths) {
    stopwatch.begin(fmt::format("ping-pong, {}", path.locality),
                    MeasureWeights::ping_pong / static_cast<double>(record.paths.size()));
    measure_path(stopwatch, largest, path);
  }
}

void measure_injection(Stopwatch& stopwatch, double largest, Record& record) {
  stopwatch.begin("injection limit", MeasureWeights::injection);
  const mpi::Topology& topology = stopwatch.comm().topology();
  std::vector<RankPair> pairs;
  for (int node = 1; node < topology.n_nodes() && pairs.size() < 2; ++node) {
    pairs = pairs_between(topology, 0, node);
  }
  if (pairs.size() < 2) {
    record.not_measured.push_back({"injection limit", "needs 2 nodes with 2 ranks each"});
    return;
  }
  for (double bytes = 64; bytes <= largest; bytes *= 4) {
    for (const int n : sender_counts(pairs.size())) record.injection.push_back({n, bytes, {}});
  }
  Talk talk(stopwatch.comm(), largest);
  const auto measure = [&](std::size_t k) {
    const SenderTimes& what = record.injection[k];
    const bool speaks = talk.join({pairs.begin(), pairs.begin() + what.senders});
    mpi::check(MPI_Barrier(stopwatch.comm().get()), "MPI_Barrier");
    return speaks ? talk.ping_pong(what.bytes, 3) : 0.0;
  };
  measure_in_turn(
      stopwatch, record.injection.size(), most_message_repeats, measure, [](std::size_t, double) {},
      [&](std::size_t k, double t) { record.injection[k].times.seconds.push_back(t); });
}

}  // namespace nodewise::calibrate
