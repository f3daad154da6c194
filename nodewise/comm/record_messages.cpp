#include "nodewise/comm/record_messages.hpp"

#include <algorithm>
#include <cstring>

#include "nodewise/base/array.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::comm::detail {

namespace {

using Bytes = RecordMessages::Bytes;

constexpr auto length_bytes = static_cast<Offset>(sizeof(Offset));

/// The messages of a rank, one behind the other.
struct Packed {
  std::vector<Offset> offsets;
  Array<std::byte> data;
};

Packed pack(const RecordLists& to, const std::function<Bytes(LocalIndex)>& record) {
  Packed packed;
  packed.offsets.assign(1, 0);
  for (std::size_t i = 0; i < to.ranks.size(); ++i) {
    Offset bytes = 0;
    for (LocalIndex k = to.offsets[i]; k < to.offsets[i + 1]; ++k) {
      bytes += length_bytes + std::ssize(record(k));
    }
    packed.offsets.push_back(packed.offsets.back() + bytes);
  }
  packed.data.resize(static_cast<std::size_t>(packed.offsets.back()));
  std::byte* out = packed.data.data();
  for (std::size_t i = 0; i < to.ranks.size(); ++i) {
    for (LocalIndex k = to.offsets[i]; k < to.offsets[i + 1]; ++k) {
      const Offset bytes = std::ssize(record(k));
      std::memcpy(out, &bytes, sizeof bytes);
      out += length_bytes;
    }
    for (LocalIndex k = to.offsets[i]; k < to.offsets[i + 1]; ++k) {
      const Bytes bytes = record(k);
      out = std::copy(bytes.begin(), bytes.end(), out);
    }
  }
  return packed;
}

}  // namespace

void RecordMessages::run(const mpi::Comm& comm, Offset max_message_bytes, const RecordLists& to,
                         const std::function<Bytes(LocalIndex)>& record, const RecordLists& from,
                         std::optional<Error>& failure) {
  Packed packed;
  if (!failure) failure = mpi::caught([&] { packed = pack(to, record); });
  if (failure) packed = {std::vector<Offset>(to.ranks.size() + 1, 0), {}};
  // From known ranks, in the order in which all begin: as the messages of planning.
  const sdde::Channel channel{comm, mpi::tag_planning, max_message_bytes};
  sdde::SendRequests outbox(channel, {to.ranks, packed.offsets, packed.data});
  outbox.post(false);
  inbox_.receive_from(channel, from.ranks);
  outbox.wait();
  sdde::count_wait(channel, outbox, inbox_);
  if (!failure) failure = inbox_.failure();
  if (!failure) failure = mpi::caught([&] { unpack(from); });
  if (failure) records_.clear();
}

void RecordMessages::unpack(const RecordLists& from) {
  std::vector<sdde::ReceiveBuffers::Message>& messages = inbox_.messages();
  const auto by_source = [](const auto& a, const auto& b) { return a.source < b.source; };
  std::sort(messages.begin(), messages.end(), by_source);
  records_.resize(static_cast<std::size_t>(from.offsets.back()));
  for (std::size_t i = 0; i < from.ranks.size(); ++i) {
    sdde::ReceiveBuffers::Message wanted;
    wanted.source = from.ranks[i];
    const Bytes data = std::lower_bound(messages.begin(), messages.end(), wanted, by_source)->data;
    if (data.empty()) continue;
    const auto first = static_cast<std::size_t>(from.offsets[i]);
    const auto n = static_cast<std::size_t>(from.offsets[i + 1]) - first;
    Bytes rest = data.subspan(n * sizeof(Offset));
    for (std::size_t k = 0; k < n; ++k) {
      Offset bytes = 0;
      std::memcpy(&bytes, data.data() + k * sizeof bytes, sizeof bytes);
      records_[first + k] = rest.first(static_cast<std::size_t>(bytes));
      rest = rest.subspan(static_cast<std::size_t>(bytes));
    }
  }
}

}  // namespace nodewise::comm::detail
