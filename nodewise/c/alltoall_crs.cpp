// MPIX_Alltoall_crs and MPIX_Alltoallv_crs, for int and for 64-bit counts.
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "nodewise/c/handles.hpp"
#include "nodewise/c/packing.hpp"
#include "nodewise/comm/sdde/sdde.hpp"

namespace nodewise::c {
namespace {

using comm::detail::SparseSends;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, what);
}

/// A length that C gives beside an array.
std::size_t checked_length(std::int64_t length, const void* array, const char* name) {
  if (length < 0) refuse(fmt::format("{} is {}", name, length));
  if (length > 0 && array == nullptr)
    refuse(fmt::format("{} is {}, but the array is NULL", name, length));
  return static_cast<std::size_t>(length);
}

/// The messages that one process sends, as bytes.
struct Packed {
  std::vector<Offset> offsets = {0};
  Array<std::byte> bytes;  // unused where the caller's array is sent as it lies
  std::span<const std::byte> data;

  void add(std::int64_t items, const ItemType& type) {
    const auto most = std::numeric_limits<Offset>::max() / static_cast<Offset>(type.bytes());
    if (items < 0) refuse(fmt::format("a message of {} items", items));
    if (items > most - offsets.back() / static_cast<Offset>(type.bytes())) {
      throw Error(ErrorCode::index_overflow, fmt::format("a message of {} items", items));
    }
    offsets.push_back(offsets.back() + items * static_cast<Offset>(type.bytes()));
  }
  /// The items from `items` on, one behind the other.
  void take(const void* items, const ItemType& type) {
    if (type.is_plain()) {
      data = {static_cast<const std::byte*>(items), static_cast<std::size_t>(offsets.back())};
      return;
    }
    bytes.reserve(static_cast<std::size_t>(offsets.back()));
    type.pack(items, 0, offsets.back() / static_cast<Offset>(type.bytes()), bytes);
    data = bytes;
  }
};

/// The messages that arrived, as bytes.
struct Arrived {
  std::vector<int> ranks;
  std::vector<Offset> offsets;
  Array<std::byte> bytes;
};

template <class Prepare>
Arrived exchange(const mpi::Comm& comm, const MPIX_Info* xinfo, Prepare&& prepare) {
  Arrived arrived;
  const auto room = [&](std::size_t n) {
    arrived.bytes.resize(n);
    return arrived.bytes.data();
  };
  comm::SparseOptions options;
  options.algorithm = settings_of(xinfo, comm).sparse_exchange;
  comm::detail::exchange_bytes(comm, prepare, {arrived.ranks, arrived.offsets, room}, options);
  return arrived;
}

/// Stores how much arrived. Returns what there was room for.
template <class Count>
Count store_arrived(Count* room, std::int64_t arrived) {
  const Count given = *room;
  if (std::in_range<Count>(arrived)) *room = static_cast<Count>(arrived);
  return given;
}

/// Throws where it does not fit.
template <class Count>
void check_room(Count given, std::int64_t arrived, const char* name) {
  if (given >= 0 && std::cmp_greater(arrived, given)) {
    throw ClassifiedError(MPI_ERR_TRUNCATE,
                          fmt::format("{} is {}, but {} arrived", name, given, arrived));
  }
  if (!std::in_range<Count>(arrived)) {
    throw ClassifiedError(MPI_ERR_COUNT,
                          fmt::format("{} arrived: use the call for large counts", arrived));
  }
}

template <class Count>
void alltoall_crs(int send_nnz, const int* dest, Count sendcount, MPI_Datatype sendtype,
                  const void* sendvals, int* recv_nnz, int* src, Count recvcount,
                  MPI_Datatype recvtype, void* recvvals, const MPIX_Info* xinfo,
                  const mpi::Comm& comm) {
  Packed packed;
  std::optional<ItemType> type;
  const Arrived arrived = exchange(comm, xinfo, [&] {
    const std::size_t n = checked_length(send_nnz, dest, "send_nnz");
    const ItemType sent(sendtype);
    type.emplace(recvtype);
    if (recv_nnz == nullptr) refuse("recv_nnz is NULL");
    if (*recv_nnz > 0 && src == nullptr) refuse("src is NULL");
    if (*recv_nnz > 0 && recvcount > 0 && recvvals == nullptr) refuse("recvvals is NULL");
    for (std::size_t i = 0; i < n; ++i) packed.add(sendcount, sent);
    Packed one;
    one.add(sendcount, sent);
    Packed one_received;
    one_received.add(recvcount, *type);
    if (one.offsets != one_received.offsets) {
      refuse(fmt::format("{} bytes are sent to each process, but {} expected", one.offsets[1],
                         one_received.offsets[1]));
    }
    checked_length(packed.offsets.back(), sendvals, "the bytes to send");
    packed.take(sendvals, sent);
    return SparseSends{{dest, n}, packed.offsets, packed.data, 1, one.offsets[1]};
  });
  const auto n_arrived = std::int64_t{std::ssize(arrived.ranks)};
  check_room(store_arrived(recv_nnz, n_arrived), n_arrived, "recv_nnz");
  std::copy(arrived.ranks.begin(), arrived.ranks.end(), src);
  const auto items = std::ssize(arrived.bytes) / static_cast<std::ptrdiff_t>(type->bytes());
  type->unpack(arrived.bytes.data(), items, recvvals);
}

/// Whether the messages lie one behind the other from the first item on.
template <class Count>
bool is_consecutive(std::span<const Count> counts, std::span<const Count> displacements) {
  std::int64_t next = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!std::cmp_equal(displacements[i], next)) return false;
    next += counts[i];
  }
  return true;
}

/// The messages of a call of alltoallv_crs.
template <class Count>
void pack_messages(std::span<const Count> counts, std::span<const Count> displacements,
                   Count send_size, const void* sendvals, const ItemType& type, Packed& packed) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    packed.add(counts[i], type);
    if (displacements[i] < 0 || displacements[i] > send_size - counts[i]) {
      refuse(fmt::format("message {}: {} items from {} on are not among the {} of sendvals", i,
                         counts[i], displacements[i], send_size));
    }
  }
  if (is_consecutive(counts, displacements)) return packed.take(sendvals, type);
  packed.bytes.reserve(static_cast<std::size_t>(packed.offsets.back()));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    type.pack(sendvals, displacements[i], counts[i], packed.bytes);
  }
  packed.data = packed.bytes;
}

template <class Count>
void alltoallv_crs(int send_nnz, Count send_size, const int* dest, const Count* sendcounts,
                   const Count* sdispls, MPI_Datatype sendtype, const void* sendvals, int* recv_nnz,
                   Count* recv_size, int* src, Count* recvcounts, Count* rdispls,
                   MPI_Datatype recvtype, void* recvvals, const MPIX_Info* xinfo,
                   const mpi::Comm& comm) {
  Packed packed;
  std::optional<ItemType> type;
  const Arrived arrived = exchange(comm, xinfo, [&] {
    const std::size_t n = checked_length(send_nnz, dest, "send_nnz");
    checked_length(send_nnz, sendcounts, "send_nnz");
    checked_length(send_nnz, sdispls, "send_nnz");
    checked_length(send_size, sendvals, "send_size");
    type.emplace(recvtype);
    if (recv_nnz == nullptr || recv_size == nullptr) refuse("recv_nnz or recv_size is NULL");
    if (*recv_nnz > 0 && (src == nullptr || recvcounts == nullptr || rdispls == nullptr)) {
      refuse("src, recvcounts or rdispls is NULL");
    }
    if (*recv_size > 0 && recvvals == nullptr) refuse("recvvals is NULL");
    pack_messages<Count>({sendcounts, n}, {sdispls, n}, send_size, sendvals, ItemType(sendtype),
                         packed);
    return SparseSends{{dest, n}, packed.offsets, packed.data, 1};
  });
  const auto item_bytes = static_cast<Offset>(type->bytes());
  for (std::size_t i = 0; i < arrived.ranks.size(); ++i) {
    const Offset bytes = arrived.offsets[i + 1] - arrived.offsets[i];
    if (bytes % item_bytes == 0) continue;
    throw ClassifiedError(MPI_ERR_TYPE,
                          fmt::format("{} bytes from process {} are no multiple of recvtype's {}",
                                      bytes, arrived.ranks[i], item_bytes));
  }
  const std::int64_t items = arrived.offsets.back() / item_bytes;
  const auto n_arrived = std::int64_t{std::ssize(arrived.ranks)};
  // Both, whichever is too little: a caller makes room once.
  const int room = store_arrived(recv_nnz, n_arrived);
  const Count room_of_items = store_arrived(recv_size, items);
  check_room(room, n_arrived, "recv_nnz");
  check_room(room_of_items, items, "recv_size");
  for (std::size_t i = 0; i < arrived.ranks.size(); ++i) {
    src[i] = arrived.ranks[i];
    rdispls[i] = static_cast<Count>(arrived.offsets[i] / item_bytes);
    recvcounts[i] = static_cast<Count>((arrived.offsets[i + 1] - arrived.offsets[i]) / item_bytes);
  }
  type->unpack(arrived.bytes.data(), items, recvvals);
}

}  // namespace
}  // namespace nodewise::c

using namespace nodewise::c;

extern "C" {

int MPIX_Alltoall_crs(int send_nnz, const int* dest, int sendcount, MPI_Datatype sendtype,
                      const void* sendvals, int* recv_nnz, int* src, int recvcount,
                      MPI_Datatype recvtype, void* recvvals, const MPIX_Info* xinfo,
                      MPIX_Comm* xcomm) {
  return guarded([&] {
    alltoall_crs<int>(send_nnz, dest, sendcount, sendtype, sendvals, recv_nnz, src, recvcount,
                      recvtype, recvvals, xinfo, comm_of(xcomm));
  });
}

int MPIX_Alltoall_crs_c(int send_nnz, const int* dest, int64_t sendcount, MPI_Datatype sendtype,
                        const void* sendvals, int* recv_nnz, int* src, int64_t recvcount,
                        MPI_Datatype recvtype, void* recvvals, const MPIX_Info* xinfo,
                        MPIX_Comm* xcomm) {
  return guarded([&] {
    alltoall_crs<int64_t>(send_nnz, dest, sendcount, sendtype, sendvals, recv_nnz, src, recvcount,
                          recvtype, recvvals, xinfo, comm_of(xcomm));
  });
}

int MPIX_Alltoallv_crs(int send_nnz, int send_size, const int* dest, const int* sendcounts,
                       const int* sdispls, MPI_Datatype sendtype, const void* sendvals,
                       int* recv_nnz, int* recv_size, int* src, int* recvcounts, int* rdispls,
                       MPI_Datatype recvtype, void* recvvals, const MPIX_Info* xinfo,
                       MPIX_Comm* xcomm) {
  return guarded([&] {
    alltoallv_crs<int>(send_nnz, send_size, dest, sendcounts, sdispls, sendtype, sendvals, recv_nnz,
                       recv_size, src, recvcounts, rdispls, recvtype, recvvals, xinfo,
                       comm_of(xcomm));
  });
}

int MPIX_Alltoallv_crs_c(int send_nnz, int64_t send_size, const int* dest,
                         const int64_t* sendcounts, const int64_t* sdispls, MPI_Datatype sendtype,
                         const void* sendvals, int* recv_nnz, int64_t* recv_size, int* src,
                         int64_t* recvcounts, int64_t* rdispls, MPI_Datatype recvtype,
                         void* recvvals, const MPIX_Info* xinfo, MPIX_Comm* xcomm) {
  return guarded([&] {
    alltoallv_crs<int64_t>(send_nnz, send_size, dest, sendcounts, sdispls, sendtype, sendvals,
                           recv_nnz, recv_size, src, recvcounts, rdispls, recvtype, recvvals, xinfo,
                           comm_of(xcomm));
  });
}

}  // extern "C"
