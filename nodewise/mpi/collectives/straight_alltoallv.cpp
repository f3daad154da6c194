#include "nodewise/mpi/collectives/straight_alltoallv.hpp"

#include <algorithm>

#include "nodewise/mpi/ledger.hpp"

namespace nodewise::mpi::collectives {

namespace {

/// One message to each other rank, so many steps at once.
class Straight : public BlockExchange {
 public:
  Straight(const Comm& comm, const Blocks& to, const Blocks& from, int at_once)
      : comm_(comm), to_(to), from_(from), at_once_(at_once), transfer_(comm, tag_alltoallv) {}

  void run(const std::byte* data_to, std::byte* data_from) override {
    const Communicating communicating(comm_);
    const auto me = static_cast<std::size_t>(comm_.rank());
    std::copy_n(data_to + to_.starts[me], to_.bytes[me], data_from + from_.starts[me]);
    for (int step = 1; step < comm_.size(); step += at_once_) {
      const int last = std::min(comm_.size(), step + at_once_);
      bool crosses = false;
      for (int k = step; k < last; ++k) crosses = receive(k, data_from) || crosses;
      for (int k = step; k < last; ++k) crosses = send(k, data_to) || crosses;
      transfer_.wait();
      if (crosses) comm_.ledger().count_waits(1);
    }
  }

 private:
  /// Returns whether there is data from another node.
  bool receive(int step, std::byte* data) {
    const int rank = (comm_.rank() - step + comm_.size()) % comm_.size();
    const auto at = static_cast<std::size_t>(rank);
    transfer_.receive(data + from_.starts[at], from_.bytes[at], rank);
    return from_.bytes[at] > 0 && !comm_.topology().same_node(comm_.rank(), rank);
  }
  bool send(int step, const std::byte* data) {
    const int rank = (comm_.rank() + step) % comm_.size();
    const auto at = static_cast<std::size_t>(rank);
    transfer_.send(data + to_.starts[at], to_.bytes[at], rank);
    return to_.bytes[at] > 0 && !comm_.topology().same_node(comm_.rank(), rank);
  }

  const Comm& comm_;
  const Blocks& to_;
  const Blocks& from_;
  int at_once_;
  Transfer transfer_;
};

}  // namespace

std::unique_ptr<BlockExchange> make_pairwise(const Comm& comm, const Blocks& to,
                                             const Blocks& from) {
  return std::make_unique<Straight>(comm, to, from, 1);
}

std::unique_ptr<BlockExchange> make_spread_out(const Comm& comm, const Blocks& to,
                                               const Blocks& from) {
  return std::make_unique<Straight>(comm, to, from, std::max(1, comm.size()));
}

}  // namespace nodewise::mpi::collectives
