// MPIX_Alltoall_crs and MPIX_Alltoallv_crs, for int and for 64-bit counts, and the same of MPIL.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "nodewise/c/handles.hpp"
#include "nodewise/c/mpil.hpp"
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

/// The messages that arrived, as bytes, and the type to read them as.
struct Arrived {
  std::vector<int> ranks;
  std::vector<Offset> offsets;
  Array<std::byte> bytes;
  std::optional<ItemType> type;

  std::int64_t n_messages() const { return std::ssize(ranks); }
  std::int64_t n_items() const { return first_item(ranks.size()); }
  /// Where message i begins among the items.
  std::int64_t first_item(std::size_t i) const {
    return offsets[i] / static_cast<Offset>(type->bytes());
  }
};

using Options = comm::SparseOptions;

/// How a call says that it is to be done. `recv_nnz` may be NULL, which is refused later.
Options options_of(const MPIX_Info* xinfo, const mpi::Comm& comm, const int* recv_nnz) {
  const mpi::CommSettings settings = settings_of(xinfo, comm);
  Options options;
  options.algorithm = settings.sparse_exchange;
  options.region = settings.sparse_exchange_region;
  if (xinfo == nullptr) return options;
  options.keep_window = xinfo->hints.keep_window;
  if (xinfo->hints.recv_nnz_is_exact) options.n_receives = recv_nnz != nullptr ? *recv_nnz : 0;
  return options;
}

/// Collective. `prepare(arrived)` makes the messages and sets the type.
template <class Prepare>
Arrived exchange(const mpi::Comm& comm, const Options& options, Prepare&& prepare) {
  Arrived arrived;
  const auto room = [&](std::size_t n) {
    arrived.bytes.resize(n);
    return arrived.bytes.data();
  };
  comm::detail::exchange_bytes(
      comm, [&] { return prepare(arrived); }, {arrived.ranks, arrived.offsets, room}, options);
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
  if (std::cmp_greater(arrived, given)) {
    throw ClassifiedError(MPI_ERR_TRUNCATE,
                          fmt::format("{} is {}, but {} arrived", name, given, arrived));
  }
  if (!std::in_range<Count>(arrived)) {
    throw ClassifiedError(MPI_ERR_COUNT,
                          fmt::format("{} arrived: use the call for large counts", arrived));
  }
}

/// Throws for room that cannot be: a caller who counted wrongly must not have memory written to.
template <class Count>
void require_room(const Count* room, const char* name) {
  if (room == nullptr) refuse(fmt::format("{} is NULL", name));
  if (*room < 0) refuse(fmt::format("{} is {}: the room there is", name, *room));
}

/// What a call of alltoall_crs sends.
template <class Count>
struct EqualSends {
  int nnz;
  const int* dest;
  Count count;
  MPI_Datatype type;
  const void* values;
};

/// Collective. `check_room()` looks at the place for what arrives.
template <class Count, class CheckRoom>
Arrived exchange_equal(const EqualSends<Count>& sends, Count recvcount, MPI_Datatype recvtype,
                       const Options& options, const mpi::Comm& comm, CheckRoom&& check_room) {
  Packed packed;
  return exchange(comm, options, [&](Arrived& arrived) {
    const std::size_t n = checked_length(sends.nnz, sends.dest, "send_nnz");
    const ItemType sent(sends.type);
    arrived.type.emplace(recvtype);
    check_room();
    for (std::size_t i = 0; i < n; ++i) packed.add(sends.count, sent);
    Packed one;
    one.add(sends.count, sent);
    Packed one_received;
    one_received.add(recvcount, *arrived.type);
    if (one.offsets != one_received.offsets) {
      refuse(fmt::format("{} bytes are sent to each process, but {} expected", one.offsets[1],
                         one_received.offsets[1]));
    }
    checked_length(packed.offsets.back(), sends.values, "the bytes to send");
    packed.take(sends.values, sent);
    return SparseSends{{sends.dest, n}, packed.offsets, packed.data, 1, one.offsets[1]};
  });
}

template <class Count>
void alltoall_crs(const EqualSends<Count>& sends, int* recv_nnz, int* src, Count recvcount,
                  MPI_Datatype recvtype, void* recvvals, const MPIX_Info* xinfo,
                  const mpi::Comm& comm) {
  const Options options = options_of(xinfo, comm, recv_nnz);
  const Arrived arrived = exchange_equal(sends, recvcount, recvtype, options, comm, [&] {
    require_room(recv_nnz, "recv_nnz");
    if (*recv_nnz > 0 && src == nullptr) refuse("src is NULL");
    if (*recv_nnz > 0 && recvcount > 0 && recvvals == nullptr) refuse("recvvals is NULL");
  });
  const std::int64_t n = arrived.n_messages();
  check_room(store_arrived(recv_nnz, n), n, "recv_nnz");
  std::copy(arrived.ranks.begin(), arrived.ranks.end(), src);
  arrived.type->unpack(arrived.bytes.data(), arrived.n_items(), recvvals);
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

/// What a call of alltoallv_crs sends.
template <class Count>
struct Sends {
  int nnz;
  Count size;
  const int* dest;
  const Count* counts;
  const Count* displs;
  MPI_Datatype type;
  const void* values;
};

/// Throws where a message is no whole number of items.
void require_whole_items(const Arrived& arrived) {
  const auto item_bytes = static_cast<Offset>(arrived.type->bytes());
  for (std::size_t i = 0; i < arrived.ranks.size(); ++i) {
    const Offset bytes = arrived.offsets[i + 1] - arrived.offsets[i];
    if (bytes % item_bytes == 0) continue;
    throw ClassifiedError(MPI_ERR_TYPE,
                          fmt::format("{} bytes from process {} are no multiple of recvtype's {}",
                                      bytes, arrived.ranks[i], item_bytes));
  }
}

/// Collective. `check_room()` looks at the place for what arrives.
template <class Count, class CheckRoom>
Arrived exchange_any(const Sends<Count>& sends, MPI_Datatype recvtype, const Options& options,
                     const mpi::Comm& comm, CheckRoom&& check_room) {
  Packed packed;
  Arrived all = exchange(comm, options, [&](Arrived& arrived) {
    const std::size_t n = checked_length(sends.nnz, sends.dest, "send_nnz");
    checked_length(sends.nnz, sends.counts, "send_nnz");
    checked_length(sends.nnz, sends.displs, "send_nnz");
    checked_length(sends.size, sends.values, "send_size");
    arrived.type.emplace(recvtype);
    check_room();
    pack_messages<Count>({sends.counts, n}, {sends.displs, n}, sends.size, sends.values,
                         ItemType(sends.type), packed);
    return SparseSends{{sends.dest, n}, packed.offsets, packed.data, 1};
  });
  require_whole_items(all);
  return all;
}

/// Where each message came from, its items, and where it begins.
template <class Count>
void store_messages(const Arrived& arrived, int* src, Count* recvcounts, Count* rdispls) {
  for (std::size_t i = 0; i < arrived.ranks.size(); ++i) {
    src[i] = arrived.ranks[i];
    rdispls[i] = static_cast<Count>(arrived.first_item(i));
    recvcounts[i] = static_cast<Count>(arrived.first_item(i + 1) - arrived.first_item(i));
  }
}

template <class Count>
void alltoallv_crs(const Sends<Count>& sends, int* recv_nnz, Count* recv_size, int* src,
                   Count* recvcounts, Count* rdispls, MPI_Datatype recvtype, void* recvvals,
                   const MPIX_Info* xinfo, const mpi::Comm& comm) {
  const Options options = options_of(xinfo, comm, recv_nnz);
  const Arrived arrived = exchange_any(sends, recvtype, options, comm, [&] {
    require_room(recv_nnz, "recv_nnz");
    require_room(recv_size, "recv_size");
    if (*recv_nnz > 0 && (src == nullptr || recvcounts == nullptr || rdispls == nullptr)) {
      refuse("src, recvcounts or rdispls is NULL");
    }
    if (*recv_size > 0 && recvvals == nullptr) refuse("recvvals is NULL");
  });
  // Both, whichever is too little: a caller makes room once.
  const int room = store_arrived(recv_nnz, arrived.n_messages());
  const Count room_of_items = store_arrived(recv_size, arrived.n_items());
  check_room(room, arrived.n_messages(), "recv_nnz");
  check_room(room_of_items, arrived.n_items(), "recv_size");
  store_messages(arrived, src, recvcounts, rdispls);
  arrived.type->unpack(arrived.bytes.data(), arrived.n_items(), recvvals);
}

/// Local. Memory that MPIL_Free() takes back, unless the call fails; NULL for none.
template <class T>
auto allocated(std::int64_t bytes) {
  void* memory = bytes == 0 ? nullptr : std::malloc(static_cast<std::size_t>(bytes));
  if (bytes > 0 && memory == nullptr) throw std::bad_alloc();
  return std::unique_ptr<T, int (*)(void*)>(static_cast<T*>(memory), MPIL_Free);
}

auto allocated_numbers(std::int64_t n) {
  return allocated<int>(n * static_cast<std::int64_t>(sizeof(int)));
}

/// Local. The items that arrived, in memory of their own, and how many.
auto allocated_items(const Arrived& arrived, int& n) {
  if (!std::in_range<int>(arrived.n_items())) {
    throw ClassifiedError(MPI_ERR_COUNT, fmt::format("{} items arrived", arrived.n_items()));
  }
  n = static_cast<int>(arrived.n_items());
  auto items = allocated<char>(arrived.type->memory_of(n));
  arrived.type->unpack(arrived.bytes.data(), n, items.get());
  return items;
}

/// A place for what a call makes.
template <class T>
T& place(T* result, const char* name) {
  if (result == nullptr) refuse(fmt::format("{} is NULL", name));
  return *result;
}

void alltoall_crs_allocated(const EqualSends<int>& sends, int* recv_nnz, int** src_ptr,
                            int recvcount, MPI_Datatype recvtype, void** recvvals_ptr,
                            const mpi::Comm& comm) {
  const Arrived arrived = exchange_equal(sends, recvcount, recvtype,
                                         {.algorithm = alltoall_crs_algorithm()}, comm, [&] {
                                           place(recv_nnz, "recv_nnz");
                                           place(src_ptr, "src_ptr");
                                           place(recvvals_ptr, "recvvals_ptr");
                                         });
  auto src = allocated_numbers(arrived.n_messages());
  int n_items = 0;
  auto items = allocated_items(arrived, n_items);
  std::copy(arrived.ranks.begin(), arrived.ranks.end(), src.get());
  *recv_nnz = static_cast<int>(arrived.n_messages());
  *src_ptr = src.release();
  *recvvals_ptr = items.release();
}

/// The displacements have one number more than there are messages: where the last ends.
void alltoallv_crs_allocated(const Sends<int>& sends, int* recv_nnz, int* recv_size, int** src_ptr,
                             int** recvcounts_ptr, int** rdispls_ptr, MPI_Datatype recvtype,
                             void** recvvals_ptr, const mpi::Comm& comm) {
  const Arrived arrived =
      exchange_any(sends, recvtype, {.algorithm = alltoallv_crs_algorithm()}, comm, [&] {
        place(recv_nnz, "recv_nnz");
        place(recv_size, "recv_size");
        place(src_ptr, "src_ptr");
        place(recvcounts_ptr, "recvcounts_ptr");
        place(rdispls_ptr, "rdispls_ptr");
        place(recvvals_ptr, "recvvals_ptr");
      });
  auto src = allocated_numbers(arrived.n_messages());
  auto counts = allocated_numbers(arrived.n_messages());
  auto displs = allocated_numbers(arrived.n_messages() + 1);
  int n_items = 0;
  auto items = allocated_items(arrived, n_items);
  store_messages(arrived, src.get(), counts.get(), displs.get());
  displs.get()[arrived.n_messages()] = n_items;
  *recv_nnz = static_cast<int>(arrived.n_messages());
  *recv_size = n_items;
  *src_ptr = src.release();
  *recvcounts_ptr = counts.release();
  *rdispls_ptr = displs.release();
  *recvvals_ptr = items.release();
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
    alltoall_crs<int>({send_nnz, dest, sendcount, sendtype, sendvals}, recv_nnz, src, recvcount,
                      recvtype, recvvals, xinfo, comm_of(xcomm));
  });
}

int MPIX_Alltoall_crs_c(int send_nnz, const int* dest, int64_t sendcount, MPI_Datatype sendtype,
                        const void* sendvals, int* recv_nnz, int* src, int64_t recvcount,
                        MPI_Datatype recvtype, void* recvvals, const MPIX_Info* xinfo,
                        MPIX_Comm* xcomm) {
  return guarded([&] {
    alltoall_crs<int64_t>({send_nnz, dest, sendcount, sendtype, sendvals}, recv_nnz, src, recvcount,
                          recvtype, recvvals, xinfo, comm_of(xcomm));
  });
}

int MPIX_Alltoallv_crs(int send_nnz, int send_size, const int* dest, const int* sendcounts,
                       const int* sdispls, MPI_Datatype sendtype, const void* sendvals,
                       int* recv_nnz, int* recv_size, int* src, int* recvcounts, int* rdispls,
                       MPI_Datatype recvtype, void* recvvals, const MPIX_Info* xinfo,
                       MPIX_Comm* xcomm) {
  return guarded([&] {
    alltoallv_crs<int>({send_nnz, send_size, dest, sendcounts, sdispls, sendtype, sendvals},
                       recv_nnz, recv_size, src, recvcounts, rdispls, recvtype, recvvals, xinfo,
                       comm_of(xcomm));
  });
}

int MPIX_Alltoallv_crs_c(int send_nnz, int64_t send_size, const int* dest,
                         const int64_t* sendcounts, const int64_t* sdispls, MPI_Datatype sendtype,
                         const void* sendvals, int* recv_nnz, int64_t* recv_size, int* src,
                         int64_t* recvcounts, int64_t* rdispls, MPI_Datatype recvtype,
                         void* recvvals, const MPIX_Info* xinfo, MPIX_Comm* xcomm) {
  return guarded([&] {
    alltoallv_crs<int64_t>({send_nnz, send_size, dest, sendcounts, sdispls, sendtype, sendvals},
                           recv_nnz, recv_size, src, recvcounts, rdispls, recvtype, recvvals, xinfo,
                           comm_of(xcomm));
  });
}

int MPIL_Alltoall_crs(int send_nnz, const int* dest, int sendcount, MPI_Datatype sendtype,
                      const void* sendvals, int* recv_nnz, int** src_ptr, int recvcount,
                      MPI_Datatype recvtype, void** recvvals_ptr, MPIL_Info* /*xinfo*/,
                      MPIL_Comm* xcomm) {
  return guarded([&] {
    alltoall_crs_allocated({send_nnz, dest, sendcount, sendtype, sendvals}, recv_nnz, src_ptr,
                           recvcount, recvtype, recvvals_ptr, comm_of(xcomm));
  });
}

int MPIL_Alltoallv_crs(int send_nnz, int send_size, const int* dest, const int* sendcounts,
                       const int* sdispls, MPI_Datatype sendtype, const void* sendvals,
                       int* recv_nnz, int* recv_size, int** src_ptr, int** recvcounts_ptr,
                       int** rdispls_ptr, MPI_Datatype recvtype, void** recvvals_ptr,
                       MPIL_Info* /*xinfo*/, MPIL_Comm* xcomm) {
  return guarded([&] {
    alltoallv_crs_allocated({send_nnz, send_size, dest, sendcounts, sdispls, sendtype, sendvals},
                            recv_nnz, recv_size, src_ptr, recvcounts_ptr, rdispls_ptr, recvtype,
                            recvvals_ptr, comm_of(xcomm));
  });
}

}  // extern "C"
