#include "nodewise/routing/network_probe.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "nodewise/base/timer.hpp"
#include "nodewise/model/sparse_exchange_cost.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::routing {

namespace {

constexpr std::size_t most_pairs = 4;
constexpr int burst = 4;             ///< short messages of a rank
constexpr int short_bytes = 8;       ///< a vector's entry
constexpr int long_bytes = 1 << 15;  ///< long enough for rates, too short for a rendezvous

/// The ranks that exchange at a time.
enum Who { on_node, off_node, several_pairs, n_whos };
/// When something has arrived, since this rank began.
enum What { first_short, last_short, last_long, n_whats };

/// The times of this rank, 0 where it had no part; then of the slowest rank.
using Samples = std::array<double, static_cast<std::size_t>(n_whos) * n_whats>;

double& sample(Samples& samples, Who who, What what) {
  return samples[static_cast<std::size_t>(who) * n_whats + static_cast<std::size_t>(what)];
}

/// The pairs of ranks.
struct Seats {
  std::array<int, 2> nodes = {0, 1};  ///< those with most ranks
  std::size_t n_pairs = 1;            ///< the k-th ranks of both nodes are a pair
};

Seats choose_seats(const mpi::Topology& topology) {
  std::vector<int> nodes(static_cast<std::size_t>(topology.n_nodes()));
  std::iota(nodes.begin(), nodes.end(), 0);
  std::stable_sort(nodes.begin(), nodes.end(), [&](int a, int b) {
    return topology.ranks_on(a).size() > topology.ranks_on(b).size();
  });
  const std::size_t fewer = topology.ranks_on(nodes[1]).size();
  return {{nodes[0], nodes[1]}, std::min(fewer, most_pairs)};
}

/// One rank's part in the measurement.
class Look {
 public:
  Look(const mpi::Comm& comm, const Seats& seats) : comm_(comm), seats_(seats) {}

  /// Ranks that are in none of the pairs of a measurement leave it out.
  Samples run() {
    const int other = partner_between_nodes(seats_.n_pairs);
    if (other >= 0) meet(other);
    if (partner_between_nodes(1) >= 0) time_exchange(other, off_node);
    // The others of the two nodes wait for that.
    if (seats_.n_pairs > 1 && is_seated()) mpi::max(comm_.node(), std::int32_t{0});
    if (seats_.n_pairs > 1 && other >= 0) time_exchange(other, several_pairs);
    if (const int neighbour = partner_on_node(); neighbour >= 0) {
      meet(neighbour);
      time_exchange(neighbour, on_node);
    }
    return samples_;
  }

 private:
  int partner_between_nodes(std::size_t n_pairs) const {
    const std::span<const int> here = comm_.topology().ranks_on(seats_.nodes[0]);
    const std::span<const int> there = comm_.topology().ranks_on(seats_.nodes[1]);
    for (std::size_t k = 0; k < n_pairs; ++k) {
      if (comm_.rank() == here[k]) return there[k];
      if (comm_.rank() == there[k]) return here[k];
    }
    return -1;
  }

  int partner_on_node() const {
    const std::span<const int> ranks = comm_.topology().ranks_on(seats_.nodes[0]);
    if (ranks.size() < 2 || (comm_.rank() != ranks[0] && comm_.rank() != ranks[1])) return -1;
    return comm_.rank() == ranks[0] ? ranks[1] : ranks[0];
  }

  bool is_seated() const {
    const int node = comm_.topology().node(comm_.rank());
    return node == seats_.nodes[0] || node == seats_.nodes[1];
  }

  void send(int other, int bytes, MPI_Request* request) {
    comm_.count_message(other, bytes);
    mpi::check(
        MPI_Isend(outgoing_.data(), bytes, MPI_BYTE, other, mpi::tag_probe, comm_.get(), request),
        "MPI_Isend");
  }
  void receive(int other, int bytes, int place, MPI_Request* request) {
    mpi::check(MPI_Irecv(incoming_.data() + static_cast<std::ptrdiff_t>(place) * short_bytes, bytes,
                         MPI_BYTE, other, mpi::tag_probe, comm_.get(), request),
               "MPI_Irecv");
  }
  void count_wait(int other) const {
    if (!comm_.topology().same_node(comm_.rank(), other)) comm_.ledger().count_waits(1);
  }
  static void wait(MPI_Request* requests, int n) {
    mpi::check(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

  /// There and back: a new connection is made by one of the two.
  void meet(int other) {
    const mpi::Communicating communicating(comm_);
    const bool begins = comm_.rank() < other;
    for (const bool sends : {begins, !begins}) {
      MPI_Request request = MPI_REQUEST_NULL;
      if (sends) send(other, short_bytes, &request);
      if (!sends) receive(other, short_bytes, 0, &request);
      wait(&request, 1);
      count_wait(other);
    }
  }

  /// Both send short messages and perhaps a long one at once, as in a stage of an exchange. When
  /// what has arrived: calls back.
  template <class Arrived>
  void exchange(int other, int n_short, bool with_long, const Arrived& arrived) {
    std::array<MPI_Request, burst + 1> sends = {}, receives = {};
    const int n = with_long ? n_short + 1 : n_short;
    for (int k = 0; k < n; ++k) {
      const auto place = static_cast<std::size_t>(k);
      receive(other, k < n_short ? short_bytes : long_bytes, k, &receives[place]);
    }
    for (int k = 0; k < n; ++k) {
      const auto place = static_cast<std::size_t>(k);
      send(other, k < n_short ? short_bytes : long_bytes, &sends[place]);
    }
    wait(receives.data(), 1);
    arrived(first_short);
    wait(receives.data() + 1, n_short - 1);
    arrived(last_short);
    wait(receives.data() + n_short, n - n_short);
    arrived(last_long);
    wait(sends.data(), n);
    count_wait(other);
  }

  /// One of the two begins later, and sees the other's messages come earlier for that. After an
  /// exchange that is not timed it is later by a latency; in the next exchange the other one is, so
  /// that the mean of two is right.
  void time_exchange(int other, Who who) {
    const mpi::Communicating communicating(comm_);
    exchange(other, 1, false, [](What) {});
    for (int time = 0; time < 2; ++time) {
      const Timer timer;
      exchange(other, burst, true,
               [&](What what) { sample(samples_, who, what) += timer.seconds() / 2; });
    }
  }

  const mpi::Comm& comm_;
  Seats seats_;
  Samples samples_ = {};
  std::array<char, long_bytes> outgoing_ = {};
  std::array<char, long_bytes + static_cast<std::size_t>(burst)* short_bytes> incoming_ = {};
};

/// The times of the slowest of some ranks.
struct Seen {
  Seen(Samples& slowest, Who who)
      : latency_s(std::max(sample(slowest, who, first_short), 1e-9)),  // what no clock tells
        last_s(sample(slowest, who, last_short)),
        long_s(sample(slowest, who, last_long) - last_s) {}

  /// The cost of each message beside the first, of so many pairs.
  double more_s(double one_s, double n_pairs) const {
    return std::max(0.0, last_s - one_s) / (n_pairs * burst - 1);
  }
  double bytes_per_s(double n_pairs) const {
    return n_pairs * long_bytes / std::max(long_s, 1e-3 * latency_s);
  }

  double latency_s, last_s, long_s;
};

model::Machine machine_of(Samples& slowest, std::size_t n_pairs) {
  model::Machine machine;
  machine.name = "short look";
  machine.measured = true;
  model::MessageOverheads overheads;
  constexpr auto any_length = static_cast<std::size_t>(model::Protocol::rendezvous);
  const Seen alone(slowest, off_node);
  model::MessageParameters off = {alone.latency_s, alone.bytes_per_s(1), model::unlimited};
  if (n_pairs > 1) {
    const auto pairs = static_cast<double>(n_pairs);
    const Seen together(slowest, several_pairs);
    off.latency_s = std::min(off.latency_s, together.latency_s);
    off.injection_bytes_per_s = together.bytes_per_s(pairs);
    overheads.nic_gap_s = together.more_s(off.latency_s, pairs);
  }
  // A message costs either end as much.
  overheads.send_other_node_s = alone.more_s(off.latency_s, 1) / 2;
  overheads.receive_other_node_s = overheads.send_other_node_s;
  machine.path(model::Locality::other_node)[any_length] = off;
  if (sample(slowest, on_node, last_long) > 0) {
    const Seen here(slowest, on_node);
    machine.path(model::Locality::same_node)[any_length] =
        model::MessageParameters{here.latency_s, here.bytes_per_s(1), model::unlimited};
    overheads.send_on_node_s = here.more_s(here.latency_s, 1) / 2;
    overheads.receive_on_node_s = overheads.send_on_node_s;
  }
  machine.overheads = overheads;
  return machine;
}

model::Machine measure(const mpi::Comm& comm) {
  const mpi::Scope scope(comm, "network_probe", mpi::no_level);
  const Seats seats = choose_seats(comm.topology());
  Samples samples = Look(comm, seats).run();
  mpi::max_in_place(comm, std::span<double>(samples));
  return machine_of(samples, seats.n_pairs);
}

int forget(MPI_Comm, int, void* machine, void*) {
  delete static_cast<model::Machine*>(machine);
  return MPI_SUCCESS;
}

/// Under which a communicator keeps what was seen.
int attribute_key() {
  static const int key = [] {
    int created = MPI_KEYVAL_INVALID;
    mpi::check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &created, nullptr),
               "MPI_Comm_create_keyval");
    return created;
  }();
  return key;
}

}  // namespace

const model::Machine* probed_network(const mpi::Comm& comm) {
  void* known = nullptr;
  int found = 0;
  mpi::check(MPI_Comm_get_attr(comm.get(), attribute_key(), static_cast<void*>(&known), &found),
             "MPI_Comm_get_attr");
  if (found != 0) return static_cast<const model::Machine*>(known);
  return &comm.whole() != &comm ? probed_network(comm.whole()) : nullptr;
}

void weigh_sparse_exchanges(const mpi::Comm& comm, const model::Machine& machine) {
  const mpi::Region region = comm.settings().sparse_exchange_region;
  comm.set_sparse_costs(model::sparse_costs(machine, comm.regions(region), region));
}

const model::Machine& probe_network(const mpi::Comm& comm) {
  if (const model::Machine* known = probed_network(comm)) return *known;
  auto machine = std::make_unique<model::Machine>(measure(comm));
  mpi::check(MPI_Comm_set_attr(comm.get(), attribute_key(), machine.get()), "MPI_Comm_set_attr");
  weigh_sparse_exchanges(comm, *machine);
  return *machine.release();
}

}  // namespace nodewise::routing
