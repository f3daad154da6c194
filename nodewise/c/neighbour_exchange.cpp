// MPIL_Neighbor_alltoallv and its persistent forms.
#include "nodewise/c/neighbour_exchange.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "nodewise/c/handles.hpp"
#include "nodewise/comm/sdde/sdde.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::c {

namespace {

[[noreturn]] void refuse_side(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, what);
}

/// Bytes that each rank is sent, or is expected to send; those of none are left out.
std::map<int, Offset> bytes_by_rank(const PackedSide& side) {
  std::map<int, Offset> bytes;
  for (const PackedSide::Part& part : side.parts) {
    if (part.count > 0) bytes[part.rank] += side.bytes(part);
  }
  return bytes;
}

/// The ranks of a Pattern and where their entries end, in units of bytes.
void add_ranks(const PackedSide& side, std::size_t unit, std::vector<int>& ranks,
               std::vector<LocalIndex>& offsets) {
  for (std::size_t i = 0; i < side.n_outside; ++i) {
    const PackedSide::Part& part = side.parts[i];
    if (part.count == 0) continue;
    if (ranks.empty() || ranks.back() != part.rank) {
      ranks.push_back(part.rank);
      offsets.push_back(offsets.back());
    }
    offsets.back() += narrow<LocalIndex>(side.bytes(part) / static_cast<Offset>(unit), "entries");
  }
}

/// For each item sent to other ranks, in the order they are packed, the first that is the same. One
/// that the same rank is sent before is another: the receiver does not know that they are one.
std::vector<Offset> first_of_same(const PackedSide& sends, std::span<const Offset> first_name,
                                  const long* names) {
  struct Item {
    std::int64_t name, times, place;
    bool operator<(const Item& other) const {
      return std::tie(name, times, place) < std::tie(other.name, other.times, other.place);
    }
  };
  std::vector<Item> items;
  for (std::size_t i = 0, begin = 0; i < sends.n_outside; ++i) {
    const PackedSide::Part& part = sends.parts[i];
    for (Offset k = 0; k < part.count; ++k) {
      const auto name =
          names == nullptr ? part.displacement + k : Offset{names[first_name[part.neighbour] + k]};
      items.push_back({name, 0, std::ssize(items)});
    }
    if (i + 1 < sends.n_outside && sends.parts[i + 1].rank == part.rank) continue;
    const auto of_rank = items.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(of_rank, items.end());
    for (auto item = of_rank; item != items.end(); ++item) {
      if (item != of_rank && item->name == (item - 1)->name) item->times = (item - 1)->times + 1;
    }
    begin = items.size();
  }
  std::sort(items.begin(), items.end());
  std::vector<Offset> first(items.size());
  std::int64_t found = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    const bool is_new =
        i == 0 || item.name != items[i - 1].name || item.times != items[i - 1].times;
    if (is_new) found = item.place;
    first[static_cast<std::size_t>(item.place)] = found;
  }
  return first;
}

}  // namespace

const Neighbours& neighbours_of(const MPIL_Comm* comm) {
  comm_of(comm);
  require(comm->neighbours.has_value(), MPI_ERR_TOPOLOGY,
          "the MPIL_Comm has no neighbours: MPIL_Dist_graph_create_adjacent makes one that has");
  return *comm->neighbours;
}

void require_ranks(const Neighbours& neighbours, int size) {
  for (const auto* ranks : {&neighbours.sources, &neighbours.destinations}) {
    for (const int rank : *ranks) {
      if (rank >= 0 && rank < size) continue;
      refuse_side(fmt::format("neighbour {} of a communicator of {} processes", rank, size));
    }
  }
}

PackedSide::PackedSide(std::span<const int> ranks, const NeighbourSide& side, int rank) {
  type.emplace(side.type);
  if (!ranks.empty() && (side.counts == nullptr || side.displs == nullptr)) {
    refuse_side("there are neighbours, but counts or displacements are NULL");
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (side.counts[i] < 0) {
      refuse_side(fmt::format("neighbour {}: {} items", ranks[i], side.counts[i]));
    }
    parts.push_back({ranks[i], i, side.counts[i], side.displs[i]});
  }
  std::stable_sort(parts.begin(), parts.end(), [rank](const Part& a, const Part& b) {
    return std::pair(a.rank == rank, a.rank) < std::pair(b.rank == rank, b.rank);
  });
  for (const Part& part : parts) {
    if (part.rank != rank) ++n_outside;
    (part.rank != rank ? bytes_outside : bytes_inside) += bytes(part);
  }
}

bool PackedSide::lies_packed() const {
  if (bytes_inside > 0 || !type->is_plain()) return false;
  for (std::size_t i = 1; i < n_outside; ++i) {
    if (parts[i].displacement != parts[i - 1].displacement + parts[i - 1].count) return false;
  }
  return true;
}

NeighbourExchange::NeighbourExchange(std::shared_ptr<const mpi::Comm> comm,
                                     const Neighbours& neighbours, const void* sendbuf,
                                     const NeighbourSide& sends, void* recvbuf,
                                     const NeighbourSide& receives, const comm::Route& route,
                                     const comm::Transport& transport)
    : comm_(std::move(comm)), sendbuf_(sendbuf), recvbuf_(recvbuf) {
  compare_lengths([&] { prepare(neighbours, sends, receives); });
  find_unit();
  const bool joins = !comm::goes_straight(route, comm_->topology());
  const comm::Pattern entries = mpi::collectively(*comm_, [&] { return pattern(sends, joins); });
  exchange_ =
      std::make_unique<comm::Exchange>(comm_, comm::make_plan(*comm_, entries, route), transport);
}

void NeighbourExchange::prepare(const Neighbours& neighbours, const NeighbourSide& sends,
                                const NeighbourSide& receives) {
  require_ranks(neighbours, comm_->size());
  sends_.emplace(neighbours.destinations, sends, comm_->rank());
  receives_.emplace(neighbours.sources, receives, comm_->rank());
  const auto require_buffer = [](const PackedSide& side, const void* buffer, const char* name) {
    const bool is_needed = side.type->is_plain() && side.bytes_outside + side.bytes_inside > 0;
    if (is_needed && buffer == nullptr) refuse_side(fmt::format("{} is NULL", name));
  };
  require_buffer(*sends_, sendbuf_, "sendbuf");
  require_buffer(*receives_, recvbuf_, "recvbuf");
  sends_lie_packed_ = sends_->lies_packed();
  receives_lie_packed_ = receives_->lies_packed();
}

template <class Prepare>
void NeighbourExchange::compare_lengths(Prepare&& prepare) {
  std::vector<int> ranks;
  std::vector<Offset> offsets, lengths;
  comm::EqualMessages<Offset> told;
  told.count = 1;
  std::vector<Offset> told_offsets;
  const auto room = [&](std::size_t n) {
    told.data.resize(n);
    return reinterpret_cast<std::byte*>(told.data.data());
  };
  const auto tell = [&] {
    prepare();
    for (const auto& [rank, bytes] : bytes_by_rank(*sends_)) {
      ranks.push_back(rank);
      lengths.push_back(bytes);
    }
    offsets = comm::detail::equal_offsets(ranks.size(), 1, lengths.size());
    return comm::detail::SparseSends{ranks, offsets, std::as_bytes(std::span(lengths)),
                                     sizeof(Offset), 1};
  };
  comm::detail::exchange_bytes(*comm_, tell, {told.ranks, told_offsets, room}, {});
  mpi::collectively(*comm_, [&] {
    std::map<int, Offset> expected = bytes_by_rank(*receives_);
    for (std::size_t i = 0; i < told.ranks.size(); ++i) expected[told.ranks[i]] -= told.data[i];
    for (const auto& [rank, bytes] : expected) {
      if (bytes == 0) continue;
      refuse_side(fmt::format("process {} sends {} bytes {} than process {} expects", rank,
                              std::abs(bytes), bytes > 0 ? "less" : "more", comm_->rank()));
    }
  });
}

void NeighbourExchange::find_unit() {
  const auto own = static_cast<Offset>(std::gcd(sends_->type->bytes(), receives_->type->bytes()));
  std::array<Offset, 2> most_and_least = {own, -own};
  mpi::max_in_place<Offset>(*comm_, most_and_least);
  Offset unit = most_and_least[0];
  if (unit != -most_and_least[1]) {  // as it is in hardly any program
    for (const Offset other : mpi::gather_all(*comm_, own)) unit = std::gcd(unit, other);
  }
  unit_ = static_cast<std::size_t>(unit);
}

comm::Pattern NeighbourExchange::pattern(const NeighbourSide& sends, bool joins) const {
  comm::Pattern result;
  add_ranks(*receives_, unit_, result.recv_ranks, result.recv_offsets);
  add_ranks(*sends_, unit_, result.send_ranks, result.send_offsets);
  result.n_ghosts = result.recv_offsets.back();
  result.n_owned = result.send_offsets.back();
  result.send_entries.resize(static_cast<std::size_t>(result.n_owned));
  std::iota(result.send_entries.begin(), result.send_entries.end(), LocalIndex{0});
  if (!joins) return result;
  std::vector<Offset> first_name = {0};
  for (std::size_t i = 0; i < sends_->parts.size(); ++i) {
    first_name.push_back(first_name.back() + sends.counts[i]);
  }
  const auto per_item = static_cast<Offset>(sends_->type->bytes() / unit_);
  const std::vector<Offset> first = first_of_same(*sends_, first_name, sends.names);
  for (std::size_t entry = 0; entry < result.send_entries.size(); ++entry) {
    const auto item = static_cast<Offset>(entry) / per_item;
    const Offset moved = (item - first[static_cast<std::size_t>(item)]) * per_item;
    result.send_entries[entry] -= static_cast<LocalIndex>(moved);
  }
  return result;
}

void NeighbourExchange::start() {
  require(!is_started_, MPI_ERR_REQUEST, "the request is started already");
  const auto n_owned = static_cast<std::size_t>(sends_->bytes_outside);
  const auto n_ghosts = static_cast<std::size_t>(receives_->bytes_outside);
  std::span<const std::byte> owned;
  if (!sends_lie_packed_) {
    sent_.clear();
    for (const PackedSide::Part& part : sends_->parts) {
      sends_->type->pack(sendbuf_, part.displacement, part.count, sent_);
    }
    owned = std::span(sent_).first(n_owned);
  } else if (n_owned > 0) {
    owned = {static_cast<const std::byte*>(sendbuf_) + sends_->first_byte(), n_owned};
  }
  std::span<std::byte> ghosts;
  if (!receives_lie_packed_) {
    received_.resize(n_ghosts);
    ghosts = received_;
  } else if (n_ghosts > 0) {
    ghosts = {static_cast<std::byte*>(recvbuf_) + receives_->first_byte(), n_ghosts};
  }
  exchange_->start(owned, ghosts, static_cast<int>(unit_));
  is_started_ = true;
}

void NeighbourExchange::wait() {
  if (!is_started_) return;
  is_started_ = false;
  exchange_->finish();
  if (receives_lie_packed_) return;
  const std::byte* from = received_.data();
  for (std::size_t i = 0; i < receives_->parts.size(); ++i) {
    const PackedSide::Part& part = receives_->parts[i];
    if (i == receives_->n_outside) from = sent_.data() + sends_->bytes_outside;
    receives_->type->unpack(from, part.count, recvbuf_, part.displacement);
    from += receives_->bytes(part);
  }
}

namespace {

/// The route and the transport of a call.
struct Way {
  comm::Route route;
  comm::Transport transport;
};

Way way_of_requests() {
  const bool joins =
      mpil_neighbor_alltoallv_init_implementation == NEIGHBOR_ALLTOALLV_INIT_LOCALITY;
  return {joins ? "three_step" : "direct", "persistent"};
}

Way way_of_one_call() {
  const bool joins = mpil_neighbor_alltoallv_implementation == NEIGHBOR_ALLTOALLV_LOCALITY;
  return {joins ? "three_step" : "direct", "point_to_point"};
}

const Neighbours& neighbours_in(const MPIL_Topo* topo) {
  require(topo != nullptr, MPI_ERR_TOPOLOGY, "the MPIL_Topo is NULL");
  return topo->neighbours;
}

std::unique_ptr<NeighbourExchange> make_exchange(const MPIL_Comm* comm,
                                                 const Neighbours& neighbours, const void* sendbuf,
                                                 const NeighbourSide& sends, void* recvbuf,
                                                 const NeighbourSide& receives, const Way& way) {
  comm_of(comm);
  return std::make_unique<NeighbourExchange>(comm->comm, neighbours, sendbuf, sends, recvbuf,
                                             receives, way.route, way.transport);
}

void exchange_once(const MPIL_Comm* comm, const Neighbours& neighbours, const void* sendbuf,
                   const NeighbourSide& sends, void* recvbuf, const NeighbourSide& receives) {
  const auto exchange =
      make_exchange(comm, neighbours, sendbuf, sends, recvbuf, receives, way_of_one_call());
  exchange->start();
  exchange->wait();
}

void make_request(const MPIL_Comm* comm, const Neighbours& neighbours, const void* sendbuf,
                  const NeighbourSide& sends, void* recvbuf, const NeighbourSide& receives,
                  MPIL_Request** request_ptr) {
  require(request_ptr != nullptr, MPI_ERR_ARG, "no place for the MPIL_Request");
  auto request = std::make_unique<MPIL_Request>();
  request->exchange =
      make_exchange(comm, neighbours, sendbuf, sends, recvbuf, receives, way_of_requests());
  *request_ptr = request.release();
}

}  // namespace
}  // namespace nodewise::c

using namespace nodewise::c;

extern "C" {

int MPIL_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                            MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                            const int rdispls[], MPI_Datatype recvtype, MPIL_Comm* comm) {
  return guarded([&] {
    exchange_once(comm, neighbours_of(comm), sendbuf, {sendcounts, sdispls, sendtype}, recvbuf,
                  {recvcounts, rdispls, recvtype});
  });
}

int MPIL_Neighbor_alltoallv_topo(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                 const int rdispls[], MPI_Datatype recvtype, MPIL_Topo* topo,
                                 MPIL_Comm* comm) {
  return guarded([&] {
    exchange_once(comm, neighbours_in(topo), sendbuf, {sendcounts, sdispls, sendtype}, recvbuf,
                  {recvcounts, rdispls, recvtype});
  });
}

int MPIL_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                 const int rdispls[], MPI_Datatype recvtype, MPIL_Comm* comm,
                                 MPIL_Info* info, MPIL_Request** request_ptr) {
  return MPIL_Neighbor_alltoallv_init_ext(sendbuf, sendcounts, sdispls, nullptr, sendtype, recvbuf,
                                          recvcounts, rdispls, nullptr, recvtype, comm, info,
                                          request_ptr);
}

int MPIL_Neighbor_alltoallv_init_topo(const void* sendbuf, const int sendcounts[],
                                      const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                      const int recvcounts[], const int rdispls[],
                                      MPI_Datatype recvtype, MPIL_Topo* topo, MPIL_Comm* comm,
                                      MPIL_Info* info, MPIL_Request** request_ptr) {
  return MPIL_Neighbor_alltoallv_init_ext_topo(sendbuf, sendcounts, sdispls, nullptr, sendtype,
                                               recvbuf, recvcounts, rdispls, nullptr, recvtype,
                                               topo, comm, info, request_ptr);
}

int MPIL_Neighbor_alltoallv_init_ext(const void* sendbuf, const int sendcounts[],
                                     const int sdispls[], const long global_sindices[],
                                     MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                     const int rdispls[], const long /*global_rindices*/[],
                                     MPI_Datatype recvtype, MPIL_Comm* comm, MPIL_Info* /*info*/,
                                     MPIL_Request** request_ptr) {
  return guarded([&] {
    make_request(comm, neighbours_of(comm), sendbuf,
                 {sendcounts, sdispls, sendtype, global_sindices}, recvbuf,
                 {recvcounts, rdispls, recvtype}, request_ptr);
  });
}

int MPIL_Neighbor_alltoallv_init_ext_topo(const void* sendbuf, const int sendcounts[],
                                          const int sdispls[], const long global_sindices[],
                                          MPI_Datatype sendtype, void* recvbuf,
                                          const int recvcounts[], const int rdispls[],
                                          const long /*global_rindices*/[], MPI_Datatype recvtype,
                                          MPIL_Topo* topo, MPIL_Comm* comm, MPIL_Info* /*info*/,
                                          MPIL_Request** request_ptr) {
  return guarded([&] {
    make_request(comm, neighbours_in(topo), sendbuf,
                 {sendcounts, sdispls, sendtype, global_sindices}, recvbuf,
                 {recvcounts, rdispls, recvtype}, request_ptr);
  });
}

int MPIL_Start(MPIL_Request* request) {
  return guarded([&] {
    require(request != nullptr, MPI_ERR_REQUEST, "the MPIL_Request is NULL");
    request->exchange->start();
  });
}

int MPIL_Wait(MPIL_Request* request, MPI_Status* status) {
  return guarded([&] {
    if (request != nullptr) request->exchange->wait();
    if (status == MPI_STATUS_IGNORE) return;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    status->MPI_ERROR = MPI_SUCCESS;
    nodewise::mpi::check(MPI_Status_set_elements(status, MPI_BYTE, 0), "MPI_Status_set_elements");
    nodewise::mpi::check(MPI_Status_set_cancelled(status, 0), "MPI_Status_set_cancelled");
  });
}

int MPIL_Request_free(MPIL_Request** request) {
  return guarded([&] {
    if (request == nullptr || *request == nullptr) return;
    (*request)->exchange->wait();
    delete *request;
    *request = nullptr;
  });
}

int MPIL_Request_reorder(MPIL_Request* request, int /*value*/) {
  return guarded([&] { require(request != nullptr, MPI_ERR_REQUEST, "the MPIL_Request is NULL"); });
}

}  // extern "C"
