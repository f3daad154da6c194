// The node-aware alltoallv of bytes.
#pragma once

#include <cstddef>
#include <memory>

#include "nodewise/mpi/collectives/transfer.hpp"

namespace nodewise::mpi::collectives {

/// Brings one block from every rank to every rank. Sends of one rank must match the receives of the
/// others; `comm` and the blocks must outlive this.
class NodeAwareAlltoallv {
 public:
  /// Local. `to`: what this rank sends, by rank; `from`: what it receives.
  NodeAwareAlltoallv(const Comm& comm, const Blocks& to, const Blocks& from);
  ~NodeAwareAlltoallv();

  /// Collective. The blocks lie at their starts from `data_to` and `data_from`. Throws
  /// out_of_memory on every rank alike.
  void run(const std::byte* data_to, std::byte* data_from);

 private:
  class Run;
  const Comm& comm_;
  std::unique_ptr<Run> run_;
};

}  // namespace nodewise::mpi::collectives
