#include "nodewise/amg/network_look.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "nodewise/base/timer.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

namespace {

constexpr std::size_t most_pairs = 4;
constexpr int burst = 8;             ///< messages of a rank that sends alone
constexpr int shared_burst = 4;      ///< messages of each of several ranks
constexpr int short_bytes = 8;       ///< a vector's entry
constexpr int long_bytes = 1 << 15;  ///< long enough for rates, too short for a rendezvous
constexpr int rounds = 3;

/// What is timed: two ranks exchange one message, or several at once.
enum What {
  on_node_one,
  on_node_burst,
  on_node_long,
  off_node_one,
  off_node_burst,
  off_node_long,
  shared_short,  ///< several pairs at a time
  shared_long,
  n_whats
};

/// The times of this rank, 0 where it had no part; then of the slowest rank of each round.
using Samples = std::array<double, static_cast<std::size_t>(n_whats) * rounds>;

double& sample(Samples& samples, int what, int round) {
  return samples[static_cast<std::size_t>(what) * rounds + static_cast<std::size_t>(round)];
}

/// Who talks to whom.
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
    if (const int other = partner_between_nodes(seats_.n_pairs); other >= 0) meet(other);
    if (seats_.n_pairs > 1) {
      exchange_together(shared_short, shared_burst, short_bytes);
      exchange_together(shared_long, 1, long_bytes);
    }
    if (const int other = partner_between_nodes(1); other >= 0) {
      exchange(other, off_node_one, 1, short_bytes);
      exchange(other, off_node_burst, burst, short_bytes);
      exchange(other, off_node_long, 1, long_bytes);
    }
    if (const int other = partner_on_node(); other >= 0) {
      meet(other);
      exchange(other, on_node_one, 1, short_bytes);
      exchange(other, on_node_burst, burst, short_bytes);
      exchange(other, on_node_long, 1, long_bytes);
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

  void post_receives(int other, int n, int bytes) {
    for (int k = 0; k < n; ++k) {
      mpi::check(MPI_Irecv(incoming_.data() + static_cast<std::ptrdiff_t>(k) * short_bytes, bytes,
                           MPI_BYTE, other, mpi::tag_look, comm_.get(), &requests_[n_requests_++]),
                 "MPI_Irecv");
    }
  }
  void post_sends(int other, int n, int bytes) {
    for (int k = 0; k < n; ++k) {
      comm_.count_message(other, bytes);
      mpi::check(MPI_Isend(outgoing_.data(), bytes, MPI_BYTE, other, mpi::tag_look, comm_.get(),
                           &requests_[n_requests_++]),
                 "MPI_Isend");
    }
  }
  void wait() {
    const auto n = static_cast<int>(std::exchange(n_requests_, 0));
    mpi::check(MPI_Waitall(n, requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

  /// There and back: a new connection is made by one of the two.
  void meet(int other) {
    const mpi::Communicating communicating(comm_);
    const auto send = [&] { post_sends(other, 1, short_bytes), wait(); };
    const auto receive = [&] { post_receives(other, 1, short_bytes), wait(); };
    const bool begins = comm_.rank() < other;
    if (begins) send();
    receive();
    if (!begins) send();
  }

  /// Both send n messages at once: a stage of an exchange.
  double timed_exchange(int other, int n, int bytes) {
    const mpi::Communicating communicating(comm_);
    const Timer timer;
    post_receives(other, n, bytes);
    post_sends(other, n, bytes);
    wait();
    return timer.seconds();
  }

  void exchange(int other, What what, int n, int bytes) {
    for (int round = 0; round < rounds; ++round) {
      sample(samples_, what, round) = timed_exchange(other, n, bytes);
    }
  }

  /// All pairs at a time: the ranks of each of the two nodes wait for each other before a round.
  void exchange_together(What what, int n, int bytes) {
    if (!is_seated()) return;
    const int other = partner_between_nodes(seats_.n_pairs);
    for (int round = 0; round < rounds; ++round) {
      mpi::max(comm_.node(), std::int32_t{0});
      if (other >= 0) sample(samples_, what, round) = timed_exchange(other, n, bytes);
    }
  }

  const mpi::Comm& comm_;
  Seats seats_;
  Samples samples_ = {};
  std::array<char, long_bytes> outgoing_ = {}, incoming_ = {};
  std::array<MPI_Request, 2 * static_cast<std::size_t>(burst)> requests_ = {};
  std::size_t n_requests_ = 0;
};

/// The quickest round of each: what disturbs one round is no cost of messages.
class Times {
 public:
  explicit Times(Samples& slowest) : slowest_(slowest) {}

  double of(What what) const {
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round < rounds; ++round) {
      least = std::min(least, sample(slowest_, what, round));
    }
    return std::max(least, 1e-9);  // what no clock tells
  }
  bool has(What what) const { return sample(slowest_, what, 0) > 0; }
  /// One message of those that took no longer together: three rounds of it alone may all have been
  /// disturbed.
  double latency(What one, What several) const { return std::min(of(one), of(several)); }
  /// What each of n things costs that were done beside the first.
  double more(What what, double latency_s, double n) const {
    return n > 1 ? std::max(0.0, of(what) - latency_s) / (n - 1) : 0.0;
  }
  /// Bytes a second beyond the latency.
  double rate(What what, double latency_s, double bytes) const {
    return bytes / std::max(of(what) - latency_s, 1e-3 * of(what));
  }

 private:
  Samples& slowest_;
};

model::Machine machine_of(Samples& slowest, std::size_t n_pairs) {
  const Times times(slowest);
  const auto all = static_cast<double>(n_pairs);
  model::Machine machine;
  machine.name = "short look";
  machine.measured = true;
  model::MessageOverheads overheads;
  double latency_s = times.latency(off_node_one, off_node_burst);
  if (n_pairs > 1) latency_s = std::min(latency_s, times.of(shared_short));
  model::MessageParameters off = {latency_s, times.rate(off_node_long, latency_s, long_bytes),
                                  model::unlimited};
  // A message costs either end as much.
  overheads.send_other_node_s = times.more(off_node_burst, latency_s, burst) / 2;
  overheads.receive_other_node_s = overheads.send_other_node_s;
  if (n_pairs > 1) {
    overheads.nic_gap_s = times.more(shared_short, latency_s, all * shared_burst);
    off.injection_bytes_per_s = times.rate(shared_long, latency_s, all * long_bytes);
  }
  constexpr auto any_length = static_cast<std::size_t>(model::Protocol::rendezvous);
  machine.path(model::Locality::other_node)[any_length] = off;
  if (times.has(on_node_one)) {
    const double on_node_s = times.latency(on_node_one, on_node_burst);
    machine.path(model::Locality::same_node)[any_length] = model::MessageParameters{
        on_node_s, times.rate(on_node_long, on_node_s, long_bytes), model::unlimited};
    overheads.send_on_node_s = times.more(on_node_burst, on_node_s, burst) / 2;
    overheads.receive_on_node_s = overheads.send_on_node_s;
  }
  machine.overheads = overheads;
  return machine;
}

model::Machine measure(const mpi::Comm& comm) {
  const mpi::Scope scope(comm, "network_look", mpi::no_level);
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

const model::Machine* known_network(const mpi::Comm& comm) {
  void* known = nullptr;
  int found = 0;
  mpi::check(MPI_Comm_get_attr(comm.get(), attribute_key(), static_cast<void*>(&known), &found),
             "MPI_Comm_get_attr");
  return found != 0 ? static_cast<const model::Machine*>(known) : nullptr;
}

const model::Machine& look_at_network(const mpi::Comm& comm) {
  if (const model::Machine* known = known_network(comm)) return *known;
  auto machine = std::make_unique<model::Machine>(measure(comm));
  mpi::check(MPI_Comm_set_attr(comm.get(), attribute_key(), machine.get()), "MPI_Comm_set_attr");
  return *machine.release();
}

}  // namespace nodewise::amg
