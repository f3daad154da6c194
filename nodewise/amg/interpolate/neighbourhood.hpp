// The part of a matrix that interpolation formulas see: the rows of this rank's points, and of the
// points around them the entries that lead to coarse points.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "nodewise/amg/coarsen/coarse_numbers.hpp"
#include "nodewise/amg/interpolate/interpolate.hpp"
#include "nodewise/base/array.hpp"
#include "nodewise/matrix/ghost_numbering.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::interpolate {

/// The entries of another point's row that a formula goes through.
enum class Signs {
  opposite,  ///< those of the sign opposite to that row's diagonal; others count as zero
  all
};

/// The coarse entries of the fine points: local points first, then ghosts.
template <class T>
class CoarseLinks {
 public:
  /// The strong ones first.
  struct Point {
    Offset first = 0;
    LocalIndex n_strong = 0;
    LocalIndex n_weak = 0;
    T strong_sum{};  ///< of the values of the strong ones
  };

  const Point& of(LocalIndex point) const { return points_[static_cast<std::size_t>(point)]; }
  /// Coarse numbers.
  std::span<const LocalIndex> strong_cols(const Point& point) const {
    return {cols_.data() + point.first, static_cast<std::size_t>(point.n_strong)};
  }
  std::span<const LocalIndex> cols(const Point& point) const {
    return {cols_.data() + point.first, static_cast<std::size_t>(point.n_strong + point.n_weak)};
  }
  /// Those of cols(); 0 where the sign is not one to go through.
  const T* vals(const Point& point) const { return vals_.data() + point.first; }

  /// Local. Writes them point by point: first open(), then add() for each entry that may be one,
  /// whether it is or not, and close().
  class Writer {
   public:
    /// A point while it is written, in a form that the compiler keeps in registers. Which entries
    /// are links cannot be foreseen: all are written, and some written over.
    struct Open {
      LocalIndex* strong_cols;
      T* strong_vals;
      LocalIndex* weak_cols;
      T* weak_vals;
      std::size_t n_strong = 0;
      std::size_t n_weak = 0;

      void add(LocalIndex col, T value, bool is_link, bool is_strong) {
        strong_cols[n_strong] = col;
        strong_vals[n_strong] = value;
        n_strong += static_cast<std::size_t>(is_link & is_strong);
        weak_cols[n_weak] = col;
        weak_vals[n_weak] = value;
        n_weak += static_cast<std::size_t>(is_link & !is_strong);
      }
    };

    Writer(std::size_t n_points, std::size_t n_links) {
      links_.points_.reserve(n_points);
      links_.cols_.reserve(n_links);
      links_.vals_.reserve(n_links);
    }
    Open open(std::size_t max_links);
    void close(const Open& point);
    CoarseLinks take() { return std::move(links_); }

   private:
    CoarseLinks links_;
    std::vector<LocalIndex> weak_cols_;
    std::vector<T> weak_vals_;
  };

  /// Local. The points of all parts, of which each thread made one, one behind the other.
  static CoarseLinks joined(std::vector<CoarseLinks> parts);
  /// Local. Puts more points behind these.
  void append(const CoarseLinks& more);

 private:
  Array<Point> points_;
  Array<LocalIndex> cols_;
  Array<T> vals_;
};

/// Points are numbered locally, ghosts of the matrix behind this rank's own; coarse points by
/// columns(), those of other ranks behind this rank's own.
template <class T>
class Neighbourhood {
 public:
  /// Local. All must outlive it.
  Neighbourhood(const matrix::DistMatrix<T>& A, const Strength& strength,
                const coarsen::Splitting& splitting, const comm::Layout& coarse_points, Signs signs,
                ToIsolated to_isolated)
      : A_(A),
        strength_(strength),
        splitting_(splitting),
        coarse_layout_(coarse_points),
        columns_(coarse_layout_),
        signs_(signs),
        to_isolated_(to_isolated) {}

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
  /// points while it is about it. What fails here is left in `failure`, for the caller's next
  /// agreement. gather() is to follow.
  comm::Records<Link> bring_links(std::optional<Error>& failure);
  /// Local. Puts the links together.
  void gather(const comm::Records<Link>& received);

  const matrix::DistMatrix<T>& matrix() const { return A_; }
  const comm::Layout& coarse_layout() const { return coarse_layout_; }
  const matrix::GhostNumbering& columns() const { return columns_; }
  const CoarseLinks<T>& links() const { return links_; }
  bool is_coarse(LocalIndex i) const {
    return splitting_[static_cast<std::size_t>(i)] == coarsen::coarse;
  }
  /// Negative for a fine point: coarsen::isolated_point where couplings to it are to be dropped.
  LocalIndex coarse_number(LocalIndex i) const { return numbers_[static_cast<std::size_t>(i)]; }
  T diagonal(LocalIndex i) const { return diagonal_[static_cast<std::size_t>(i)]; }

  /// Calls f(point, number, value, is strong) for the entries of local row i, the
  /// diagonal among them.
  template <class F>
  void for_each_entry(LocalIndex i, F&& f) const {
    // One place that calls f, for a compiler to put it there.
    for (const bool ghosts : {false, true}) {
      const kernels::Csr<T>& rows = ghosts ? A_.off() : A_.on();
      const std::uint8_t* const strong = (ghosts ? strength_.off : strength_.on).data();
      const LocalIndex shift = ghosts ? A_.n_local() : 0;
      const Offset end = rows.end(i);
      for (Offset k = rows.begin(i); k < end; ++k) {
        const LocalIndex j = rows.cols[static_cast<std::size_t>(k)] + shift;
        f(j, numbers_[static_cast<std::size_t>(j)], rows.vals[static_cast<std::size_t>(k)],
          strong[k] != 0);
      }
    }
  }
  /// The same for the strong entries only: f(point, coarse number or -1).
  template <class F>
  void for_each_strong(LocalIndex i, F&& f) const {
    for_each_entry(i, [&](LocalIndex j, LocalIndex c, T, bool strong) {
      if (strong) f(j, c);
    });
  }

  /// Finds entries a_ki for those a_ik that are at hand.
  class EntriesBack {
   public:
    /// Those that are not taken to be a_ik, as they are in a symmetric matrix, cost a look into
    /// another row, which is seldom in a near cache.
    EntriesBack(const Neighbourhood& near, bool symmetric)
        : near_(near),
          symmetric_(symmetric),
          cursors_(symmetric ? 0 : static_cast<std::size_t>(near.A_.n_local()), 0) {}

    /// The entry of the row of point k at the local point i, if its sign is one to go through. The
    /// i must not descend from call to call: the place in each row only advances, which finds the
    /// entry without searching.
    T operator()(LocalIndex k, LocalIndex i, T a_ik) {
      const auto& A = near_.A_;
      if (k >= A.n_local()) return near_.entry_back_from_ghost(k - A.n_local(), i);
      if (symmetric_) return near_.through(k, a_ik);
      const LocalIndex* cols = A.on().cols.data() + A.on().begin(k);
      const auto length = static_cast<LocalIndex>(A.on().end(k) - A.on().begin(k));
      LocalIndex& at = cursors_[static_cast<std::size_t>(k)];
      while (at < length && cols[at] < i) ++at;
      if (at == length || cols[at] != i) return T{};
      return near_.through(k, A.on().vals[static_cast<std::size_t>(A.on().begin(k) + at)]);
    }

   private:
    const Neighbourhood& near_;
    bool symmetric_;
    std::vector<LocalIndex> cursors_;
  };

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
  CoarseLinks<T> local_links(LocalIndex begin, LocalIndex end) const;
  CoarseLinks<T> ghost_links(const comm::Records<Link>& received);

  const matrix::DistMatrix<T>& A_;
  const Strength& strength_;
  const coarsen::Splitting& splitting_;
  comm::Layout coarse_layout_;
  matrix::GhostNumbering columns_;
  Signs signs_;
  ToIsolated to_isolated_;
  Array<LocalIndex> numbers_;  // of all points on the coarse grid, by columns_; or why not
  std::vector<GlobalIndex> ghost_coarse_;  // of ghosts on the coarse grid, global; or why not
  Array<T> diagonal_;                      // of local rows
  CoarseLinks<T> links_;
  std::vector<Offset> fine_begin_ = {0};  // entries of ghosts at fine points of this rank
  std::vector<LocalIndex> fine_cols_;
  std::vector<T> fine_vals_;
};

}  // namespace nodewise::amg::interpolate
