#include "nodewise/comm/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "nodewise/base/parallel.hpp"
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

/// Of any size. The usual ones get a copy of constant length.
void gather_part(const std::byte* owned, const std::byte* pool, LocalIndex n_owned,
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

/// Copies pool entries next to each other, on the threads.
void gather(const std::byte* owned, const std::byte* pool, LocalIndex n_owned,
            std::span<const LocalIndex> entries, std::byte* out, std::size_t bytes) {
  parallel::for_range(entries.size(), [&](std::size_t begin, std::size_t end) {
    gather_part(owned, pool, n_owned, entries.subspan(begin, end - begin), out + begin * bytes,
                bytes);
  });
}

}  // namespace

Exchange::Exchange(std::shared_ptr<const mpi::Comm> comm, Plan plan, Transport transport,
                   Offset max_message_bytes)
    : comm_(std::move(comm)),
      plan_(std::move(plan)),
      transport_(std::move(transport)),
      max_message_bytes_(max_message_bytes) {
  if (max_message_bytes < 1 || !std::in_range<int>(max_message_bytes)) {
    throw Error(ErrorCode::invalid_argument,
                "exchange: pieces of " + std::to_string(max_message_bytes) + " bytes");
  }
  require_available(*comm_, transport_);
  LocalIndex begin = 0;
  for (const Stage& stage : plan_.stages) {
    begins_.push_back(begin);
    begin += stage.n_received();
    carriers_.push_back(std::make_unique<transport::StageCarrier>(
        transport::Setting{comm_, max_message_bytes}, stage, transport_));
  }
  send_buffers_.resize(plan_.stages.size());
  find_early_ghosts();
}

Exchange::~Exchange() {
  if (mpi::is_finalized() || flight_ == Flight::none) return;
  try {  // other ranks may wait for what this one passes on
    if (flight_ == Flight::forward) {
      finish_stages();
    } else {
      while (!plan_.stages.empty()) {
        carriers_[stage_]->finish();
        if (stage_ == 0) break;
        start_reversed(--stage_, pool_);
      }
    }
  } catch (...) {  // nobody is left to be told
  }
}

void Exchange::find_early_ghosts() {
  if (plan_.stages.empty()) return;
  const Stage& stage = plan_.stages.front();
  std::vector<char> is_early(static_cast<std::size_t>(stage.n_received()), 0);
  for (std::size_t i = 0; i < stage.recv_ranks.size(); ++i) {
    if (!comm_->topology().same_node(comm_->rank(), stage.recv_ranks[i])) continue;
    std::fill(is_early.begin() + stage.recv_offsets[i],
              is_early.begin() + stage.recv_offsets[i + 1], char{1});
  }
  for (LocalIndex g = 0; g < plan_.n_ghosts; ++g) {
    const LocalIndex place = plan_.ghost_entries.empty()
                                 ? g
                                 : plan_.ghost_entries[static_cast<std::size_t>(g)] - plan_.n_owned;
    if (place >= 0 && place < stage.n_received() && is_early[static_cast<std::size_t>(place)]) {
      early_ghosts_.push_back(g);
    }
  }
}

void Exchange::require(Flight expected) const {
  if (flight_ == expected) return;
  throw Error(ErrorCode::internal, expected == Flight::none ? "exchange: one begun is not finished"
                                                            : "exchange: finish without start");
}

void Exchange::start_stage(std::size_t s) {
  const Stage& stage = plan_.stages[s];
  std::vector<std::byte>& buffer = send_buffers_[s];
  if (buffer.size() < stage.send_entries.size() * item_bytes_) {
    buffer.resize(stage.send_entries.size() * item_bytes_);
  }
  clocked(&OverlapTimes::gather, [&] {
    gather(owned_, pool_, plan_.n_owned, stage.send_entries, buffer.data(), item_bytes_);
  });
  const auto bytes = static_cast<Offset>(item_bytes_);
  transport::set_parts(stage.send_offsets, bytes, sends_);
  transport::set_parts(stage.recv_offsets, bytes, receives_);
  stage_ = s;
  clocked(&OverlapTimes::wait, [&] {
    carriers_[s]->start(transport::Direction::forward,
                        {.sends = sends_,
                         .receives = receives_,
                         .send_data = buffer.data(),
                         .recv_data = pool_ + begin_of_stage(s) * item_bytes_,
                         .item_bytes = item_bytes_});
  });
}

void Exchange::start_bytes(const std::byte* owned, std::byte* ghosts, std::size_t item_bytes) {
  require(Flight::none);
  const mpi::Communicating communicating(*comm_);
  flight_ = Flight::forward;
  owned_ = owned;
  ghosts_ = ghosts;
  item_bytes_ = item_bytes;
  if (plan_.receives_in_place()) {
    pool_ = ghosts;
  } else {
    pool_ =
        as_items<std::byte>(
            pool_buffer_, static_cast<std::size_t>(plan_.pool_size() - plan_.n_owned) * item_bytes)
            .data();
  }
  stage_ = 0;
  if (!plan_.stages.empty()) start_stage(0);
}

bool Exchange::has_messages() const {
  return std::any_of(plan_.stages.begin(), plan_.stages.end(), [](const Stage& stage) {
    return !stage.send_ranks.empty() || !stage.recv_ranks.empty();
  });
}

bool Exchange::has_talker() const {
  return overlap_ == Overlap::task && parallel::threads() > 1 && has_messages();
}

void Exchange::advance() {
  require(Flight::forward);
  const mpi::Communicating communicating(*comm_);
  if (plan_.stages.empty() || stage_ > 0) return;
  clocked(&OverlapTimes::wait, [&] { carriers_[0]->finish_on_node(); });
  if (!plan_.ghost_entries.empty()) {
    for (const LocalIndex g : early_ghosts_) {
      const auto u = static_cast<std::size_t>(g);
      const auto place = static_cast<std::size_t>(plan_.ghost_entries[u] - plan_.n_owned);
      std::memcpy(ghosts_ + u * item_bytes_, pool_ + place * item_bytes_, item_bytes_);
    }
  }
  if (plan_.stages.size() > 1 && !carriers_[0]->crosses()) {
    clocked(&OverlapTimes::wait, [&] { carriers_[0]->finish(); });
    start_stage(1);
  }
}

void Exchange::finish_stages() {
  while (stage_ < plan_.stages.size()) {
    clocked(&OverlapTimes::wait, [&] { carriers_[stage_]->finish(); });
    if (++stage_ < plan_.stages.size()) start_stage(stage_);
  }
}

void Exchange::finish() {
  require(Flight::forward);
  const mpi::Communicating communicating(*comm_);
  flight_ = Flight::none;
  finish_stages();
  if (!plan_.ghost_entries.empty()) {
    clocked(&OverlapTimes::gather, [&] {
      gather(owned_, pool_, plan_.n_owned, plan_.ghost_entries, ghosts_, item_bytes_);
    });
  }
}

void Exchange::start_reversed(std::size_t s, const std::byte* contributions) {
  const Stage& stage = plan_.stages[s];
  const auto bytes = static_cast<Offset>(item_bytes_);
  transport::set_parts(stage.recv_offsets, bytes, sends_);
  transport::set_parts(stage.send_offsets, bytes, receives_);
  carriers_[s]->start(
      transport::Direction::reverse,
      {.sends = sends_,
       .receives = receives_,
       .send_data = contributions + begin_of_stage(s) * item_bytes_,
       .recv_data =
           as_items<std::byte>(send_buffers_[s], stage.send_entries.size() * item_bytes_).data(),
       .item_bytes = item_bytes_});
}

std::span<const LocalIndex> Exchange::exported_entries() {
  if (!exported_) exported_ = plan_.exported_entries();
  return *exported_;
}

/// Exported ones are numbered first, then those that arrive.
std::span<const std::vector<LocalIndex>> Exchange::sent_records() {
  if (sent_records_) return *sent_records_;
  const std::span<const LocalIndex> exported = exported_entries();
  const auto n_exported = static_cast<LocalIndex>(exported.size());
  std::vector<std::vector<LocalIndex>> sent(plan_.stages.size());
  for (std::size_t s = 0; s < sent.size(); ++s) {
    for (const LocalIndex entry : plan_.stages[s].send_entries) {
      const auto place = std::lower_bound(exported.begin(), exported.end(), entry);
      sent[s].push_back(entry < plan_.n_owned ? static_cast<LocalIndex>(place - exported.begin())
                                              : n_exported + entry - plan_.n_owned);
    }
  }
  sent_records_ = std::move(sent);
  return *sent_records_;
}

std::span<const std::byte> Exchange::arrived(const RecordBytes& records, LocalIndex place) const {
  const auto stage = std::upper_bound(begins_.begin(), begins_.end(), place) - begins_.begin() - 1;
  const auto s = static_cast<std::size_t>(stage);
  return records.arrived[s][static_cast<std::size_t>(place - begins_[s])];
}

std::span<const std::byte> Exchange::record(const RecordBytes& records, LocalIndex number) const {
  const std::span<const Offset> offsets = records.exported_offsets;
  const auto n_exported = static_cast<LocalIndex>(offsets.size()) - 1;
  if (number >= n_exported) return arrived(records, number - n_exported);
  const auto i = static_cast<std::size_t>(number);
  return {records.exported + static_cast<std::size_t>(offsets[i]) * records.item_bytes,
          static_cast<std::size_t>(offsets[i + 1] - offsets[i]) * records.item_bytes};
}

void Exchange::run_records(RecordBytes& records, std::optional<Error>& failure) {
  records.arrived = std::vector<detail::RecordMessages>(plan_.stages.size());
  if (!failure) failure = mpi::caught([&] { sent_records(); });
  for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
    const Stage& stage = plan_.stages[s];
    const auto sent = [&](LocalIndex k) {
      return record(records, (*sent_records_)[s][static_cast<std::size_t>(k)]);
    };
    records.arrived[s].run(*comm_, max_message_bytes_, {stage.send_ranks, stage.send_offsets}, sent,
                           {stage.recv_ranks, stage.recv_offsets}, failure);
  }
}

detail::RecordMessages Exchange::run_records_back(
    std::size_t s, const std::function<std::span<const std::byte>(LocalIndex)>& record,
    std::optional<Error>& failure) {
  const Stage& stage = plan_.stages[s];
  detail::RecordMessages messages;
  messages.run(*comm_, max_message_bytes_, {stage.recv_ranks, stage.recv_offsets}, record,
               {stage.send_ranks, stage.send_offsets}, failure);
  return messages;
}

}  // namespace nodewise::comm
