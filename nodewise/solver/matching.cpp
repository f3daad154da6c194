#include "nodewise/solver/matching.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace nodewise::solver {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr LocalIndex unmatched = -1;

/// The assignment of columns to rows for which the sum of the costs log2(largest of the row / |a|)
/// is least; `row` and `column` are its dual variables: row_i + column_j <= cost_ij, and equal for
/// a pair.
class Assignment {
 public:
  explicit Assignment(const kernels::Csr<double>& A)
      : A_(A),
        cost_(A.vals.size(), infinite),
        largest_(static_cast<std::size_t>(A.n_rows), 0),
        row_(largest_.size(), 0),
        column_(largest_.size(), infinite),
        column_of_(largest_.size(), unmatched),
        row_of_(largest_.size(), unmatched),
        distance_(largest_.size(), infinite),
        from_(largest_.size(), unmatched),
        is_done_(largest_.size(), 0) {
    set_costs();
    match_what_is_tight();
    for (LocalIndex i = 0; i < A.n_rows; ++i) {
      if (column_of_[at(i)] == unmatched) augment(i);
    }
  }

  Matching result() const {
    Matching matching;
    matching.column_of_row = column_of_;
    matching.row_exponents.resize(row_.size());
    matching.column_exponents.resize(row_.size());
    for (std::size_t i = 0; i < row_.size(); ++i) {
      matching.size += column_of_[i] != unmatched ? 1 : 0;
      const double largest = largest_[i] > 0 ? std::log2(largest_[i]) : 0;
      matching.row_exponents[i] = exponent(row_[i] - largest);
      matching.column_exponents[i] = exponent(column_[i]);
    }
    return matching;
  }

 private:
  using Candidate = std::pair<double, LocalIndex>;  // distance, column

  static std::size_t at(LocalIndex i) { return static_cast<std::size_t>(i); }
  /// A factor that no product of two of leaves the range of double.
  static int exponent(double value) {
    constexpr double most = 500;
    return std::isfinite(value) ? static_cast<int>(std::lround(std::clamp(value, -most, most))) : 0;
  }

  void set_costs() {
    for (LocalIndex i = 0; i < A_.n_rows; ++i) {
      for (Offset e = A_.begin(i); e < A_.end(i); ++e) {
        largest_[at(i)] = std::max(largest_[at(i)], std::abs(A_.vals[static_cast<std::size_t>(e)]));
      }
      for (Offset e = A_.begin(i); e < A_.end(i); ++e) {
        const auto k = static_cast<std::size_t>(e);
        if (A_.vals[k] == 0) continue;
        cost_[k] = std::log2(largest_[at(i)]) - std::log2(std::abs(A_.vals[k]));
        double& least = column_[at(A_.cols[k])];
        least = std::min(least, cost_[k]);
      }
    }
  }

  /// First the pairs that cost nothing by the first dual variables.
  void match_what_is_tight() {
    for (LocalIndex i = 0; i < A_.n_rows; ++i) {
      double least = infinite;
      for (Offset e = A_.begin(i); e < A_.end(i); ++e) {
        const auto k = static_cast<std::size_t>(e);
        if (cost_[k] < infinite) least = std::min(least, cost_[k] - column_[at(A_.cols[k])]);
      }
      row_[at(i)] = least < infinite ? least : 0;
      for (Offset e = A_.begin(i); e < A_.end(i); ++e) {
        const auto k = static_cast<std::size_t>(e);
        const LocalIndex j = A_.cols[k];
        if (cost_[k] == infinite || row_of_[at(j)] != unmatched) continue;
        if (cost_[k] - column_[at(j)] > least) continue;
        row_of_[at(j)] = i;
        column_of_[at(i)] = j;
        break;
      }
    }
  }

  /// Lets the columns of row i that are nearer by it know, it being `distance` away.
  void look_from(LocalIndex i, double distance) {
    for (Offset e = A_.begin(i); e < A_.end(i); ++e) {
      const auto k = static_cast<std::size_t>(e);
      const LocalIndex j = A_.cols[k];
      if (cost_[k] == infinite || is_done_[at(j)]) continue;
      const double further = std::max(cost_[k] - row_[at(i)] - column_[at(j)], 0.0);
      if (distance + further >= distance_[at(j)]) continue;
      if (distance_[at(j)] == infinite) touched_.push_back(j);
      distance_[at(j)] = distance + further;
      from_[at(j)] = i;
      candidates_.emplace(distance_[at(j)], j);
    }
  }

  /// The nearest column that no row has, from row `start`; unmatched where none can be reached.
  LocalIndex nearest_free(LocalIndex start) {
    look_from(start, 0);
    while (!candidates_.empty()) {
      const LocalIndex j = candidates_.top().second;
      candidates_.pop();
      if (is_done_[at(j)]) continue;
      is_done_[at(j)] = 1;
      if (row_of_[at(j)] == unmatched) return j;
      look_from(row_of_[at(j)], distance_[at(j)]);
    }
    return unmatched;
  }

  void augment(LocalIndex start) {
    LocalIndex j = nearest_free(start);
    if (j != unmatched) {
      const double length = distance_[at(j)];
      row_[at(start)] += length;
      for (const LocalIndex seen : touched_) {
        if (!is_done_[at(seen)] || seen == j) continue;
        const double nearer = length - distance_[at(seen)];
        column_[at(seen)] -= nearer;
        row_[at(row_of_[at(seen)])] += nearer;
      }
      while (j != unmatched) {
        const LocalIndex i = from_[at(j)];
        row_of_[at(j)] = i;
        j = std::exchange(column_of_[at(i)], j);
      }
    }
    for (const LocalIndex seen : touched_) {
      distance_[at(seen)] = infinite;
      is_done_[at(seen)] = 0;
    }
    touched_.clear();
    candidates_ = {};
  }

  const kernels::Csr<double>& A_;
  std::vector<double> cost_;     // of each entry; infinite for stored zeros
  std::vector<double> largest_;  // modulus of each row
  std::vector<double> row_, column_;
  std::vector<LocalIndex> column_of_, row_of_;
  // Of the search for one path:
  std::vector<double> distance_;
  std::vector<LocalIndex> from_;  // the row that a column is reached from
  std::vector<char> is_done_;
  std::vector<LocalIndex> touched_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates_;
};

}  // namespace

Matching match_rows(const kernels::Csr<double>& A) {
  return Assignment(A).result();
}

}  // namespace nodewise::solver
