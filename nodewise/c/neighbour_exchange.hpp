// A neighbourhood exchange of MPI datatypes, over the library's routes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <mpi.h>

#include "nodewise/c/mpil.hpp"
#include "nodewise/c/packing.hpp"
#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/route/route.hpp"

namespace nodewise::c {

/// Throws with MPI_ERR_TOPOLOGY where a communicator has no neighbours.
const Neighbours& neighbours_of(const MPIL_Comm* comm);
/// Throws where a neighbour is no rank of a communicator of `size`.
void require_ranks(const Neighbours& neighbours, int size);

/// The arguments of one direction, by the neighbours in the caller's order.
struct NeighbourSide {
  const int* counts;
  const int* displs;
  MPI_Datatype type;
  const long* names = nullptr;  ///< of the items sent: those of one name are one; may be null
};

/// What is packed, or unpacked, for the neighbours of one direction, by rank: first those of the
/// other ranks, then those of this one, which take no message.
struct PackedSide {
  struct Part {
    int rank;
    std::size_t neighbour;  ///< its number in the caller's order
    Offset count, displacement;
  };
  std::vector<Part> parts;
  std::size_t n_outside = 0;  ///< parts of other ranks
  Offset bytes_outside = 0, bytes_inside = 0;
  std::optional<ItemType> type;

  /// Throws where arguments are wrong.
  PackedSide(std::span<const int> ranks, const NeighbourSide& side, int rank);
  /// Of a part.
  Offset bytes(const Part& part) const { return part.count * static_cast<Offset>(type->bytes()); }
  /// Whether the parts of other ranks lie in the caller's memory as they are packed, and are all.
  bool lies_packed() const;
  /// Where they begin then.
  Offset first_byte() const {
    return parts.empty() ? 0 : parts.front().displacement * static_cast<Offset>(type->bytes());
  }
};

/// Collective to make, to start and to wait for. Entries of a Pattern are units of bytes that
/// divide the items of all types.
class NeighbourExchange {
 public:
  /// Throws the same Error on every rank where arguments are wrong or a message has not the length
  /// its receiver expects. The buffers must outlive the exchange.
  NeighbourExchange(std::shared_ptr<const mpi::Comm> comm, const Neighbours& neighbours,
                    const void* sendbuf, const NeighbourSide& sends, void* recvbuf,
                    const NeighbourSide& receives, const comm::Route& route,
                    const comm::Transport& transport);

  /// Throws with MPI_ERR_REQUEST, on this process, where it is started already.
  void start();
  /// Nothing where it is not started.
  void wait();

 private:
  void prepare(const Neighbours& neighbours, const NeighbourSide& sends,
               const NeighbourSide& receives);
  /// Collective. `prepare()` is local work.
  template <class Prepare>
  void compare_lengths(Prepare&& prepare);
  /// Collective.
  void find_unit();
  /// `joins`: whether the route profits by knowing which items are the same.
  comm::Pattern pattern(const NeighbourSide& sends, bool joins) const;

  std::shared_ptr<const mpi::Comm> comm_;
  const void* sendbuf_;
  void* recvbuf_;
  std::optional<PackedSide> sends_, receives_;
  bool sends_lie_packed_ = false;
  bool receives_lie_packed_ = false;
  std::size_t unit_ = 1;  ///< bytes of an entry
  std::unique_ptr<comm::Exchange> exchange_;
  Array<std::byte> sent_, received_;  ///< packed, where they do not lie so already
  bool is_started_ = false;
};

}  // namespace nodewise::c
