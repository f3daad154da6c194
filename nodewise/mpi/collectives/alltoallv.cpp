#include "nodewise/mpi/collectives/alltoallv.hpp"

#include <algorithm>
#include <optional>

#include "nodewise/mpi/collectives/argument_check.hpp"
#include "nodewise/mpi/collectives/choice.hpp"
#include "nodewise/mpi/collectives/node_aware_alltoallv.hpp"
#include "nodewise/mpi/collectives/transfer.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::mpi::collectives {

namespace {

/// Everything a call needs; made by one rank before it hears of the others.
struct Call {
  Choice<AlltoallvMethod> setting;
  std::optional<TypedBlocks> to = {}, from = {};
  Blocks packed = {};                            // where the copied blocks lie, for a send in place
  Array<std::byte> copy = {};                    // of what is sent in place
  std::unique_ptr<BlockExchange> exchange = {};  // what may take MPI's place
  std::vector<int> send_counts = {}, send_starts = {};  // for MPI's own
  std::vector<int> receive_counts = {}, receive_starts = {};
  bool fits_mpi = true;

  const Blocks& outgoing() const { return to ? to->blocks() : packed; }
};

/// The blocks one after the other.
Blocks closely(const Blocks& blocks) {
  Blocks result{{}, blocks.bytes};
  Offset start = 0;
  for (const Offset n : blocks.bytes) {
    result.starts.push_back(start);
    start += n;
  }
  return result;
}

std::vector<int> as_int(std::span<const Offset> values, bool& fits) {
  std::vector<int> result;
  for (const Offset value : values) {
    fits = fits && std::in_range<int>(value);
    result.push_back(fits ? static_cast<int>(value) : 0);
  }
  return result;
}

void prepare(const Comm& comm, const void* send, const Side& sends, void* receive,
             const Side& receives, ArgumentCheck& arguments, Call& call) {
  call.from.emplace(comm, receive, receives.counts, receives.starts, receives.type, "alltoallv");
  call.receive_counts = as_int(receives.counts, call.fits_mpi);
  call.receive_starts = as_int(receives.starts, call.fits_mpi);
  if (send == MPI_IN_PLACE) {
    call.from->pack();
    call.packed = closely(call.from->blocks());
    call.copy.resize(static_cast<std::size_t>(call.packed.total()));
  } else {
    call.to.emplace(comm, const_cast<void*>(send), sends.counts, sends.starts, sends.type,
                    "alltoallv");
    call.send_counts = as_int(sends.counts, call.fits_mpi);
    call.send_starts = as_int(sends.starts, call.fits_mpi);
    call.to->pack();
  }
  for (int r = 0; r < comm.size(); ++r) {
    const auto at = static_cast<std::size_t>(r);
    arguments.sends(r, call.outgoing().bytes[at]);
    arguments.receives(r, call.from->blocks().bytes[at]);
  }
  arguments.add(0, static_cast<std::uint64_t>(call.outgoing().total()));
  arguments.add(1, call.fits_mpi ? 0 : 1);
  // By itself perhaps: that depends on the others too.
  const AlltoallvMethod::Make make =
      call.setting.is_automatic() ? make_node_aware : *call.setting->make;
  if (make != nullptr) {
    call.exchange = make(comm, call.outgoing(), call.from->blocks());
  } else if (!call.fits_mpi) {
    throw Error(ErrorCode::index_overflow, "alltoallv: MPI's own cannot count beyond 2^31");
  }
}

bool wants_mpi(const Comm& comm, const Choice<AlltoallvMethod>& setting,
               const ArgumentCheck& arguments) {
  if (setting.is_automatic() && arguments.total(1) > 0) return false;
  const auto n_blocks =
      static_cast<std::uint64_t>(comm.size()) * static_cast<unsigned>(comm.size());
  return *chosen(setting, comm.topology(), static_cast<Offset>(arguments.total(0) / n_blocks),
                 automatic_alltoallv_bytes(comm.topology()))
              .make == nullptr;
}

void run_mpi(const Comm& comm, const void* send, const Side& sends, void* receive,
             const Side& receives, const Call& call) {
  const CollectiveCall counted(comm);
  check(MPI_Alltoallv(send, call.send_counts.data(), call.send_starts.data(),
                      send == MPI_IN_PLACE ? MPI_DATATYPE_NULL : sends.type, receive,
                      call.receive_counts.data(), call.receive_starts.data(), receives.type,
                      comm.get()),
        "MPI_Alltoallv");
}

}  // namespace

Offset automatic_alltoallv_bytes(const Topology& topology) {
  // Fitted to the event simulation of three machines, 2 to 16 nodes of 4 to 32 ranks.
  constexpr Offset steps_on_node = 15, bytes_a_message = 24, most_bytes = 1024;
  const auto on_node = static_cast<Offset>(topology.most_ranks_on_a_node());
  const Offset straight = topology.n_ranks() - on_node;
  const Offset joined = (topology.n_nodes() - 1 + on_node - 1) / on_node;
  return std::clamp<Offset>(bytes_a_message * (straight - joined - steps_on_node), 0, most_bytes);
}

void alltoallv(const Comm& comm, const void* send, const Side& sends, void* receive,
               const Side& receives, const std::optional<Choice<AlltoallvMethod>>& algorithm) {
  Call call{algorithm.value_or(comm.settings().alltoallv)};
  ArgumentCheck arguments(comm);
  arguments.local([&] { prepare(comm, send, sends, receive, receives, arguments, call); });
  arguments.same_everywhere(fingerprint(call.setting));
  arguments.agree(
      "alltoallv: what a rank sends is not what another expects, or the ranks name different "
      "algorithms");
  if (wants_mpi(comm, call.setting, arguments)) {
    return run_mpi(comm, send, sends, receive, receives, call);
  }
  const std::byte* from = call.to ? call.to->data() : call.copy.data();
  for (std::size_t r = 0; !call.to && r < call.packed.starts.size(); ++r) {
    std::copy_n(call.from->data() + call.from->blocks().starts[r], call.packed.bytes[r],
                call.copy.data() + call.packed.starts[r]);
  }
  call.exchange->run(from, call.from->data());
  call.from->unpack();
}

}  // namespace nodewise::mpi::collectives
