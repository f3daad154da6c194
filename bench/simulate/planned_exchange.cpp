#include "simulate/planned_exchange.hpp"

#include <utility>

namespace nodewise::bench {

namespace {

constexpr int tag = 77;

/// Numbers in a row, each vector behind its length.
class Writer {
 public:
  template <class T>
  void put(std::span<const T> values) {
    words_.push_back(std::ssize(values));
    words_.insert(words_.end(), values.begin(), values.end());
  }
  void put(const comm::Plan& plan) {
    words_.insert(words_.end(), {plan.n_owned, plan.n_ghosts, std::ssize(plan.stages)});
    for (const comm::Stage& stage : plan.stages) {
      put(std::span(stage.send_ranks));
      put(std::span(stage.send_offsets));
      put(std::span(stage.send_entries));
      put(std::span(stage.recv_ranks));
      put(std::span(stage.recv_offsets));
    }
    put(std::span(plan.ghost_entries));
  }
  template <class T>
  void put(std::span<T> values) {
    put(std::span<const T>(values));
  }
  std::vector<std::int64_t>& words() { return words_; }

 private:
  std::vector<std::int64_t> words_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::int64_t> words) : rest_(words) {}

  std::int64_t next() {
    const std::int64_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  template <class T>
  std::vector<T> next_values() {
    const auto n = static_cast<std::size_t>(next());
    std::vector<T> values;
    for (const std::int64_t word : rest_.first(n)) values.push_back(static_cast<T>(word));
    rest_ = rest_.subspan(n);
    return values;
  }
  comm::Plan next_plan() {
    comm::Plan plan;
    plan.n_owned = static_cast<LocalIndex>(next());
    plan.n_ghosts = static_cast<LocalIndex>(next());
    plan.stages.resize(static_cast<std::size_t>(next()));
    for (comm::Stage& stage : plan.stages) {
      stage.send_ranks = next_values<int>();
      stage.send_offsets = next_values<LocalIndex>();
      stage.send_entries = next_values<LocalIndex>();
      stage.recv_ranks = next_values<int>();
      stage.recv_offsets = next_values<LocalIndex>();
    }
    plan.ghost_entries = next_values<LocalIndex>();
    return plan;
  }

 private:
  std::span<const std::int64_t> rest_;
};

/// Local. For every rank its ghosts and plans.
std::vector<Writer> write_parts(const WantedExchange& wanted, const PlansByRoute& plans) {
  std::vector<Writer> parts(wanted.ghosts.size());
  for (std::size_t r = 0; r < parts.size(); ++r) {
    parts[r].put(wanted.ghosts[r]);
    for (const std::vector<comm::Plan>& of_route : plans) parts[r].put(of_route[r]);
  }
  return parts;
}

/// Collective. This rank's part of what rank 0 has.
std::vector<std::int64_t> distribute(const mpi::Comm& comm, std::vector<Writer> parts) {
  std::vector<std::int64_t> lengths;
  for (Writer& part : parts) lengths.push_back(std::ssize(part.words()));
  std::int64_t length = 0;
  mpi::check(MPI_Scatter(lengths.data(), 1, MPI_INT64_T, &length, 1, MPI_INT64_T, 0, comm.get()),
             "MPI_Scatter");
  if (comm.is_root()) {
    for (std::size_t r = 1; r < parts.size(); ++r) {
      mpi::check(MPI_Send(parts[r].words().data(), narrow<int>(lengths[r]), MPI_INT64_T,
                          static_cast<int>(r), tag, comm.get()),
                 "MPI_Send");
    }
    return std::move(parts.front().words());
  }
  std::vector<std::int64_t> words(static_cast<std::size_t>(length));
  mpi::check(MPI_Recv(words.data(), narrow<int>(length), MPI_INT64_T, 0, tag, comm.get(),
                      MPI_STATUS_IGNORE),
             "MPI_Recv");
  return words;
}

}  // namespace

PlansByRoute plan_all(const WantedExchange& wanted, const mpi::Topology& topology) {
  const std::vector<comm::Pattern> patterns = comm::virtual_patterns(wanted.starts, wanted.ghosts);
  PlansByRoute plans;
  for (const comm::Route route : planned_routes) {
    plans.push_back(comm::virtual_plans(patterns, topology, route));
  }
  return plans;
}

PlannedExchange hand_out(const std::shared_ptr<const mpi::Comm>& comm, const WantedExchange& wanted,
                         const PlansByRoute& plans) {
  std::vector<GlobalIndex> starts = wanted.starts;
  starts.resize(static_cast<std::size_t>(comm->size()) + 1);
  mpi::check(MPI_Bcast(starts.data(), comm->size() + 1, MPI_INT64_T, 0, comm->get()), "MPI_Bcast");
  std::vector<Writer> parts;
  if (comm->is_root()) parts = write_parts(wanted, plans);
  const std::vector<std::int64_t> words = distribute(*comm, std::move(parts));
  Reader reader(words);
  PlannedExchange mine{
      comm::Layout(comm, std::move(starts)), reader.next_values<GlobalIndex>(), {}};
  for (std::size_t k = 0; k < planned_routes.size(); ++k) mine.plans.push_back(reader.next_plan());
  return mine;
}

}  // namespace nodewise::bench
