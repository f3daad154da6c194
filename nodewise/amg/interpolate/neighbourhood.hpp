// What interpolation formulas see of a matrix: the rows of this rank's points, and of the points
// around them what leads to coarse points.
#pragma once

#include <algorithm>
#include <vector>

#include "nodewise/amg/coarsen/coarse_numbers.hpp"
#include "nodewise/base/array.hpp"
#include "nodewise/matrix/ghost_numbering.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::interpolate {

/// Which entries of another point's row a formula goes through.
enum class Signs {
  opposite,  ///< those of the sign opposite to that row's diagonal; others count as zero
  all
};

/// What becomes of couplings to points that depend on none. Lumping them into the diagonal takes
/// their error for that of the row's point; but relaxation alone removes it, as that of a boundary
/// condition.
enum class ToIsolated { lumped, dropped };

/// The coarse entries of the fine points, in compressed rows: local points first, then ghosts.
template <class T>
struct CoarseLinks {
  Array<Offset> begin = {0};
  Array<LocalIndex> cols;  // coarse numbers
  Array<T> vals;           // 0 where the sign is not one to go through
  Array<std::uint8_t> strong;

  void push(LocalIndex col, T value, bool is_strong) {
    cols.push_back(col);
    vals.push_back(value);
    strong.push_back(is_strong ? 1 : 0);
  }
  void end_row() { begin.push_back(static_cast<Offset>(cols.size())); }
  void reserve(std::size_t n_rows, std::size_t n_links) {
    begin.reserve(n_rows + 1);
    cols.reserve(n_links);
    vals.reserve(n_links);
    strong.reserve(n_links);
  }
  std::size_t first(LocalIndex point) const {
    return static_cast<std::size_t>(begin[static_cast<std::size_t>(point)]);
  }
  std::size_t last(LocalIndex point) const {
    return static_cast<std::size_t>(begin[static_cast<std::size_t>(point) + 1]);
  }
};

/// Points are numbered locally, ghosts of the matrix behind this rank's own; coarse points by
/// columns(), those of other ranks behind this rank's own.
template <class T>
class Neighbourhood {
 public:
  /// Local. All must outlive it.
  Neighbourhood(const matrix::DistMatrix<T>& A, const Strength& strength,
                const coarsen::Splitting& splitting, const comm::Layout& coarse_points, Signs signs)
      : A_(A),
        strength_(strength),
        splitting_(splitting),
        coarse_layout_(coarse_points),
        columns_(coarse_layout_),
        signs_(signs) {}

  /// A fine point's entry as it travels: 4 * column + kind, the column global and, for coarse
  /// points, numbered on the coarse grid.
  struct Link {
    GlobalIndex code;
    T value;
  };

  /// Collective. Asks which ghosts are coarse: one exchange of A for vectors. number_points() is to
  /// follow.
  void share_coarse_points();
  /// Local. Numbers them: enough for formulas that look at a row alone.
  void number_points();
  /// Collective. Brings the entries of ghosts, one exchange of A for records, and numbers the
  /// points while it is about it. What fails on one rank all throw. gather() is to follow.
  comm::Records<Link> bring_links();
  /// Local. Puts the links together.
  void gather(const comm::Records<Link>& received);

  const matrix::DistMatrix<T>& matrix() const { return A_; }
  const comm::Layout& coarse_layout() const { return coarse_layout_; }
  const matrix::GhostNumbering& columns() const { return columns_; }
  const CoarseLinks<T>& links() const { return links_; }
  bool is_coarse(LocalIndex i) const {
    return splitting_[static_cast<std::size_t>(i)] == coarsen::coarse;
  }
  LocalIndex coarse_number(LocalIndex i) const { return numbers_[static_cast<std::size_t>(i)]; }
  T diagonal(LocalIndex i) const { return diagonal_[static_cast<std::size_t>(i)]; }

  /// Calls f(point, number, value, is strong) for the entries of local row i, the
  /// diagonal among them.
  template <class F>
  void for_each_entry(LocalIndex i, F&& f) const {
    for (Offset k = A_.on().begin(i); k < A_.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      const LocalIndex j = A_.on().cols[p];
      f(j, numbers_[static_cast<std::size_t>(j)], A_.on().vals[p], strength_.on[p] != 0);
    }
    for (Offset k = A_.off().begin(i); k < A_.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      const LocalIndex j = A_.n_local() + A_.off().cols[p];
      f(j, numbers_[static_cast<std::size_t>(j)], A_.off().vals[p], strength_.off[p] != 0);
    }
  }
  /// The same for the strong entries only: f(point, coarse number or -1).
  template <class F>
  void for_each_strong(LocalIndex i, F&& f) const {
    for (Offset k = A_.on().begin(i); k < A_.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      if (!strength_.on[p]) continue;
      const LocalIndex j = A_.on().cols[p];
      f(j, numbers_[static_cast<std::size_t>(j)]);
    }
    for (Offset k = A_.off().begin(i); k < A_.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      if (!strength_.off[p]) continue;
      const LocalIndex j = A_.n_local() + A_.off().cols[p];
      f(j, numbers_[static_cast<std::size_t>(j)]);
    }
  }

  /// A place in each local row for entry_back() to go on from.
  using Cursors = std::vector<LocalIndex>;
  Cursors cursors() const { return Cursors(static_cast<std::size_t>(A_.n_local()), 0); }
  /// The entry of the row of point k at the local point i, if its sign is one to go through. The i
  /// must not descend from call to call with the same cursors: they only advance, which finds the
  /// entry without searching.
  T entry_back(LocalIndex k, LocalIndex i, Cursors& cursors) const {
    if (k >= A_.n_local()) return entry_back_from_ghost(k - A_.n_local(), i);
    const LocalIndex* cols = A_.on().cols.data() + A_.on().begin(k);
    const auto length = static_cast<LocalIndex>(A_.on().end(k) - A_.on().begin(k));
    LocalIndex& at = cursors[static_cast<std::size_t>(k)];
    while (at < length && cols[at] < i) ++at;
    if (at == length || cols[at] != i) return T{};
    return through(k, A_.on().vals[static_cast<std::size_t>(A_.on().begin(k) + at)]);
  }

 private:
  enum Kind : GlobalIndex { fine_column = 0, weak_coarse = 1, strong_coarse = 2 };

  /// The value of an entry of local row i if its sign is one to go through, else 0.
  T through(LocalIndex i, T value) const {
    return signs_ == Signs::all || (diagonal(i) < 0) != (value < 0) ? value : T{};
  }
  T entry_back_from_ghost(LocalIndex g, LocalIndex i) const {
    const auto u = static_cast<std::size_t>(g);
    for (auto p = static_cast<std::size_t>(fine_begin_[u]);
         p < static_cast<std::size_t>(fine_begin_[u + 1]); ++p) {
      if (fine_cols_[p] == i) return fine_vals_[p];
    }
    return T{};
  }

  comm::Records<Link> outgoing_links() const;
  void append_links(LocalIndex i, std::vector<Link>& links) const;
  CoarseLinks<T> collect_local_links(LocalIndex begin, LocalIndex end) const;
  void collect_local_links();
  void collect_ghost_links(const comm::Records<Link>& received);

  const matrix::DistMatrix<T>& A_;
  const Strength& strength_;
  const coarsen::Splitting& splitting_;
  comm::Layout coarse_layout_;
  matrix::GhostNumbering columns_;
  Signs signs_;
  std::vector<LocalIndex> numbers_;  // of all points on the coarse grid, by columns_; or why not
  std::vector<GlobalIndex> ghost_coarse_;  // of ghosts on the coarse grid, global; or why not
  std::vector<T> diagonal_;                // of local rows
  CoarseLinks<T> links_;
  std::vector<Offset> fine_begin_ = {0};  // entries of ghosts at fine points of this rank
  std::vector<LocalIndex> fine_cols_;
  std::vector<T> fine_vals_;
};

}  // namespace nodewise::amg::interpolate
