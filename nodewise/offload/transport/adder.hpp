// Adds up vectors on devices over the ranks.
#pragma once

#include <cstddef>
#include <memory>

#include "nodewise/mpi/comm.hpp"
#include "nodewise/offload/card.hpp"

namespace nodewise::offload {

/// An allreduce of vectors of doubles on devices, again and again.
template <class Space>
class Adder {
 public:
  virtual ~Adder() = default;
  /// Collective. The n numbers of `values`, an array of the space, become their sums over the
  /// ranks: n the same on every rank, and no more than the adder was made for. Work that is in the
  /// card's queue comes before. What fails on this rank is left in the card's LocalWork.
  virtual void add(double* values, std::size_t n) = 0;
};

/// What one is made of. References must outlive it.
template <class Space>
struct AdderCall {
  Card<Space>& card;
  std::shared_ptr<const mpi::Comm> comm;
  /// The ranks of the node that use this rank's card, ascending: where the way shares_cards.
  std::shared_ptr<const mpi::Comm> sharing;
  std::size_t most;  ///< numbers of a vector
};

}  // namespace nodewise::offload
