#include "nodewise/amg/coarsen/aggressive.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/amg/coarsen/coarse_numbers.hpp"
#include "nodewise/amg/coarsen/independent_set.hpp"
#include "nodewise/amg/coarsen/virtual_ranks.hpp"
#include "nodewise/kernels/row_parts.hpp"
#include "nodewise/matrix/ghost_numbering.hpp"
#include "nodewise/matrix/row_exchange.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::coarsen {

namespace {

using matrix::DistMatrix;
using matrix::RowBlock;

/// Rows of ones under construction.
class Ones {
 public:
  /// Makes room for so many entries.
  void begin_row(Offset n) {
    const std::size_t wanted = size_ + static_cast<std::size_t>(n);
    if (wanted > cols_.size()) cols_.resize(2 * wanted);
  }
  /// Written over by the next if it is not `wanted`, which cannot be foreseen.
  void append(LocalIndex column, bool wanted) {
    cols_[size_] = column;
    size_ += static_cast<std::size_t>(wanted);
  }
  void end_row() { row_ptr_.push_back(static_cast<Offset>(size_)); }

  template <class T>
  kernels::Csr<T> take(LocalIndex n_cols) {
    kernels::Csr<T> rows;
    rows.n_rows = static_cast<LocalIndex>(row_ptr_.size() - 1);
    rows.n_cols = n_cols;
    cols_.resize(size_);
    rows.row_ptr = std::move(row_ptr_);
    rows.cols = std::move(cols_);
    rows.vals.assign(size_, T{1});
    return rows;
  }

 private:
  Array<Offset> row_ptr_ = {0};
  Array<LocalIndex> cols_;  // then room
  std::size_t size_ = 0;
};

/// Calls on(column, is strong) and off(ghost, is strong) for the entries of row i.
template <class T, class On, class Off>
void for_each_entry(const DistMatrix<T>& A, const Strength& strength, LocalIndex i, const On& on,
                    const Off& off) {
  for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    on(A.on().cols[p], strength.on[p] != 0);
  }
  for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    off(A.off().cols[p], strength.off[p] != 0);
  }
}

/// The rows that append(rows, i) makes of the points i, ranges of which go to the threads.
template <class T, class Append>
RowBlock<T> ones(const DistMatrix<T>& A, LocalIndex n_owned_cols,
                 std::span<const GlobalIndex> ghosts, const Append& append) {
  const LocalIndex n_cols = n_owned_cols + static_cast<LocalIndex>(ghosts.size());
  RowBlock<T> block;
  block.n_owned_cols = n_owned_cols;
  block.ghosts.assign(ghosts.begin(), ghosts.end());
  block.rows = kernels::rows_in_parts<T>(A.on().row_ptr, [&](LocalIndex begin, LocalIndex end) {
    Ones rows;
    for (LocalIndex i = begin; i < end; ++i) append(rows, i);
    return rows.take<T>(n_cols);
  });
  return block;
}

/// A row for each coarse point: itself and what it depends on.
template <class T>
RowBlock<T> first_steps(const DistMatrix<T>& A, const Strength& strength,
                        const Splitting& splitting) {
  return ones(A, A.n_local(), A.ghosts(), [&](Ones& rows, LocalIndex i) {
    if (splitting[static_cast<std::size_t>(i)] != coarse) return;
    rows.begin_row(1 + A.row_length(i));
    rows.append(i, true);
    for_each_entry(
        A, strength, i, [&](LocalIndex j, bool strong) { rows.append(j, strong); },
        [&](LocalIndex g, bool strong) { rows.append(A.n_local() + g, strong); });
    rows.end_row();
  });
}

/// A row for each point: the coarse points it depends on, and itself if it is one.
template <class T>
RowBlock<T> last_steps(const DistMatrix<T>& A, const Strength& strength,
                       const CoarseNumbers& numbers, const comm::Layout& coarse_points) {
  matrix::GhostNumbering columns(coarse_points);
  std::vector<LocalIndex> of_ghost;
  of_ghost.reserve(numbers.ghosts.size());
  for (const GlobalIndex c : numbers.ghosts) of_ghost.push_back(c < 0 ? -1 : columns.number(c));
  return ones(A, coarse_points.n_local(), columns.ghosts(), [&](Ones& rows, LocalIndex i) {
    rows.begin_row(1 + A.row_length(i));
    const auto append = [&](LocalIndex c, bool strong) { rows.append(c, strong & (c >= 0)); };
    append(numbers.local[static_cast<std::size_t>(i)], true);
    for_each_entry(
        A, strength, i,
        [&](LocalIndex j, bool strong) {
          append(numbers.local[static_cast<std::size_t>(j)], strong);
        },
        [&](LocalIndex g, bool strong) { append(of_ghost[static_cast<std::size_t>(g)], strong); });
    rows.end_row();
  });
}

/// Finds the columns that a row reaches by as many paths as asked for, row by row.
class PathCounter {
 public:
  PathCounter(LocalIndex n_columns, int n_paths)
      : counted_(static_cast<std::size_t>(n_columns), Offset{0}),
        reached_(static_cast<std::size_t>(n_columns) + 1),  // one more is written than is kept
        n_paths_(n_paths) {}

  void begin_row() {
    before_ += in_row_;
    in_row_ = 0;
    n_reached_ = 0;
  }
  /// Paths to these columns, another each.
  void add(const LocalIndex* cols, Offset n, LocalIndex shift) {
    const Offset wanted = before_ + n_paths_;
    for (Offset k = 0; k < n; ++k) {
      const LocalIndex j = cols[k] + shift;
      Offset& counted = counted_[static_cast<std::size_t>(j)];
      counted = std::max(counted, before_) + 1;
      // Which path is the last that is needed cannot be foreseen.
      reached_[n_reached_] = j;
      n_reached_ += static_cast<std::size_t>(counted == wanted);
    }
    in_row_ += n;
  }
  /// The columns of the row, ascending.
  std::span<const LocalIndex> reached() {
    const std::span columns = std::span(reached_).first(n_reached_);
    std::sort(columns.begin(), columns.end());
    return columns;
  }

 private:
  Array<Offset> counted_;  // paths to each column, counted on from those of all rows before
  Array<LocalIndex> reached_;
  std::size_t n_reached_ = 0;
  Offset before_ = 0, in_row_ = 0;
  int n_paths_;
};

/// A row for each coarse point: the others that at least n_paths lead to.
template <class T>
kernels::Csr<T> rows_of_paths(const kernels::ExtendedRows<T>& first,
                              const kernels::ExtendedRows<T>& last, int n_paths) {
  return kernels::rows_in_parts<T>(first.on->row_ptr, [&](LocalIndex begin, LocalIndex end) {
    PathCounter counter(last.n_cols, n_paths);
    Ones rows;
    for (LocalIndex i = begin; i < end; ++i) {
      counter.begin_row();
      first.for_each_piece(i, [&](const LocalIndex* ks, const T*, Offset n, LocalIndex k_shift) {
        for (Offset p = 0; p < n; ++p) {
          last.for_each_piece(ks[p] + k_shift,
                              [&](const LocalIndex* js, const T*, Offset n_j, LocalIndex shift) {
                                counter.add(js, n_j, shift);
                              });
        }
      });
      const std::span<const LocalIndex> reached = counter.reached();
      rows.begin_row(static_cast<Offset>(reached.size()));
      for (const LocalIndex j : reached) rows.append(j, j != i);
      rows.end_row();
    }
    return rows.take<T>(last.n_cols);
  });
}

}  // namespace

template <class T>
PathSteps<T> path_steps(const DistMatrix<T>& A, const Strength& strength,
                        const Splitting& splitting, const comm::Layout& coarse_points) {
  const CoarseNumbers numbers = coarse_numbers(A, splitting, strength, coarse_points);
  DistMatrix<T> first(coarse_points, A.cols(), [&] {
    return matrix::split_rows(A.cols(), first_steps(A, strength, splitting));
  });
  DistMatrix<T> last(A.rows(), coarse_points, [&] {
    return matrix::split_rows(coarse_points, last_steps(A, strength, numbers, coarse_points));
  });
  return {std::move(first), std::move(last)};
}

template <class T>
LongRange<T> long_range_dependences(const PathSteps<T>& steps, int n_paths) {
  const DistMatrix<T>& first = steps.first;
  const DistMatrix<T>& last = steps.last;
  std::optional<Error> failure;
  auto records = matrix::fetch_records(first.exchange(), last, failure);
  DistMatrix<T> paths(first.rows(), last.cols(), [&] {
    if (failure) throw Error(*failure);
    const matrix::FetchedRows<T> fetched = matrix::to_rows(last, records);
    return matrix::split_rows(
        last.cols(), RowBlock<T>{rows_of_paths(matrix::extended_rows(first),
                                               matrix::extended_rows(last, &fetched), n_paths),
                                 last.cols().n_local(), fetched.columns.ghosts()});
  });
  LongRange<T> result{std::move(paths), {}};
  mpi::collectively(result.paths.comm(), [&] {
    result.strength.on.assign(result.paths.on().cols.size(), 1);
    result.strength.off.assign(result.paths.off().cols.size(), 1);
  });
  return result;
}

template <class T>
LongRange<T> long_range_dependences(const DistMatrix<T>& A, const Strength& strength,
                                    const Splitting& splitting, const comm::Layout& coarse_points,
                                    int n_paths) {
  return long_range_dependences(path_steps(A, strength, splitting, coarse_points), n_paths);
}

template <class T>
Splitting aggressive(const DistMatrix<T>& A, const Strength& strength, int n_paths,
                     std::span<const GlobalIndex> blocks, const Splitter<T>& split) {
  Splitting splitting = split(A, strength, blocks);
  const comm::Layout coarse_points = coarse_layout(A.rows(), splitting);
  const LongRange<T> far = long_range_dependences(A, strength, splitting, coarse_points, n_paths);
  std::vector<LocalIndex> places;
  std::vector<GlobalIndex> coarse_blocks;
  mpi::collectively(A.comm(), [&] {
    places = places_of_coarse(splitting);
    if (!blocks.empty()) coarse_blocks = virtual_coarse_starts(blocks, places);
  });
  const Splitting second = split(far.paths, far.strength, coarse_blocks);
  for (std::size_t c = 0; c < places.size(); ++c) {
    if (!has_dependences(far.paths, far.strength, static_cast<LocalIndex>(c))) continue;
    splitting[static_cast<std::size_t>(places[c])] = second[c];
  }
  return splitting;
}

template PathSteps<float> path_steps(const DistMatrix<float>&, const Strength&, const Splitting&,
                                     const comm::Layout&);
template PathSteps<double> path_steps(const DistMatrix<double>&, const Strength&, const Splitting&,
                                      const comm::Layout&);
template LongRange<float> long_range_dependences(const PathSteps<float>&, int);
template LongRange<double> long_range_dependences(const PathSteps<double>&, int);
template LongRange<float> long_range_dependences(const DistMatrix<float>&, const Strength&,
                                                 const Splitting&, const comm::Layout&, int);
template LongRange<double> long_range_dependences(const DistMatrix<double>&, const Strength&,
                                                  const Splitting&, const comm::Layout&, int);
template Splitting aggressive(const DistMatrix<float>&, const Strength&, int,
                              std::span<const GlobalIndex>, const Splitter<float>&);
template Splitting aggressive(const DistMatrix<double>&, const Strength&, int,
                              std::span<const GlobalIndex>, const Splitter<double>&);

}  // namespace nodewise::amg::coarsen
