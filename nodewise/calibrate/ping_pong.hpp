// Messages between two ranks, timed.
#pragma once

#include <span>
#include <vector>

#include "nodewise/base/array.hpp"
#include "nodewise/base/timer.hpp"
#include "nodewise/calibrate/pairs.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::calibrate {

/// The part of one rank in a ping-pong; nothing where it is in no pair.
class Talk {
 public:
  /// Local. With buffers of so many bytes in all, for either direction.
  Talk(const mpi::Comm& comm, double most_bytes);
  /// Local. Between buffers of a caller, wherever they lie, which must outlive it.
  Talk(const mpi::Comm& comm, std::span<char> outgoing, std::span<char> incoming);
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;

  /// Local. From now on, as a member of the first pair that has this rank; returns whether one has.
  bool join(const std::vector<RankPair>& pairs);
  bool is_first() const { return is_first_; }

  /// The members of a pair call these at the same time.
  void send(double bytes, int tag = 0);
  void receive(double bytes, int tag = 0);
  /// A message without content each way: both have arrived at this point.
  void meet();
  /// Seconds for one message, half of there and back, the mean of so many.
  double ping_pong(double bytes, int repeats);
  /// Seconds for n messages one way, half of there and back (algorithm 3.1); receives are posted in
  /// the order of the sends, or in the opposite one.
  double high_volume(int n, double bytes, bool reversed);
  /// Parts of that for other measurements.
  void start_send(double bytes, int tag);
  void start_receive(double bytes, int tag);
  void wait();

 private:
  void send_many(int n, double bytes);
  void receive_many(int n, double bytes, bool reversed);

  const mpi::Comm& comm_;
  int other_ = -1;
  bool is_first_ = false;
  Array<char> own_outgoing_, own_incoming_;
  std::span<char> outgoing_, incoming_;
  std::vector<MPI_Request> requests_;
};

}  // namespace nodewise::calibrate
