// Shared parts of the collectives of long messages: bytes of any number, and MPI's datatypes.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <mpi.h>

#include "nodewise/base/array.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi::collectives {

/// Nonblocking messages that are under way together. One of more bytes than MPI counts travels in
/// pieces, one of none not at all: sender and receiver both know its length.
class Transfer {
 public:
  Transfer(const Comm& comm, int tag) : comm_(comm), tag_(tag) {}
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  void send(const std::byte* data, Offset bytes, int to);
  void receive(std::byte* data, Offset bytes, int from);
  /// Waits for all.
  void wait();

 private:
  const Comm& comm_;
  int tag_;
  static constexpr Offset longest_ = std::numeric_limits<int>::max();
  std::vector<MPI_Request> requests_;
};

/// Where each rank's block begins, in bytes, and how many bytes of data it has.
struct Blocks {
  std::vector<Offset> starts;
  std::vector<Offset> bytes;

  Offset total() const;
};

/// Brings one block from every rank to every rank. Sends of one rank must match the receives of the
/// others; the communicator and the blocks must outlive it.
class BlockExchange {
 public:
  BlockExchange() = default;
  virtual ~BlockExchange() = default;
  BlockExchange(const BlockExchange&) = delete;
  BlockExchange& operator=(const BlockExchange&) = delete;

  /// Collective. The blocks lie at their starts from `data_to` and `data_from`. Throws
  /// out_of_memory on every rank alike.
  virtual void run(const std::byte* data_to, std::byte* data_from) = 0;
};

/// A caller's buffer of one block for each rank, seen as bytes: the buffer itself where elements of
/// the datatype lie without gaps, otherwise a copy of the data alone.
class TypedBlocks {
 public:
  /// Local. starts[r] counts elements, as MPI's displacements do. Throws invalid_argument for a
  /// negative count, a null datatype, or a null buffer with elements in it.
  TypedBlocks(const Comm& comm, void* buffer, std::span<const Offset> counts,
              std::span<const Offset> starts, MPI_Datatype type, const char* what);

  std::byte* data() { return dense_ ? buffer_ : packed_.data(); }
  const Blocks& blocks() const { return blocks_; }
  /// Fills data() from the buffer, block by block.
  void pack();
  void pack(std::size_t block);
  /// Fills the buffer from data().
  void unpack();

 private:
  std::byte* element(std::size_t block, Offset number) const;
  /// Calls work(first element, number of elements, where their data begins) for pieces of a block
  /// that MPI can count.
  template <class Work>
  void for_pieces(std::size_t block, Work&& work);

  MPI_Comm comm_;
  std::byte* buffer_;
  std::vector<Offset> counts_;
  std::vector<Offset> starts_;
  MPI_Datatype type_;
  Offset size_ = 0;
  Offset extent_ = 0;
  bool dense_ = true;
  Blocks blocks_;
  Array<std::byte> packed_;
};

}  // namespace nodewise::mpi::collectives
