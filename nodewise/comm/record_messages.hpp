// Records of any length on their way between ranks that know of each other.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/comm/sdde/buffers.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::comm::detail {

/// Who the records of a stage go to, or come from: message i has those from offsets[i] to
/// offsets[i + 1].
struct RecordLists {
  std::span<const int> ranks;
  std::span<const LocalIndex> offsets;
};

/// One stage of records. A message has the lengths of all its records before them, so that nothing
/// has to be known of it before it comes: one wait for the network.
class RecordMessages {
 public:
  using Bytes = std::span<const std::byte>;

  /// Collective. Sends record(k) for every k of `to`, and receives those of `from`. A rank that has
  /// failed sends empty messages, whose records have length 0. Throws nothing of that kind: what
  /// fails here is left in `failure`, and the ranks have still to agree.
  void run(const mpi::Comm& comm, Offset max_message_bytes, const RecordLists& to,
           const std::function<Bytes(LocalIndex)>& record, const RecordLists& from,
           std::optional<Error>& failure);

  /// Record k that came; of those of a rank that failed nothing did.
  Bytes operator[](std::size_t k) const { return k < records_.size() ? records_[k] : Bytes(); }

 private:
  void unpack(const RecordLists& from);

  sdde::ReceiveBuffers inbox_;
  std::vector<Bytes> records_;
};

}  // namespace nodewise::comm::detail
