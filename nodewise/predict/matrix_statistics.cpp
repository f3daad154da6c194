#include "nodewise/predict/matrix_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nodewise::predict {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Takes the entries of this rank one by one.
class StatisticsPass {
 public:
  explicit StatisticsPass(const Matrix& A)
      : A_(A), square_(A.rows().n_global() == A.cols().n_global()) {
    statistics_.smallest = infinity;
    statistics_.shortest_row = std::numeric_limits<GlobalIndex>::max();
    for (LocalIndex i = 0; i < A.n_local(); ++i) add_row(i);
  }

  /// Collective.
  MatrixStatistics result() const {
    const mpi::Comm& comm = A_.comm();
    MatrixStatistics all = statistics_;
    all.columns = A_.cols().n_global();
    all.shortest_row = A_.rows().n_global() == 0 ? 0 : mpi::min(comm, statistics_.shortest_row);
    all.longest_row = mpi::max(comm, statistics_.longest_row);
    all.bandwidth = mpi::max(comm, statistics_.bandwidth);
    all.largest = mpi::max(comm, statistics_.largest);
    all.smallest = mpi::min(comm, statistics_.smallest);
    if (all.smallest == infinity) all.smallest = 0;
    for (const auto member : {&MatrixStatistics::empty_rows, &MatrixStatistics::zero_diagonals,
                              &MatrixStatistics::negative_diagonals,
                              &MatrixStatistics::dominant_rows, &MatrixStatistics::not_finite}) {
      all.*member = mpi::sum(comm, statistics_.*member);
    }
    return all;
  }

 private:
  void add_row(LocalIndex i) {
    const GlobalIndex row = A_.rows().to_global(i);
    double diagonal = 0;
    double others = 0;
    const auto add = [&](GlobalIndex col, double value) {
      statistics_.bandwidth = std::max(statistics_.bandwidth, std::abs(row - col));
      add_value(value);
      if (row == col) {
        diagonal = value;
      } else {
        others += std::abs(value);
      }
    };
    for (Offset k = A_.on().begin(i); k < A_.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      add(A_.cols().to_global(A_.on().cols[p]), A_.on().vals[p]);
    }
    for (Offset k = A_.off().begin(i); k < A_.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      add(A_.ghosts()[static_cast<std::size_t>(A_.off().cols[p])], A_.off().vals[p]);
    }
    const GlobalIndex length = A_.row_length(i);
    statistics_.shortest_row = std::min(statistics_.shortest_row, length);
    statistics_.longest_row = std::max(statistics_.longest_row, length);
    statistics_.empty_rows += length == 0 ? 1 : 0;
    if (!square_) return;
    statistics_.zero_diagonals += diagonal == 0 ? 1 : 0;
    statistics_.negative_diagonals += diagonal < 0 ? 1 : 0;
    // With a little room for the round-off of the sum; false where an entry is NaN.
    constexpr double room = 1 + 1e-12;
    statistics_.dominant_rows += length > 0 && std::abs(diagonal) * room >= others ? 1 : 0;
  }

  void add_value(double value) {
    const double modulus = std::abs(value);
    if (!std::isfinite(modulus)) {
      ++statistics_.not_finite;
    } else if (modulus > 0) {
      statistics_.smallest = std::min(statistics_.smallest, modulus);
      statistics_.largest = std::max(statistics_.largest, modulus);
    }
  }

  const Matrix& A_;
  bool square_;
  MatrixStatistics statistics_;  // of this rank's rows
};

}  // namespace

MatrixStatistics matrix_statistics(const Matrix& A) {
  return StatisticsPass(A).result();
}

LargestRank largest_rank(const Matrix& A, std::span<const GlobalIndex> virtual_starts) {
  if (virtual_starts.empty()) {
    return {A.comm().size(), mpi::max<GlobalIndex>(A.comm(), A.n_local()),
            mpi::max<GlobalIndex>(A.comm(), A.nnz_local())};
  }
  LargestRank largest = {static_cast<int>(virtual_starts.size()) - 1};
  for (std::size_t r = 0; r + 1 < virtual_starts.size(); ++r) {
    GlobalIndex nonzeros = 0;
    for (GlobalIndex i = virtual_starts[r]; i < virtual_starts[r + 1]; ++i) {
      nonzeros += A.row_length(static_cast<LocalIndex>(i));
    }
    largest.rows = std::max(largest.rows, virtual_starts[r + 1] - virtual_starts[r]);
    largest.nonzeros = std::max(largest.nonzeros, nonzeros);
  }
  return largest;
}

GlobalIndex longest_row(const Matrix& A) {
  GlobalIndex longest = 0;
  for (LocalIndex i = 0; i < A.n_local(); ++i) longest = std::max(longest, A.row_length(i));
  return mpi::max(A.comm(), longest);
}

}  // namespace nodewise::predict
