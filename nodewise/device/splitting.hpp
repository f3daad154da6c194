// Coarse points among the points of a level, chosen on a device.
#pragma once

#include "nodewise/device/csr_matrix.hpp"

namespace nodewise::device {

/// In place of the number of a fine point: of one that depends on others, and of one that depends
/// on none, whose error relaxation alone removes.
inline constexpr LocalIndex fine_point = -1, isolated_point = -2;

/// Local. Marks the entries that a row depends on strongly: what amg::strength_of_connection()
/// marks by moduli (`absolute`) or by values of the sign opposite to the diagonal's.
template <class Space>
Buffer<std::uint8_t, Space> strong_dependences(Primitives<Space>& primitives,
                                               const CsrMatrix<double, Space>& A, double threshold,
                                               double max_row_sum, bool absolute);

/// The steps of amg::coarsen::pmis() (De Sterck, Yang, Heys 2006), by weights hashed from `seed`.
/// Between steps whoever runs them brings what is known of ghosts, which are behind the owned
/// points. All functions are local; after the constructor none needs memory, but that
/// count_coarse() may.
template <class Space>
class PmisSteps {
 public:
  enum class State : std::int8_t { fine, undecided, coarse };

  /// This rank's points follow `first` of all; `names` are the numbers of the ghosts among all, an
  /// array of the space. A and it must outlive this.
  PmisSteps(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A,
            Buffer<std::uint8_t, Space> strong, int seed, GlobalIndex first,
            const GlobalIndex* names);

  /// How many of this rank's points depend on each point, to be summed up over the ranks by the
  /// owner, before weigh().
  Buffer<LocalIndex, Space>& dependants() { return points_; }
  void weigh();
  /// To be brought once, then.
  double* weights() { return weights_.data(); }
  /// To be brought before each round.
  State* states() { return states_.data(); }
  /// How many points of this rank are undecided. Waits. A round of decide() follows, unless no rank
  /// has any.
  LocalIndex count_undecided();
  void decide();

  /// How many coarse points this rank has. Waits.
  LocalIndex count_coarse();
  /// Coarse points get their numbers, in order behind those of other ranks, others one of the
  /// above.
  void number(GlobalIndex first);
  /// To be brought at the end.
  GlobalIndex* numbers() { return numbers_.data(); }
  Buffer<GlobalIndex, Space> take() { return std::move(numbers_); }

 private:
  Primitives<Space>& primitives_;
  Queue<Space>& queue_;
  const CsrMatrix<double, Space>& A_;
  Buffer<std::uint8_t, Space> strong_;
  int seed_;
  GlobalIndex first_;
  const GlobalIndex* names_;
  Buffer<State, Space> states_, outcomes_;
  Buffer<std::uint8_t, Space> active_;
  Buffer<double, Space> weights_;
  Buffer<LocalIndex, Space> points_;  // first the dependants of each, then undecided ones
  LocalIndex n_undecided_ = 0;
  Buffer<Offset, Space> begins_;
  Buffer<GlobalIndex, Space> numbers_;
};

/// Local. counts[i] += added[i].
template <class Space>
void add_counts(Queue<Space>& queue, LocalIndex n, const LocalIndex* added, LocalIndex* counts);

}  // namespace nodewise::device
