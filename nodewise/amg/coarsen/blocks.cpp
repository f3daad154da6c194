#include "nodewise/amg/coarsen/blocks.hpp"

#include "nodewise/amg/coarsen/independent_set.hpp"

namespace nodewise::amg::coarsen {

namespace {

/// The strength without what couples rows of different blocks on this rank.
template <class T>
Strength within_blocks(const matrix::DistMatrix<T>& A, const Strength& strength,
                       std::span<const GlobalIndex> blocks) {
  Strength within = strength;
  for (std::size_t b = 0; b + 1 < blocks.size(); ++b) {
    for (auto i = static_cast<LocalIndex>(blocks[b]); i < blocks[b + 1]; ++i) {
      for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
        const auto p = static_cast<std::size_t>(k);
        const LocalIndex j = A.on().cols[p];
        if (j < blocks[b] || j >= blocks[b + 1]) within.on[p] = 0;
      }
    }
  }
  return within;
}

/// Whether all that row i depends on strongly is in its block, on this rank.
template <class T>
bool is_interior(const matrix::DistMatrix<T>& A, const Strength& strength, const Strength& within,
                 LocalIndex i) {
  const auto off = strength.off.begin();
  if (std::find(off + A.off().begin(i), off + A.off().end(i), 1) != off + A.off().end(i)) {
    return false;
  }
  return std::equal(strength.on.begin() + A.on().begin(i), strength.on.begin() + A.on().end(i),
                    within.on.begin() + A.on().begin(i));
}

}  // namespace

template <class T>
Splitting interior_coarse_points(const matrix::DistMatrix<T>& A, const Strength& strength,
                                 std::span<const GlobalIndex> blocks, const BlockSplitter& split) {
  const Strength copy = blocks.empty() ? Strength{} : within_blocks(A, strength, blocks);
  const Strength& within = blocks.empty() ? strength : copy;
  Splitting start(static_cast<std::size_t>(A.n_local()), undecided);
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    if (!has_dependences(A, strength, i)) start[static_cast<std::size_t>(i)] = fine;
  }
  Splitting points = split(within, std::move(start));
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    auto& state = points[static_cast<std::size_t>(i)];
    if (state != coarse || !is_interior(A, strength, within, i)) state = undecided;
  }
  return points;
}

template Splitting interior_coarse_points(const matrix::DistMatrix<float>&, const Strength&,
                                          std::span<const GlobalIndex>, const BlockSplitter&);
template Splitting interior_coarse_points(const matrix::DistMatrix<double>&, const Strength&,
                                          std::span<const GlobalIndex>, const BlockSplitter&);

}  // namespace nodewise::amg::coarsen
