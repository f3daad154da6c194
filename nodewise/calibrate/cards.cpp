#include "nodewise/calibrate/cards.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "nodewise/calibrate/measure.hpp"
#include "nodewise/calibrate/ping_pong.hpp"
#include "nodewise/device/buffer.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/device_memory.hpp"
#include "nodewise/offload/cards.hpp"

namespace nodewise::calibrate {

namespace {

constexpr int most_repeats_on_cards = 51;
constexpr double shortest_copy = 8;

/// Before a rank asks for memory of a card.
template <class Space>
void take_card(int number) {
  if constexpr (std::is_same_v<Space, device::Cuda>) device::use_cuda_device(number);
}

/// 8, 16, 32, ... bytes.
std::vector<SizeTimes> copied_sizes(double largest) {
  std::vector<SizeTimes> sizes;
  for (double bytes = shortest_copy; bytes <= largest; bytes *= 2) sizes.push_back({bytes, {}});
  return sizes;
}

/// One, and 2, 4, 8, ... ranks of the first node.
std::vector<CopyTimes> copies_of(const mpi::Topology& topology, double largest) {
  constexpr std::size_t most_ranks = 64;
  const std::size_t ranks = std::min(topology.ranks_on(0).size(), most_ranks);
  std::vector<CopyTimes> copies;
  for (std::size_t n = 1; n <= ranks; n *= 2) {
    for (const char* direction : {"to_host", "to_device"}) {
      copies.push_back({direction, static_cast<int>(n), copied_sizes(largest)});
    }
  }
  return copies;
}

/// So many copies in a row that the clock can tell their time.
constexpr int copies_in_a_row = 8;

/// What a rank copies between.
template <class Space>
struct Ends {
  explicit Ends(std::size_t bytes) : there(bytes), here(bytes) {
    std::fill_n(here.data(), bytes, '\1');
  }

  /// Seconds of a copy that is waited for.
  double copy_s(std::size_t bytes, bool to_host) {
    const std::span<char> part(here.data(), bytes);
    const Timer timer;
    for (int k = 0; k < copies_in_a_row; ++k) {
      if (to_host) {
        there.get(queue, part);
      } else {
        there.put(queue, part);
      }
    }
    return timer.seconds() / copies_in_a_row;
  }

  device::Queue<Space> queue;
  device::Buffer<char, Space> there;
  device::Staging<char, Space> here;
};

/// All ranks that copy at once do so from and to the first card of their node.
template <class Space>
void measure_copies(Stopwatch& stopwatch, double largest, Record& record) {
  stopwatch.begin("copies from and to cards", MeasureWeights::copies);
  const mpi::Comm& comm = stopwatch.comm();
  const mpi::Topology& topology = comm.topology();
  record.copies = copies_of(topology, largest);
  const std::size_t place = topology.place_on_node(comm.rank());
  std::unique_ptr<Ends<Space>> ends;
  mpi::collectively(comm, [&] {
    if (topology.node(comm.rank()) != 0) return;
    take_card<Space>(0);
    ends = std::make_unique<Ends<Space>>(static_cast<std::size_t>(largest));
  });
  const std::size_t n_sizes = record.copies.front().sizes.size();
  const auto measure = [&](std::size_t k) {
    const CopyTimes& what = record.copies[k / n_sizes];
    const auto bytes = static_cast<std::size_t>(what.sizes[k % n_sizes].bytes);
    mpi::check(MPI_Barrier(comm.get()), "MPI_Barrier");
    if (ends == nullptr || std::cmp_greater_equal(place, what.processes)) return 0.0;
    return ends->copy_s(bytes, what.direction == "to_host");
  };
  measure_in_turn(
      stopwatch, record.copies.size() * n_sizes, most_repeats_on_cards, measure,
      [](std::size_t, double) {},
      [&](std::size_t k, double t) {
        record.copies[k / n_sizes].sizes[k % n_sizes].times.seconds.push_back(t);
      });
}

/// The memory of a card that messages leave from and arrive in.
template <class Space>
struct Mailbox {
  explicit Mailbox(std::size_t bytes) : outgoing(bytes), incoming(bytes) {
    device::Queue<Space> queue;
    queue.clear(outgoing.data(), bytes);
    queue.wait();
  }
  device::Buffer<char, Space> outgoing, incoming;
};

/// For one locality.
void measure_path(Stopwatch& stopwatch, Talk& talk, PathTimes& path) {
  constexpr int messages_in_a_row = 4;
  const std::size_t n_pairs = path.pairs.size();
  path.shortest.resize(n_pairs);
  const auto measure = [&](std::size_t k) {
    const bool speaks = talk.join({path.pairs[k % n_pairs]});
    return speaks ? talk.ping_pong(path.sizes[k / n_pairs].bytes, messages_in_a_row) : 0.0;
  };
  measure_in_turn(
      stopwatch, path.sizes.size() * n_pairs, most_repeats_on_cards, measure,
      [](std::size_t, double) {},
      [&](std::size_t k, double t) {
        path.sizes[k / n_pairs].times.seconds.push_back(t);
        if (k < n_pairs) path.shortest[k].seconds.push_back(t);
      });
}

template <class Space>
void measure_messages(Stopwatch& stopwatch, const Cards& cards, double largest, Record& record) {
  const mpi::Comm& comm = stopwatch.comm();
  const mpi::Topology& topology = comm.topology();
  for (const std::string locality : {"same_socket", "same_node", "other_node"}) {
    PathTimes path{locality, pairs_of(topology, locality), copied_sizes(largest), {}};
    if (!path.pairs.empty()) record.card_paths.push_back(std::move(path));
  }
  const auto bytes = static_cast<std::size_t>(largest);
  std::unique_ptr<Mailbox<Space>> mailbox;
  mpi::collectively(comm, [&] {
    take_card<Space>(offload::card_of_rank(comm, {}, cards.of_a_node));
    mailbox = std::make_unique<Mailbox<Space>>(bytes);
  });
  Talk talk(comm, {mailbox->outgoing.data(), bytes}, {mailbox->incoming.data(), bytes});
  for (PathTimes& path : record.card_paths) {
    stopwatch.begin(fmt::format("messages between cards, {}", path.locality),
                    MeasureWeights::card_messages / static_cast<double>(record.card_paths.size()));
    measure_path(stopwatch, talk, path);
  }
}

}  // namespace

Cards find_cards(const mpi::Comm& comm) {
  const device::DeviceInfo mine = device::cuda_devices();
  const std::string why_no_messages = mpi::why_no_cuda_memory();
  Cards cards;
  cards.name = mpi::broadcast(comm, mine.name, 0);
  cards.of_a_node = mpi::broadcast(comm, mine.count, 0);
  if (mpi::min(comm, mine.count) < 1) {
    cards.why_none = mpi::broadcast(comm, mine.why_none, 0);
    if (cards.why_none.empty()) cards.why_none = "some ranks have no card";
  }
  if (mpi::max(comm, why_no_messages.empty() ? 0 : 1) > 0) {
    cards.no_messages = mpi::broadcast(comm, why_no_messages, 0);
    if (cards.no_messages.empty()) cards.no_messages = "the MPI of some ranks does not take it";
  }
  return cards;
}

template <class Space>
void measure_cards_in(Stopwatch& stopwatch, const Cards& cards, double largest, Record& record) {
  record.card = cards.name;
  record.cards_of_a_node = cards.of_a_node;
  measure_copies<Space>(stopwatch, largest, record);
  if (cards.no_messages.empty()) {
    measure_messages<Space>(stopwatch, cards, largest, record);
  } else {
    record.not_measured.push_back({"messages between cards", cards.no_messages});
  }
}

template void measure_cards_in<device::Host>(Stopwatch&, const Cards&, double, Record&);
#ifdef NODEWISE_CUDA
template void measure_cards_in<device::Cuda>(Stopwatch&, const Cards&, double, Record&);
#endif

void measure_cards(Stopwatch& stopwatch, const Cards& cards, double largest, Record& record) {
  if (!cards.why_none.empty()) {
    record.not_measured.push_back({"cards", cards.why_none});
    return;
  }
#ifdef NODEWISE_CUDA
  measure_cards_in<device::Cuda>(stopwatch, cards, largest, record);
#else
  static_cast<void>(stopwatch);
  static_cast<void>(largest);
#endif
}

}  // namespace nodewise::calibrate
