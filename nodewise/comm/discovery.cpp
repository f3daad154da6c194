#include "nodewise/comm/discovery.hpp"

#include <algorithm>
#include <numeric>

#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm::detail {

namespace {

/// An MPI datatype of `bytes` bytes, so that counts are items and stay below 2^31.
class ItemType {
 public:
  explicit ItemType(std::size_t bytes) {
    mpi::check(MPI_Type_contiguous(narrow<int>(bytes, "item size"), MPI_BYTE, &type_),
               "MPI_Type_contiguous");
    mpi::check(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~ItemType() { MPI_Type_free(&type_); }
  ItemType(const ItemType&) = delete;
  ItemType& operator=(const ItemType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

struct Arrived {
  int source;
  std::vector<std::byte> data;
};

/// Receives one message if one is there.
void receive_any(const mpi::Comm& comm, int tag, const ItemType& type, std::size_t item_bytes,
                 std::vector<Arrived>& arrived) {
  int there = 0;
  MPI_Status status;
  mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.get(), &there, &status), "MPI_Iprobe");
  if (!there) return;
  int count = 0;
  mpi::check(MPI_Get_count(&status, type.get(), &count), "MPI_Get_count");
  Arrived& message = arrived.emplace_back();
  message.source = status.MPI_SOURCE;
  message.data.resize(static_cast<std::size_t>(count) * item_bytes);
  mpi::check(MPI_Recv(message.data.data(), count, type.get(), message.source, tag, comm.get(),
                      MPI_STATUS_IGNORE),
             "MPI_Recv");
}

Messages<std::byte> concatenate(std::vector<Arrived>& arrived, std::size_t item_bytes) {
  std::sort(arrived.begin(), arrived.end(),
            [](const Arrived& a, const Arrived& b) { return a.source < b.source; });
  Messages<std::byte> all;
  for (const Arrived& message : arrived) {
    all.ranks.push_back(message.source);
    all.data.insert(all.data.end(), message.data.begin(), message.data.end());
    all.offsets.push_back(static_cast<Offset>(all.data.size() / item_bytes));
  }
  return all;
}

}  // namespace

Messages<std::byte> exchange_bytes(const mpi::Comm& comm, std::span<const int> ranks,
                                   std::span<const Offset> offsets, std::span<const std::byte> data,
                                   std::size_t item_bytes) {
  const mpi::Communicating communicating(comm);
  const int tag = comm.next_discovery_tag();
  const ItemType type(item_bytes);
  std::vector<MPI_Request> sends(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    // Synchronous, so that completion means "received": without it termination is not detected.
    const int count = narrow<int>(offsets[i + 1] - offsets[i], "message length");
    mpi::check(MPI_Issend(data.data() + static_cast<std::size_t>(offsets[i]) * item_bytes, count,
                          type.get(), ranks[i], tag, comm.get(), &sends[i]),
               "MPI_Issend");
    comm.count_message(ranks[i], count * static_cast<Offset>(item_bytes));
  }
  std::vector<Arrived> arrived;
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool in_barrier = false;
  for (int done = 0; !done;) {
    receive_any(comm, tag, type, item_bytes, arrived);
    if (in_barrier) {
      mpi::check(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
      continue;
    }
    int sent = 0;
    mpi::check(MPI_Testall(narrow<int>(sends.size()), sends.data(), &sent, MPI_STATUSES_IGNORE),
               "MPI_Testall");
    if (sent) {
      const mpi::CollectiveCall call(comm);
      mpi::check(MPI_Ibarrier(comm.get(), &barrier), "MPI_Ibarrier");
      in_barrier = true;
    }
  }
  return concatenate(arrived, item_bytes);
}

}  // namespace nodewise::comm::detail
