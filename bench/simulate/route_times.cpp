#include "simulate/route_times.hpp"

#include <cmath>
#include <time.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/comm/exchange.hpp"

#include "simulate/counted_messages.hpp"

namespace nodewise::bench {

namespace {

constexpr double head_start_s = 1e-3;

double value_of(GlobalIndex i) {
  return hash_uniform(static_cast<std::uint64_t>(i), 7);
}

std::vector<double> owned_values(const comm::Layout& layout) {
  std::vector<double> values;
  for (GlobalIndex i = layout.begin(); i < layout.end(); ++i) values.push_back(value_of(i));
  return values;
}

std::int64_t count_wrong(std::span<const GlobalIndex> ghosts, std::span<const double> values) {
  std::int64_t wrong = 0;
  for (std::size_t g = 0; g < ghosts.size(); ++g) wrong += values[g] != value_of(ghosts[g]) ? 1 : 0;
  return wrong;
}

/// The direct exchange as it should not be done.
class AscendingExchange {
 public:
  AscendingExchange(const mpi::Comm& comm, const comm::Plan& direct)
      : comm_(comm), stage_(direct.stages.front()), packed_(stage_.send_entries.size()) {}

  void forward(std::span<const double> owned, std::span<double> ghosts) {
    std::vector<MPI_Request> requests(stage_.recv_ranks.size() + stage_.send_ranks.size());
    MPI_Request* next = requests.data();
    for (std::size_t i = 0; i < stage_.recv_ranks.size(); ++i) {
      MPI_Irecv(ghosts.data() + stage_.recv_offsets[i],
                stage_.recv_offsets[i + 1] - stage_.recv_offsets[i], MPI_DOUBLE,
                stage_.recv_ranks[i], mpi::tag_exchange, comm_.get(), next++);
    }
    for (std::size_t e = 0; e < packed_.size(); ++e) {
      packed_[e] = owned[static_cast<std::size_t>(stage_.send_entries[e])];
    }
    for (std::size_t i = 0; i < stage_.send_ranks.size(); ++i) {
      MPI_Isend(packed_.data() + stage_.send_offsets[i],
                stage_.send_offsets[i + 1] - stage_.send_offsets[i], MPI_DOUBLE,
                stage_.send_ranks[i], mpi::tag_exchange, comm_.get(), next++);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

 private:
  const mpi::Comm& comm_;
  const comm::Stage& stage_;
  std::vector<double> packed_;
};

/// Runs one exchange from a common start and fills in all that is known of it.
template <class Forward>
RouteTime sample(const comm::Layout& layout, const comm::Plan& plan,
                 std::span<const GlobalIndex> ghosts, std::string name, Forward&& forward) {
  const mpi::Comm& comm = layout.comm();
  const std::vector<double> owned = owned_values(layout);
  std::vector<double> received(ghosts.size(), std::nan(""));
  const double start = start_together(comm);
  start_counting(comm);
  forward(std::span<const double>(owned), std::span<double>(received));
  const double seconds = MPI_Wtime() - start;
  const SentMessages sent = stop_counting();
  const comm::Traffic announced = comm::traffic(plan, comm.topology(), comm.rank());
  const auto bytes = [](std::int64_t entries) {
    return entries * static_cast<std::int64_t>(sizeof(double));
  };
  const bool as_announced = sent.messages_on_node == announced.messages_on_node &&
                            sent.messages_off_node == announced.messages_off_node &&
                            sent.bytes_on_node == bytes(announced.entries_on_node) &&
                            sent.bytes_off_node == bytes(announced.entries_off_node);
  return {.route = std::move(name),
          .seconds = mpi::max(comm, seconds),
          .max_off_node = mpi::max(comm, sent.messages_off_node),
          .max_on_node = mpi::max(comm, sent.messages_on_node),
          .sum_off_node = mpi::sum(comm, sent.messages_off_node),
          .sum_on_node = mpi::sum(comm, sent.messages_on_node),
          .entries_off_node = mpi::sum(comm, announced.entries_off_node),
          .wrong_values = mpi::sum(comm, count_wrong(ghosts, received)),
          .uncounted = mpi::sum<std::int64_t>(comm, as_announced ? 0 : 1)};
}

}  // namespace

double start_together(const mpi::Comm& comm) {
  const double start = mpi::max(comm, MPI_Wtime()) + head_start_s;
  const double rest = start - MPI_Wtime();
  if (rest > 0) {
    const timespec pause{0, std::lround(1e9 * rest)};
    nanosleep(&pause, nullptr);
  }
  return start;
}

std::vector<RouteTime> time_routes(const PlannedExchange& planned) {
  const comm::Layout& layout = planned.layout;
  std::vector<RouteTime> times;
  for (std::size_t k = 0; k < planned_routes.size(); ++k) {
    comm::Exchange exchange(layout.shared_comm(), planned.plans[k]);
    times.push_back(sample(layout, exchange.plan(), planned.ghosts, *planned_routes[k].name,
                           [&](auto owned, auto received) { exchange.forward(owned, received); }));
  }
  const comm::Plan& direct = planned.plans.front();
  AscendingExchange ascending(layout.comm(), direct);
  times.push_back(sample(layout, direct, planned.ghosts, "ascending",
                         [&](auto owned, auto received) { ascending.forward(owned, received); }));
  return times;
}

}  // namespace nodewise::bench
