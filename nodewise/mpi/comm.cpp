#include "nodewise/mpi/comm.hpp"

#include <numeric>

#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/collectives/allreduce.hpp"
#include "nodewise/mpi/collectives/scheduled_allreduce.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/mpi/window.hpp"

namespace nodewise::mpi {

bool is_finalized() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

bool may_talk_beside_threads() {
  int level = MPI_THREAD_SINGLE, is_main = 0;
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  return level >= MPI_THREAD_FUNNELED && is_main != 0;
}

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error(ErrorCode::mpi, std::string(call) + ": " + text);
}

template <>
MPI_Datatype datatype<std::int8_t>() {
  return MPI_INT8_T;
}
template <>
MPI_Datatype datatype<std::uint8_t>() {
  return MPI_UINT8_T;
}
template <>
MPI_Datatype datatype<char>() {
  return MPI_CHAR;
}
template <>
MPI_Datatype datatype<std::int32_t>() {
  return MPI_INT32_T;
}
template <>
MPI_Datatype datatype<std::int64_t>() {
  return MPI_INT64_T;
}
template <>
MPI_Datatype datatype<std::uint64_t>() {
  return MPI_UINT64_T;
}
template <>
MPI_Datatype datatype<float>() {
  return MPI_FLOAT;
}
template <>
MPI_Datatype datatype<double>() {
  return MPI_DOUBLE;
}

namespace {

/// One rank of each node, the same for all ranks there, serves as the node's name. The communicator
/// of MPI_Comm_split_type carries no more than that: where MPI is simulated its messages may be
/// taken for those of another, and the gathering holds every rank back until all are through.
std::vector<int> discover_nodes(const Comm& comm) {
  MPI_Comm node = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
  int leader = comm.rank();
  const int status = MPI_Bcast(&leader, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  check(status, "MPI_Bcast");
  return gather_all(comm, leader);
}

/// Collective on `ranks` of the communicator. Unlike MPI_Comm_split it sends nothing to the others.
MPI_Comm group_of(MPI_Comm comm, std::span<const int> ranks) {
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  MPI_Comm result = MPI_COMM_NULL;
  check(MPI_Comm_group(comm, &all), "MPI_Comm_group");
  int status = MPI_Group_incl(all, narrow<int>(ranks.size(), "ranks"), ranks.data(), &some);
  if (status == MPI_SUCCESS) status = MPI_Comm_create_group(comm, some, tag_subset, &result);
  if (some != MPI_GROUP_NULL) MPI_Group_free(&some);
  MPI_Group_free(&all);
  check(status, "MPI_Comm_create_group");
  return result;
}

std::uint64_t hash_of(const CommSettings& settings) {
  return nodewise::hash_of(settings, all_setting_fields());
}

}  // namespace

Comm::Comm(MPI_Comm owned, const CommSettings& settings)
    : comm_(owned),
      settings_(settings),
      ledger_(std::make_shared<Ledger>()),
      kept_window_(std::make_unique<KeptWindow>()) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

std::shared_ptr<Comm> Comm::duplicate(MPI_Comm user, const CommSettings& settings) {
  if (user == MPI_COMM_NULL) {
    throw Error(ErrorCode::invalid_argument, "the communicator is MPI_COMM_NULL");
  }
  int is_inter = 0;
  check(MPI_Comm_test_inter(user, &is_inter), "MPI_Comm_test_inter");
  if (is_inter) {
    throw Error(ErrorCode::invalid_argument,
                "the communicator is an intercommunicator; only intracommunicators are supported");
  }
  MPI_Comm owned = MPI_COMM_NULL;
  check(MPI_Comm_dup(user, &owned), "MPI_Comm_dup");
  return std::shared_ptr<Comm>(new Comm(owned, settings));
}

std::shared_ptr<const Comm> Comm::create(MPI_Comm user, const CommSettings& settings) {
  const std::shared_ptr<Comm> comm = duplicate(user, settings);
  agree_on_same(*comm, std::nullopt, {hash_of(settings), "the settings of the communicator"});
  comm->set_topology(Topology(discover_nodes(*comm)));
  return comm;
}

std::shared_ptr<const Comm> Comm::create(MPI_Comm user, std::span<const int> node_of_rank,
                                         const CommSettings& settings) {
  const std::shared_ptr<Comm> comm = duplicate(user, settings);
  comm->place(collectively(*comm, [&] { return Topology(node_of_rank); }));
  return comm;
}

std::shared_ptr<const Comm> Comm::create(MPI_Comm user, const Topology& topology,
                                         const CommSettings& settings) {
  const std::shared_ptr<Comm> comm = duplicate(user, settings);
  comm->place(topology);
  return comm;
}

std::shared_ptr<const Comm> Comm::subset(const std::shared_ptr<const Comm>& of,
                                         std::span<const int> ranks) {
  const std::shared_ptr<Comm> comm(new Comm(group_of(of->comm_, ranks), of->settings_));
  comm->whole_ = of;
  comm->ledger_ = of->ledger_;
  std::vector<int> nodes, domains;
  for (const int rank : ranks) {
    nodes.push_back(of->topology_.node(rank));
    domains.push_back(of->topology_.domains().node(rank));
  }
  comm->topology_ = Topology(nodes);
  if (of->topology_.has_domains()) comm->topology_ = comm->topology_.with_domains(domains);
  comm->ledger_->count_waits(tree_depth(comm->topology_.n_nodes()));  // of making the group
  if (comm->topology_.n_nodes() > 1) {
    const int node = comm->topology_.node(comm->rank_);
    comm->set_node(group_of(comm->comm_, comm->topology_.ranks_on(node)));
  }
  comm->prepare_allreduces();
  return comm;
}

/// Collective. Takes a placement that the caller gives, once all ranks have the same one that fits.
void Comm::place(const Topology& topology) {
  collectively(*this, [&] {
    if (topology.n_ranks() == size_) return;
    throw Error(ErrorCode::invalid_argument, "topology: " + std::to_string(topology.n_ranks()) +
                                                 " nodes given for " + std::to_string(size_) +
                                                 " ranks");
  });
  std::uint64_t h = hash_of(settings_);
  for (int rank = 0; rank < size_; ++rank) {
    h = hash64(static_cast<std::uint64_t>(topology.node(rank)), h);
    h = hash64(static_cast<std::uint64_t>(topology.domains().node(rank)), h);
  }
  agree_on_same(*this, std::nullopt, {h, "the settings or the placement of the communicator"});
  set_topology(topology);
}

void Comm::set_topology(Topology topology) {
  topology_ = std::move(topology);
  if (topology_.n_nodes() <= 1) return prepare_allreduces();
  MPI_Comm node = MPI_COMM_NULL;
  check(MPI_Comm_split(comm_, topology_.node(rank_), rank_, &node), "MPI_Comm_split");
  set_node(node);
  prepare_allreduces();
}

/// Collective on the node. Takes the communicator of this rank's node.
void Comm::set_node(MPI_Comm node) {
  std::vector<int> domains;
  for (const int rank : topology_.ranks_on(topology_.node(rank_))) {
    domains.push_back(topology_.domains().node(rank));
  }
  node_ = part(node, domains);
}

/// Collective on `ranks`, which share a node and are divided like this.
std::unique_ptr<Comm> Comm::part(MPI_Comm ranks, std::span<const int> domains) const {
  std::unique_ptr<Comm> owned(new Comm(ranks, settings_));
  owned->ledger_ = ledger_;
  owned->topology_ = Topology(std::vector<int>(domains.size(), 0)).with_domains(domains);
  owned->prepare_allreduces();
  return owned;
}

const Comm& Comm::region(Region kind) const {
  if (kind == Region::node || !topology_.has_domains()) return node();
  if (!domain_) {
    MPI_Comm ranks = MPI_COMM_NULL;
    check(MPI_Comm_split(comm_, topology_.domains().node(rank_), rank_, &ranks), "MPI_Comm_split");
    int n = 0;
    MPI_Comm_size(ranks, &n);
    domain_ = part(ranks, std::vector<int>(static_cast<std::size_t>(n), 0));
  }
  return *domain_;
}

void Comm::prepare_allreduces() {
  const auto ranges = collectives::allreduce_ranges(settings_.allreduce, topology_);
  if (ranges.empty()) return;
  allreduces_ = collectively(*this, [&] {
    std::vector<std::unique_ptr<collectives::ScheduledAllreduce>> made;
    for (const collectives::AllreduceRange& range : ranges) {
      made.push_back(
          std::make_unique<collectives::ScheduledAllreduce>(*this, *range.method, range.longest));
    }
    return made;
  });
}

Comm::~Comm() {
  kept_window_.reset();  // needs the communicator
  if (!is_finalized() && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void Comm::count_message(int to, std::int64_t bytes) const {
  const Reach reach = !topology_.same_node(rank_, to)    ? Reach::network
                      : topology_.same_domain(rank_, to) ? Reach::domain
                                                         : Reach::node;
  ledger_->count_message(reach, bytes);
}

int Comm::next_discovery_tag() const {
  return tag_discovery + static_cast<int>(discovery_calls_++ & 1U);
}

namespace {

template <class T>
T reduce(const Comm& comm, T value, MPI_Op op) {
  collectives::allreduce_unchecked(comm, &value, 1, sizeof(T), datatype<T>(), op);
  return value;
}

template <class T>
void reduce_in_place(const Comm& comm, std::span<T> values, MPI_Op op) {
  collectives::allreduce_unchecked(comm, values.data(), static_cast<Offset>(values.size()),
                                   sizeof(T), datatype<T>(), op);
}

}  // namespace

template <class T>
T sum(const Comm& comm, T value) {
  return reduce(comm, value, MPI_SUM);
}
template <class T>
T max(const Comm& comm, T value) {
  return reduce(comm, value, MPI_MAX);
}
template <class T>
T min(const Comm& comm, T value) {
  return reduce(comm, value, MPI_MIN);
}

template <class T>
void sum_in_place(const Comm& comm, std::span<T> values) {
  reduce_in_place(comm, values, MPI_SUM);
}
template <class T>
void max_in_place(const Comm& comm, std::span<T> values) {
  reduce_in_place(comm, values, MPI_MAX);
}

template <class T>
T exclusive_sum(const Comm& comm, T value) {
  const CollectiveCall call(comm);
  T result{};
  check(MPI_Exscan(&value, &result, 1, datatype<T>(), MPI_SUM, comm.get()), "MPI_Exscan");
  return comm.is_root() ? T{} : result;  // the standard leaves rank 0's result undefined
}

// A sum of numbers that all but one rank leave zero has fewer stages between nodes.
template <class T>
std::vector<T> gather_all(const Comm& comm, T value) {
  std::vector<T> all(static_cast<std::size_t>(comm.size()));
  const auto bytes = static_cast<Offset>(all.size() * sizeof(T));
  if (bytes <= collectives::automatic_allreduce_bytes &&
      collectives::scheduled_for(comm, bytes) != nullptr) {
    all[static_cast<std::size_t>(comm.rank())] = value;
    sum_in_place(comm, std::span<T>(all));
    return all;
  }
  const CollectiveCall call(comm);
  check(MPI_Allgather(&value, 1, datatype<T>(), all.data(), 1, datatype<T>(), comm.get()),
        "MPI_Allgather");
  return all;
}

template <class T>
std::vector<T> concatenate_all(const Comm& comm, std::span<const T> values) {
  const int count = narrow<int>(values.size(), "count");
  const std::vector<std::int32_t> counts = gather_all<std::int32_t>(comm, count);
  std::vector<int> starts(counts.size() + 1, 0);
  std::int64_t total = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    total += counts[r];
    starts[r + 1] = narrow<int>(total, "gathered count");
  }
  std::vector<T> all(static_cast<std::size_t>(total));
  const CollectiveCall call(comm);
  check(MPI_Allgatherv(values.data(), count, datatype<T>(), all.data(), counts.data(),
                       starts.data(), datatype<T>(), comm.get()),
        "MPI_Allgatherv");
  return all;
}

std::string broadcast(const Comm& comm, const std::string& text, int root) {
  const auto length = broadcast(comm, static_cast<std::int64_t>(text.size()), root);
  std::string result = text;
  result.resize(static_cast<std::size_t>(length));
  const CollectiveCall call(comm);
  check(MPI_Bcast(result.data(), narrow<int>(length, "text length"), MPI_CHAR, root, comm.get()),
        "MPI_Bcast");
  return result;
}

template <class T>
T broadcast(const Comm& comm, T value, int root) {
  const CollectiveCall call(comm);
  check(MPI_Bcast(&value, 1, datatype<T>(), root, comm.get()), "MPI_Bcast");
  return value;
}

#define NODEWISE_INSTANTIATE(T)                                             \
  template T sum(const Comm&, T);                                           \
  template T max(const Comm&, T);                                           \
  template T min(const Comm&, T);                                           \
  template void sum_in_place(const Comm&, std::span<T>);                    \
  template void max_in_place(const Comm&, std::span<T>);                    \
  template T exclusive_sum(const Comm&, T);                                 \
  template std::vector<T> gather_all(const Comm&, T);                       \
  template std::vector<T> concatenate_all(const Comm&, std::span<const T>); \
  template T broadcast(const Comm&, T, int);
NODEWISE_INSTANTIATE(std::int32_t)
NODEWISE_INSTANTIATE(std::int64_t)
NODEWISE_INSTANTIATE(std::uint64_t)
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::mpi
