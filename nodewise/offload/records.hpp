// Records of varying length on devices, such as the rows of matrices, brought to the ranks that
// need them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nodewise/offload/leaving.hpp"

namespace nodewise::offload {

/// Brings the records of ghosts, in one of the ways in which data leave devices: their lengths
/// once, then their items as often as wanted, of one kind after another (the columns of rows, their
/// values, new values).
template <class Space>
class RecordCarrier {
 public:
  /// Collective. Owned entry i of the plan has the record offsets[i] .. offsets[i + 1), in items of
  /// at most most_item_bytes. Two exchanges of lengths on the host, and what the way costs where it
  /// plans anew. Throws the same Error on every rank, as comm::plan_of_items() does.
  RecordCarrier(Card<Space>& card, const std::shared_ptr<const mpi::Comm>& comm,
                const Leaving& leaving, const comm::Plan& plan, std::span<const Offset> offsets,
                const comm::Route& route, const comm::Transport& transport,
                std::size_t most_item_bytes);

  /// Record g of the ghosts is the items ghost_offsets()[g] .. ghost_offsets()[g + 1].
  std::span<const Offset> ghost_offsets() const { return ghost_offsets_; }
  /// Collective. `owned` has the items of all own records, `ghosts` room for those of the ghosts;
  /// arrays of the space. What fails on this rank is left in the card's LocalWork.
  void forward(const std::byte* owned, std::byte* ghosts, std::size_t item_bytes);

 private:
  std::vector<Offset> ghost_offsets_ = {0};
  std::unique_ptr<Carrier<Space>> carrier_;  // null: one rank
};

}  // namespace nodewise::offload
