// Sums that the ranks of a card share out: each adds a part for all of them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nodewise/offload/transport/adder.hpp"

namespace nodewise::offload {

/// Who adds up what: of n numbers member k of each card adds those of part k over all cards.
class SumParts {
 public:
  /// Collective. Throws the same Error on every rank.
  SumParts(const std::shared_ptr<const mpi::Comm>& comm,
           const std::shared_ptr<const mpi::Comm>& sharing);

  /// How many members of each card add: as many as the card with the fewest ranks has.
  int n() const { return n_; }
  /// Where part k of n numbers begins; all of those beyond the last are empty.
  std::size_t begin(int k, std::size_t n) const;
  /// Collective over the ranks that add the same part. Sums of what this rank has of its part.
  void add_over_cards(std::span<double> part) const;

 private:
  int n_ = 1;
  std::shared_ptr<const mpi::Comm> same_part_;  // null: this rank adds none
};

}  // namespace nodewise::offload
