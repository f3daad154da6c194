#include "nodewise/comm/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm {

namespace {

template <std::size_t bytes>
void gather_fixed(const std::byte* owned, const std::byte* pool, LocalIndex n_owned,
                  std::span<const LocalIndex> entries, std::byte* out) {
  for (const LocalIndex entry : entries) {
    const std::byte* from = entry < n_owned
                                ? owned + static_cast<std::size_t>(entry) * bytes
                                : pool + static_cast<std::size_t>(entry - n_owned) * bytes;
    std::memcpy(out, from, bytes);
    out += bytes;
  }
}

/// Copies pool entries next to each other. The usual sizes get a copy of constant length.
void gather(const std::byte* owned, const std::byte* pool, LocalIndex n_owned,
            std::span<const LocalIndex> entries, std::byte* out, std::size_t bytes) {
  if (bytes == 8) return gather_fixed<8>(owned, pool, n_owned, entries, out);
  if (bytes == 4) return gather_fixed<4>(owned, pool, n_owned, entries, out);
  for (const LocalIndex entry : entries) {
    const std::byte* from = entry < n_owned
                                ? owned + static_cast<std::size_t>(entry) * bytes
                                : pool + static_cast<std::size_t>(entry - n_owned) * bytes;
    std::memcpy(out, from, bytes);
    out += bytes;
  }
}

}  // namespace

Exchange::Exchange(std::shared_ptr<const mpi::Comm> comm, Plan plan, Offset max_message_bytes)
    : comm_(std::move(comm)), plan_(std::move(plan)), max_message_bytes_(max_message_bytes) {
  if (max_message_bytes < 1 || !std::in_range<int>(max_message_bytes)) {
    throw Error(ErrorCode::invalid_argument,
                "exchange: pieces of " + std::to_string(max_message_bytes) + " bytes");
  }
  LocalIndex begin = 0;
  for (const Stage& stage : plan_.stages) {
    begins_.push_back(begin);
    begin += stage.n_received();
  }
  send_buffers_.resize(plan_.stages.size());
}

Exchange::~Exchange() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized || !in_flight_) return;
  try {  // other ranks may wait for what this one passes on
    wait_all();
    run_later_stages();
  } catch (...) {  // nobody is left to be told
  }
}

void Exchange::require_idle() const {
  if (in_flight_) throw Error(ErrorCode::internal, "exchange: one begun is not finished");
}

void Exchange::post_send(const std::byte* data, Offset bytes, int rank, int tag) {
  for (Offset at = 0; at < bytes; at += max_message_bytes_) {
    const int piece = static_cast<int>(std::min(max_message_bytes_, bytes - at));
    mpi::check(MPI_Isend(data + at, piece, MPI_BYTE, rank, tag, comm_->get(),
                         &requests_.emplace_back(MPI_REQUEST_NULL)),
               "MPI_Isend");
    comm_->count_message(rank, piece);
  }
}

void Exchange::post_recv(std::byte* data, Offset bytes, int rank, int tag) {
  for (Offset at = 0; at < bytes; at += max_message_bytes_) {
    const int piece = static_cast<int>(std::min(max_message_bytes_, bytes - at));
    mpi::check(MPI_Irecv(data + at, piece, MPI_BYTE, rank, tag, comm_->get(),
                         &requests_.emplace_back(MPI_REQUEST_NULL)),
               "MPI_Irecv");
  }
}

void Exchange::wait_all() {
  const int status = MPI_Waitall(narrow<int>(requests_.size(), "requests:"), requests_.data(),
                                 MPI_STATUSES_IGNORE);
  requests_.clear();
  mpi::check(status, "MPI_Waitall");
}

void Exchange::post_stage(std::size_t s) {
  const Stage& stage = plan_.stages[s];
  const auto bytes = static_cast<Offset>(item_bytes_);
  std::byte* received = pool_ + begin_of_stage(s) * item_bytes_;
  for (std::size_t i = 0; i < stage.recv_ranks.size(); ++i) {
    post_recv(received + stage.recv_offsets[i] * bytes,
              (stage.recv_offsets[i + 1] - stage.recv_offsets[i]) * bytes, stage.recv_ranks[i],
              mpi::tag_exchange);
  }
  std::vector<std::byte>& buffer = send_buffers_[s];
  buffer.resize(stage.send_entries.size() * item_bytes_);
  gather(owned_, pool_, plan_.n_owned, stage.send_entries, buffer.data(), item_bytes_);
  const Rotation order(stage.send_ranks, comm_->rank());
  for (std::size_t k = 0; k < order.n; ++k) {
    const std::size_t i = order[k];
    post_send(buffer.data() + stage.send_offsets[i] * bytes,
              (stage.send_offsets[i + 1] - stage.send_offsets[i]) * bytes, stage.send_ranks[i],
              mpi::tag_exchange);
  }
}

void Exchange::start_bytes(const std::byte* owned, std::byte* ghosts, std::size_t item_bytes) {
  require_idle();
  const mpi::Communicating communicating(*comm_);
  in_flight_ = true;
  owned_ = owned;
  ghosts_ = ghosts;
  item_bytes_ = item_bytes;
  if (plan_.receives_in_place()) {
    pool_ = ghosts;
  } else {
    const auto received = static_cast<std::size_t>(plan_.pool_size() - plan_.n_owned);
    pool_buffer_.resize(received * item_bytes);
    pool_ = pool_buffer_.data();
  }
  if (!plan_.stages.empty()) post_stage(0);
}

void Exchange::run_later_stages() {
  for (std::size_t s = 1; s < plan_.stages.size(); ++s) {
    post_stage(s);
    wait_all();
  }
}

void Exchange::finish() {
  if (!in_flight_) throw Error(ErrorCode::internal, "exchange: finish without start");
  const mpi::Communicating communicating(*comm_);
  in_flight_ = false;
  wait_all();
  run_later_stages();
  if (!plan_.ghost_entries.empty()) {
    gather(owned_, pool_, plan_.n_owned, plan_.ghost_entries, ghosts_, item_bytes_);
  }
}

std::vector<Offset> Exchange::exchange_lengths(std::span<const Offset> offsets) {
  require_idle();
  std::vector<Offset> owned(static_cast<std::size_t>(plan_.n_owned));
  for (std::size_t i = 0; i < owned.size(); ++i) owned[i] = offsets[i + 1] - offsets[i];
  std::vector<Offset> pool(static_cast<std::size_t>(plan_.pool_size() - plan_.n_owned));
  owned_ = reinterpret_cast<const std::byte*>(owned.data());
  pool_ = reinterpret_cast<std::byte*>(pool.data());
  item_bytes_ = sizeof(Offset);
  for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
    post_stage(s);
    wait_all();
  }
  return pool;
}

std::vector<std::byte> Exchange::pack_records(std::size_t s, const std::byte* owned,
                                              std::span<const Offset> owned_offsets,
                                              const std::byte* pool,
                                              std::span<const Offset> pool_offsets, Offset bytes,
                                              std::vector<Offset>& at) const {
  const Stage& stage = plan_.stages[s];
  const auto source = [&](LocalIndex entry) {
    const bool is_owned = entry < plan_.n_owned;
    const std::byte* data = is_owned ? owned : pool;
    const std::span<const Offset> offsets = is_owned ? owned_offsets : pool_offsets;
    const auto i = static_cast<std::size_t>(is_owned ? entry : entry - plan_.n_owned);
    return std::span<const std::byte>(data + offsets[i] * bytes, data + offsets[i + 1] * bytes);
  };
  at.assign(stage.send_entries.size() + 1, 0);
  for (std::size_t e = 0; e < stage.send_entries.size(); ++e) {
    at[e + 1] = at[e] + static_cast<Offset>(source(stage.send_entries[e]).size());
  }
  std::vector<std::byte> buffer(static_cast<std::size_t>(at.back()));
  for (std::size_t e = 0; e < stage.send_entries.size(); ++e) {
    const auto record = source(stage.send_entries[e]);
    std::copy(record.begin(), record.end(), buffer.begin() + at[e]);
  }
  return buffer;
}

void Exchange::run_records(const std::byte* owned, std::span<const Offset> owned_offsets,
                           std::byte* pool, std::span<const Offset> pool_offsets,
                           std::size_t item_bytes) {
  const auto bytes = static_cast<Offset>(item_bytes);
  for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
    const Stage& stage = plan_.stages[s];
    std::vector<Offset> at;
    // Before the first message: a rank without memory must not leave others waiting.
    const std::vector<std::byte> buffer = mpi::collectively(*comm_, [&] {
      return pack_records(s, owned, owned_offsets, pool, pool_offsets, bytes, at);
    });
    const auto received_at = [&](LocalIndex entry) {
      return pool_offsets[begin_of_stage(s) + static_cast<std::size_t>(entry)] * bytes;
    };
    for (std::size_t i = 0; i < stage.recv_ranks.size(); ++i) {
      const Offset a = received_at(stage.recv_offsets[i]);
      const Offset b = received_at(stage.recv_offsets[i + 1]);
      post_recv(pool + a, b - a, stage.recv_ranks[i], mpi::tag_records);
    }
    const Rotation order(stage.send_ranks, comm_->rank());
    for (std::size_t k = 0; k < order.n; ++k) {
      const std::size_t i = order[k];
      const Offset a = at[static_cast<std::size_t>(stage.send_offsets[i])];
      const Offset b = at[static_cast<std::size_t>(stage.send_offsets[i + 1])];
      post_send(buffer.data() + a, b - a, stage.send_ranks[i], mpi::tag_records);
    }
    wait_all();
  }
}

void Exchange::return_stage(std::size_t s, std::span<const Offset> received_at, std::byte* received,
                            std::span<const Offset> sent_at, const std::byte* sent,
                            std::size_t item_bytes, int tag) {
  const Stage& stage = plan_.stages[s];
  const auto bytes = static_cast<Offset>(item_bytes);
  for (std::size_t i = 0; i < stage.send_ranks.size(); ++i) {
    const Offset a = received_at[static_cast<std::size_t>(stage.send_offsets[i])] * bytes;
    const Offset b = received_at[static_cast<std::size_t>(stage.send_offsets[i + 1])] * bytes;
    post_recv(received + a, b - a, stage.send_ranks[i], tag);
  }
  const Rotation order(stage.recv_ranks, comm_->rank());
  for (std::size_t k = 0; k < order.n; ++k) {
    const std::size_t i = order[k];
    const Offset a = sent_at[static_cast<std::size_t>(stage.recv_offsets[i])] * bytes;
    const Offset b = sent_at[static_cast<std::size_t>(stage.recv_offsets[i + 1])] * bytes;
    post_send(sent + a, b - a, stage.recv_ranks[i], tag);
  }
  wait_all();
}

}  // namespace nodewise::comm
