#include "nodewise/amg/coarsen/aggressive.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/amg/coarsen/coarse_numbers.hpp"
#include "nodewise/amg/coarsen/independent_set.hpp"
#include "nodewise/amg/virtual_ranks.hpp"
#include "nodewise/matrix/ghost_numbering.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::coarsen {

namespace {

using matrix::DistMatrix;
using matrix::RowBlock;

/// Appends an entry of the value one to the last row.
template <class T>
void append(RowBlock<T>& block, LocalIndex column) {
  block.rows.cols.push_back(column);
  block.rows.vals.push_back(T{1});
}

template <class T>
void end_row(RowBlock<T>& block) {
  block.rows.row_ptr.push_back(static_cast<Offset>(block.rows.cols.size()));
  ++block.rows.n_rows;
}

/// Calls on(column) or off(ghost) for what row i depends on strongly.
template <class T, class On, class Off>
void for_each_dependence(const DistMatrix<T>& A, const Strength& strength, LocalIndex i,
                         const On& on, const Off& off) {
  for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    if (strength.on[p]) on(A.on().cols[p]);
  }
  for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    if (strength.off[p]) off(A.off().cols[p]);
  }
}

/// A row for each coarse point: itself and what it depends on.
template <class T>
RowBlock<T> first_steps(const DistMatrix<T>& A, const Strength& strength,
                        const Splitting& splitting) {
  RowBlock<T> block;
  block.n_owned_cols = A.n_local();
  block.ghosts.assign(A.ghosts().begin(), A.ghosts().end());
  block.rows.n_cols = A.n_local() + A.n_ghosts();
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    if (splitting[static_cast<std::size_t>(i)] != coarse) continue;
    append(block, i);
    for_each_dependence(
        A, strength, i, [&](LocalIndex j) { append(block, j); },
        [&](LocalIndex g) { append(block, A.n_local() + g); });
    end_row(block);
  }
  return block;
}

/// A row for each point: the coarse points it depends on.
template <class T>
RowBlock<T> last_steps(const DistMatrix<T>& A, const Strength& strength,
                       const CoarseNumbers& numbers, const comm::Layout& coarse_points) {
  matrix::GhostNumbering columns(coarse_points);
  RowBlock<T> block;
  block.n_owned_cols = coarse_points.n_local();
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    for_each_dependence(
        A, strength, i,
        [&](LocalIndex j) {
          const LocalIndex c = numbers.local[static_cast<std::size_t>(j)];
          if (c >= 0) append(block, c);
        },
        [&](LocalIndex g) {
          const GlobalIndex c = numbers.ghosts[static_cast<std::size_t>(g)];
          if (c >= 0) append(block, columns.number(c));
        });
    end_row(block);
  }
  block.rows.n_cols = columns.size();
  block.ghosts = columns.ghosts();
  return block;
}

/// The entries, but those of the diagonal, that are at least n_paths.
template <class T>
Strength at_least(const DistMatrix<T>& paths, int n_paths) {
  const auto enough = [&](T count) -> std::uint8_t { return count >= static_cast<T>(n_paths); };
  Strength strength;
  strength.on.resize(paths.on().vals.size());
  strength.off.resize(paths.off().vals.size());
  std::transform(paths.off().vals.begin(), paths.off().vals.end(), strength.off.begin(), enough);
  for (LocalIndex i = 0; i < paths.n_local(); ++i) {
    for (Offset k = paths.on().begin(i); k < paths.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      strength.on[p] = paths.on().cols[p] == i ? std::uint8_t{0} : enough(paths.on().vals[p]);
    }
  }
  return strength;
}

}  // namespace

std::vector<LocalIndex> places_of_coarse(const Splitting& splitting) {
  std::vector<LocalIndex> places;
  for (std::size_t i = 0; i < splitting.size(); ++i) {
    if (splitting[i] == coarse) places.push_back(static_cast<LocalIndex>(i));
  }
  return places;
}

template <class T>
PathSteps<T> path_steps(const DistMatrix<T>& A, const Strength& strength,
                        const Splitting& splitting, const comm::Layout& coarse_points) {
  const CoarseNumbers numbers = coarse_numbers(A, splitting, coarse_points);
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
  LongRange<T> result{matrix::multiply(steps.first, steps.last), {}};
  mpi::collectively(result.paths.comm(),
                    [&] { result.strength = at_least(result.paths, n_paths); });
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
