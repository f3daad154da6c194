// What a rank really asks MPI to send, counted at MPI's profiling interface.
#pragma once

#include <atomic>
#include <cstdint>
#include <ostream>
#include <thread>
#include <vector>

#include <mpi.h>

#include "nodewise/mpi/ledger.hpp"

namespace nodewise::test {

/// Calls of MPI by this rank, those on which the ledger keeps its books.
struct MpiCalls {
  std::int64_t messages_on_node = 0;
  std::int64_t messages_off_node = 0;
  std::int64_t bytes_on_node = 0;
  std::int64_t bytes_off_node = 0;
  std::int64_t collectives = 0;
  std::int64_t synchronous = 0;  ///< of the messages

  std::int64_t messages() const { return messages_on_node + messages_off_node; }
  std::int64_t bytes() const { return bytes_on_node + bytes_off_node; }
  friend bool operator==(const MpiCalls&, const MpiCalls&) = default;
  friend std::ostream& operator<<(std::ostream& out, const MpiCalls& calls);
};

/// Counts what this rank sends from its construction on, over whatever communicator. One at a time.
/// mpi_counter.cpp, which stands in front of MPI's functions, has to be linked into the program.
class MpiCounter {
 public:
  /// Local. Rank r of MPI_COMM_WORLD is taken to sit on node node_of_rank[r].
  explicit MpiCounter(std::vector<int> node_of_rank);
  ~MpiCounter();
  MpiCounter(const MpiCounter&) = delete;
  MpiCounter& operator=(const MpiCounter&) = delete;

  const MpiCalls& calls() const { return calls_; }
  /// Calls by other threads than the one that made this: MPI_THREAD_FUNNELED forbids them.
  int calls_of_other_threads() const { return of_other_threads_; }

  void count_send(int count, MPI_Datatype type, int to, MPI_Comm comm, bool synchronous);
  /// One-sided, which is a message, too.
  void count_put(int count, MPI_Datatype type, int to, MPI_Win window);
  void count_collective() {
    if (is_mine()) ++calls_.collectives;
  }

 private:
  void count_message(int to, std::int64_t bytes);
  bool is_mine() {
    if (std::this_thread::get_id() == thread_) return true;
    ++of_other_threads_;
    return false;
  }

  std::vector<int> node_of_rank_;
  int rank_;
  MpiCalls calls_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::atomic<int> of_other_threads_ = 0;
};

/// Collective in as far as `work` is. What this rank's calls of MPI in work() were.
template <class Work>
MpiCalls counted(const std::vector<int>& node_of_rank, Work&& work) {
  const MpiCounter counter(node_of_rank);
  work();
  return counter.calls();
}

/// Local. What the ledger has in its books, all accounts together.
MpiCalls booked(mpi::Ledger& ledger);

}  // namespace nodewise::test
