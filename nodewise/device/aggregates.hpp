// Aggregates around an independent set, made on a device.
#pragma once

#include <vector>

#include "nodewise/device/csr_matrix.hpp"

namespace nodewise::device {

/// Local. Marks the strong entries of A: 1 where |a_ij| > threshold sqrt(|a_ii a_jj|) and i != j.
/// What amg::aggregate::symmetric_strength() marks. `roots` are diagonal_roots() of A's columns;
/// null for threshold 0, with which all but zeros are strong.
template <class Space>
Buffer<std::uint8_t, Space> strong_entries(Queue<Space>& queue, const CsrMatrix<double, Space>& A,
                                           const double* roots, double threshold);

/// The steps of amg::aggregate::independent_set_aggregates(): points more than `distance` strong
/// connections apart, by weights hashed from `seed` (Bell, Dalton, Olson 2012, algorithms 5 and 6),
/// and `distance` rounds in which points join the aggregate they are most connected to. A row is a
/// point. Between steps whoever runs them brings the ghosts of keys and aggregates, which are
/// behind the owned ones. All functions are local; after the constructor none needs memory, but
/// that count_roots() may.
template <class Space>
class AggregateSteps {
 public:
  using Key = std::uint64_t;

  /// This rank's points follow `first` of all. A must outlive this.
  AggregateSteps(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A,
                 Buffer<std::uint8_t, Space> strong, int distance, int seed, GlobalIndex first);

  /// How many points of this rank are undecided. Waits. A round follows, unless no rank has any:
  /// spread(s) for s = 0 .. distance - 1, each with the ghosts of keys(s), and decide().
  LocalIndex count_undecided();
  Key* keys(int step) { return keys_[static_cast<std::size_t>(step)].data(); }
  void spread(int step);
  void decide();

  /// How many points of this rank are in the set. Waits.
  LocalIndex count_roots();
  /// Gives roots their numbers, in order behind those of other ranks. `distance` rounds of join()
  /// follow, each with the ghosts of of_point().
  void number_roots(GlobalIndex first);
  GlobalIndex* of_point() { return of_point_.data(); }
  void join();
  /// The aggregate of each point, of all ranks; -1: in none.
  Buffer<GlobalIndex, Space> take() { return std::move(of_point_); }

 private:
  Primitives<Space>& primitives_;
  Queue<Space>& queue_;
  const CsrMatrix<double, Space>& A_;
  Buffer<std::uint8_t, Space> strong_;
  int distance_;
  std::vector<Buffer<Key, Space>> keys_;  // of points, and the largest in reach of so many steps
  Buffer<std::uint8_t, Space> active_;
  Buffer<LocalIndex, Space> points_;  // undecided ones
  LocalIndex n_undecided_ = 0;
  Buffer<LocalIndex, Space> is_root_;
  Buffer<Offset, Space> numbers_;  // of roots on this rank
  Buffer<GlobalIndex, Space> of_point_, joined_;
};

}  // namespace nodewise::device
