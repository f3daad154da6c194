#include "nodewise/mpi/collectives/allgather.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/collectives/argument_check.hpp"
#include "nodewise/mpi/collectives/choice.hpp"
#include "nodewise/mpi/collectives/schedule.hpp"
#include "nodewise/mpi/collectives/transfer.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::mpi::collectives {

namespace {

/// A schedule on the blocks of all ranks, of which this rank's is there.
class Gathering {
 public:
  /// Local. All the memory that run() needs.
  Gathering(const Comm& comm, const Blocks& blocks, Schedule schedule)
      : comm_(comm),
        blocks_(blocks),
        ranks_(ranks_by_node(comm.topology())),
        schedule_(std::move(schedule)) {
    std::size_t out = 0, in = 0;
    for (const Stage& stage : schedule_.stages) {
      for (const Round& round : stage.rounds) {
        out = std::max(out, total(stage, round.sends));
        in = std::max(in, total(stage, round.recvs));
      }
    }
    outgoing_.resize(out);
    incoming_.resize(in);
  }

  /// Collective. `data`: where the blocks begin.
  void run(std::byte* data) {
    const Communicating communicating(comm_);
    Transfer transfer(comm_, tag_allgather);
    for (const Stage& stage : schedule_.stages) {
      for (const Round& round : stage.rounds) {
        std::byte* in = incoming_.data();
        for (const Message& message : round.recvs) {
          const auto bytes = static_cast<Offset>(length(stage, message));
          transfer.receive(in, bytes, message.rank);
          in += bytes;
        }
        const std::byte* out = outgoing_.data();
        pack(stage, round.sends, data);
        for (const Message& message : round.sends) {
          const auto bytes = static_cast<Offset>(length(stage, message));
          transfer.send(out, bytes, message.rank);
          out += bytes;
        }
        transfer.wait();
        if (crosses(round, comm_.topology(), comm_.rank())) comm_.ledger().count_waits(1);
        unpack(stage, round.recvs, data);
      }
    }
  }

 private:
  /// Calls work(where the block begins, its length) for all blocks of a message, in order.
  template <class Work>
  void for_blocks(const Stage& stage, const Message& message, Work&& work) const {
    for (const int slot : message.slots) {
      const Span span = stage.slots[static_cast<std::size_t>(slot)];
      for (int k = span.begin; k < span.end; ++k) {
        const auto rank = static_cast<std::size_t>(ranks_[static_cast<std::size_t>(k)]);
        work(blocks_.starts[rank], static_cast<std::size_t>(blocks_.bytes[rank]));
      }
    }
  }
  std::size_t length(const Stage& stage, const Message& message) const {
    std::size_t bytes = 0;
    for_blocks(stage, message, [&](Offset, std::size_t n) { bytes += n; });
    return bytes;
  }
  std::size_t total(const Stage& stage, const std::vector<Message>& messages) const {
    std::size_t bytes = 0;
    for (const Message& message : messages) bytes += length(stage, message);
    return bytes;
  }
  void pack(const Stage& stage, const std::vector<Message>& messages, const std::byte* data) {
    std::byte* to = outgoing_.data();
    for (const Message& message : messages) {
      for_blocks(stage, message,
                 [&](Offset start, std::size_t n) { to = std::copy_n(data + start, n, to); });
    }
  }
  void unpack(const Stage& stage, const std::vector<Message>& messages, std::byte* data) const {
    const std::byte* from = incoming_.data();
    for (const Message& message : messages) {
      for_blocks(stage, message, [&](Offset start, std::size_t n) {
        std::copy_n(from, n, data + start);
        from += n;
      });
    }
  }

  const Comm& comm_;
  const Blocks& blocks_;
  std::vector<int> ranks_;
  Schedule schedule_;
  Array<std::byte> outgoing_;
  Array<std::byte> incoming_;
};

std::uint64_t fingerprint(const Blocks& blocks) {
  std::uint64_t h = 0;
  for (const Offset bytes : blocks.bytes) h = hash64(static_cast<std::uint64_t>(bytes), h);
  return h;
}

/// What one rank brings to a call of MPI_Allgatherv.
struct MpiArguments {
  std::vector<int> counts, starts;
};

void run_mpi(const Comm& comm, const void* mine, Offset send_count, MPI_Datatype send_type,
             void* all, const MpiArguments& arguments, MPI_Datatype type) {
  const CollectiveCall call(comm);
  check(MPI_Allgatherv(mine, static_cast<int>(send_count), send_type, all, arguments.counts.data(),
                       arguments.starts.data(), type, comm.get()),
        "MPI_Allgatherv");
}

}  // namespace

void allgatherv(const Comm& comm, const void* mine, Offset send_count, MPI_Datatype send_type,
                void* all, std::span<const Offset> counts, std::span<const Offset> starts,
                MPI_Datatype type, const std::optional<Choice<AllgatherMethod>>& algorithm) {
  const Choice<AllgatherMethod> setting = algorithm.value_or(comm.settings().allgather);
  const bool in_place = mine == MPI_IN_PLACE;
  const auto me = static_cast<std::size_t>(comm.rank());
  std::optional<TypedBlocks> blocks;
  std::optional<TypedBlocks> own;  // as if all other ranks' blocks were empty
  std::optional<Gathering> gathering;
  MpiArguments for_mpi;
  ArgumentCheck arguments(comm);
  arguments.local([&] {
    blocks.emplace(comm, all, counts, starts, type, "allgather");
    std::vector<Offset> own_counts(counts.size(), 0), own_starts(counts.size(), 0);
    if (!in_place) {
      own_counts[me] = send_count;
      own.emplace(comm, const_cast<void*>(mine), own_counts, own_starts, send_type, "allgather");
      if (own->blocks().bytes[me] != blocks->blocks().bytes[me]) {
        throw Error(ErrorCode::invalid_argument,
                    "allgather: what is sent is not as long as this rank's block");
      }
      own->pack();
    }
    // Alone, a rank copies its block itself: MPICH 4.0 forgets the displacement there.
    MakeSchedule schedule =
        chosen(setting, comm.topology(), blocks->blocks().total(), automatic_allgather_bytes)
            .schedule;
    if (comm.size() == 1) schedule = make_schedule;
    if (schedule != nullptr) {
      gathering.emplace(comm, blocks->blocks(), schedule(comm.topology(), comm.rank()));
      return;
    }
    narrow<int>(send_count, "allgather: count");
    for (const Offset n : counts) for_mpi.counts.push_back(narrow<int>(n, "allgather: count"));
    for (const Offset n : starts) for_mpi.starts.push_back(narrow<int>(n, "allgather: start"));
  });
  if (blocks) arguments.same_everywhere(fingerprint(blocks->blocks()));
  arguments.same_everywhere(fingerprint(setting));
  arguments.agree("allgather: the ranks give different lengths of the blocks, or algorithms");
  if (!gathering) return run_mpi(comm, mine, send_count, send_type, all, for_mpi, type);
  if (in_place) {
    blocks->pack(me);
  } else {
    const auto bytes = static_cast<std::size_t>(own->blocks().bytes[me]);
    std::copy_n(own->data() + own->blocks().starts[me], bytes,
                blocks->data() + blocks->blocks().starts[me]);
  }
  gathering->run(blocks->data());
  blocks->unpack();
}

void allgather(const Comm& comm, const void* mine, Offset send_count, MPI_Datatype send_type,
               void* all, Offset count, MPI_Datatype type,
               const std::optional<Choice<AllgatherMethod>>& algorithm) {
  std::vector<Offset> counts(static_cast<std::size_t>(comm.size()), count);
  std::vector<Offset> starts(counts.size());
  for (std::size_t r = 0; r < starts.size(); ++r) starts[r] = static_cast<Offset>(r) * count;
  allgatherv(comm, mine, send_count, send_type, all, counts, starts, type, algorithm);
}

}  // namespace nodewise::mpi::collectives
