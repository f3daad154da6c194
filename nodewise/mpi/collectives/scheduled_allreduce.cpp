#include "nodewise/mpi/collectives/scheduled_allreduce.hpp"

#include <algorithm>
#include <cstring>

#include "nodewise/mpi/collectives/shape.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::mpi::collectives {

namespace {

constexpr std::size_t alignment = 16;  // of the longest arithmetic type

Offset rounded_up(Offset bytes) {
  constexpr auto unit = static_cast<Offset>(alignment);
  return (bytes + unit - 1) / unit * unit;
}

/// The most that any round needs, by what `size_of` says of its messages.
template <class SizeOf>
std::size_t largest(const Schedule& schedule, const SizeOf& size_of) {
  std::size_t most = 0;
  for (const Stage& stage : schedule.stages) {
    for (const Round& round : stage.rounds) most = std::max(most, size_of(round));
  }
  return most;
}

}  // namespace

struct ScheduledAllreduce::Vector {
  Vector(int n, MPI_Datatype t, MPI_Op o) : count(n), type(t), op(o), shape(t, n) {
    stride = static_cast<std::size_t>(shape.dense ? shape.bytes : rounded_up(shape.bytes));
    // A user's function may rely on being called with no more elements than were given.
    fold_together = shape.dense && (op == MPI_SUM || op == MPI_MAX || op == MPI_MIN);
  }

  int count;
  MPI_Datatype type;
  MPI_Op op;
  Shape shape;
  std::size_t stride;  // from slot to slot
  bool fold_together;  // whether slots that follow each other may be combined in one call
};

ScheduledAllreduce::ScheduledAllreduce(const Comm& comm, const AllreduceMethod& method,
                                       Offset longest)
    : comm_(comm),
      method_(method),
      longest_(longest),
      schedule_((*method.schedule)(comm.topology(), comm.rank())) {
  const auto bytes_of = [this](const std::vector<Message>& messages) {
    std::size_t bytes = 0;
    for (const Message& message : messages) bytes += room_for(message);
    return bytes;
  };
  std::size_t n_slots = 0;
  for (const Stage& stage : schedule_.stages) n_slots = std::max(n_slots, stage.slots.size());
  // Reserved at full length, once, so that no call can run out of memory between two messages. What
  // short vectors do not touch takes no memory.
  slots_.resize(n_slots * static_cast<std::size_t>(*method.piece_bytes));
  outgoing_.resize(largest(schedule_, [&](const Round& round) { return bytes_of(round.sends); }));
  incoming_.resize(largest(schedule_, [&](const Round& round) { return bytes_of(round.recvs); }));
  const std::size_t n = largest(
      schedule_, [](const Round& round) { return round.sends.size() + round.recvs.size(); });
  requests_.resize(n);
  statuses_.resize(n);
}

std::size_t ScheduledAllreduce::room_for(const Message& message) const {
  return sizeof(Header) + message.slots.size() * static_cast<std::size_t>(*method_.piece_bytes);
}

std::byte* ScheduledAllreduce::slot(const Vector& v, int number) {
  return slots_.data() + static_cast<std::size_t>(number) * v.stride;
}

void ScheduledAllreduce::load(const Vector& v, const void* values, int number) {
  if (v.count == 0) return;
  std::memcpy(slot(v, number), static_cast<const std::byte*>(values) + v.shape.low,
              static_cast<std::size_t>(v.shape.bytes));
}

void ScheduledAllreduce::store(const Vector& v, void* result) {
  if (v.count == 0) return;
  if (v.shape.dense) {
    std::memcpy(result, slot(v, 0), static_cast<std::size_t>(v.shape.bytes));
    return;
  }
  int size = 0;  // what lies in the gaps is the caller's: only MPI knows how to step over them
  check(MPI_Pack_size(v.count, v.type, comm_.get(), &size), "MPI_Pack_size");
  std::vector<std::byte> packed(static_cast<std::size_t>(size));
  int at = 0;
  check(MPI_Pack(slot(v, 0) - v.shape.low, v.count, v.type, packed.data(), size, &at, comm_.get()),
        "MPI_Pack");
  int from = 0;
  check(MPI_Unpack(packed.data(), at, &from, result, v.count, v.type, comm_.get()), "MPI_Unpack");
}

bool ScheduledAllreduce::run(const Call& call, const void* values, void* result, int count,
                             MPI_Datatype type, MPI_Op op) {
  const Communicating communicating(comm_);
  const Vector v(call.failed ? 0 : count, call.failed ? MPI_BYTE : type, op);
  Header header{call.failed ? 1 : 0, call.bytes};
  for (std::size_t s = 0; s < schedule_.stages.size(); ++s) {
    const Stage& stage = schedule_.stages[s];
    if (s == 0) {
      load(v, values, stage.own);
    } else if (stage.own != 0) {
      std::memcpy(slot(v, stage.own), slot(v, 0), v.stride);
    }
    for (const Round& round : stage.rounds) run_round(round, v, header);
    if (!header.failed) fold(v, static_cast<int>(stage.slots.size()));
  }
  if (!header.failed) store(v, result);
  return !header.failed;
}

void ScheduledAllreduce::run_round(const Round& round, const Vector& v, Header& header) {
  std::size_t n = 0;
  std::byte* to = incoming_.data();
  for (const Message& message : round.recvs) {
    // Room for the longest: a rank that brings too much must not disturb what follows.
    const std::size_t room = room_for(message);
    check(MPI_Irecv(to, static_cast<int>(room), MPI_BYTE, message.rank, tag_allreduce, comm_.get(),
                    &requests_[n++]),
          "MPI_Irecv");
    to += room;
  }
  std::byte* out = outgoing_.data();
  for (const Message& message : round.sends) {
    std::byte* const begin = out;
    std::memcpy(out, &header, sizeof(Header));
    out += sizeof(Header);
    if (!header.failed) {
      for (const int number : message.slots) {
        std::copy_n(slot(v, number), v.stride, out);
        out += v.stride;
      }
    }
    check(MPI_Isend(begin, static_cast<int>(out - begin), MPI_BYTE, message.rank, tag_allreduce,
                    comm_.get(), &requests_[n++]),
          "MPI_Isend");
    comm_.count_message(message.rank, out - begin);
  }
  check(MPI_Waitall(static_cast<int>(n), requests_.data(), statuses_.data()), "MPI_Waitall");
  if (crosses(round, comm_.topology(), comm_.rank())) comm_.ledger().count_waits(1);
  const std::byte* from = incoming_.data();
  for (std::size_t i = 0; i < round.recvs.size(); ++i) {
    const Message& message = round.recvs[i];
    int length = 0;
    check(MPI_Get_count(&statuses_[i], MPI_BYTE, &length), "MPI_Get_count");
    unpack(message, from, static_cast<std::size_t>(length), v, header);
    from += room_for(message);
  }
}

void ScheduledAllreduce::unpack(const Message& message, const std::byte* received,
                                std::size_t length, const Vector& v, Header& header) {
  Header theirs{};
  std::memcpy(&theirs, received, sizeof(Header));
  if (theirs.failed != 0 || theirs.bytes != header.bytes ||
      length != sizeof(Header) + message.slots.size() * v.stride) {
    header.failed = 1;  // and passed on with every message from now on
  }
  if (header.failed) return;
  received += sizeof(Header);
  for (const int number : message.slots) {
    std::copy_n(received, v.stride, slot(v, number));
    received += v.stride;
  }
}

void ScheduledAllreduce::fold(const Vector& v, int n_slots) {
  if (v.count == 0) return;
  while (n_slots > 1) {  // the last ones into the first ones: the same order on every rank
    const int n = n_slots / 2;
    const int keep = n_slots - n;
    if (v.fold_together) {
      check(MPI_Reduce_local(slot(v, keep), slot(v, 0), n * v.count, v.type, v.op),
            "MPI_Reduce_local");
    } else {
      for (int i = 0; i < n; ++i) {
        check(MPI_Reduce_local(slot(v, keep + i) - v.shape.low, slot(v, i) - v.shape.low, v.count,
                               v.type, v.op),
              "MPI_Reduce_local");
      }
    }
    n_slots = keep;
  }
}

}  // namespace nodewise::mpi::collectives
