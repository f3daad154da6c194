// The local sparse matrix of dense square blocks, and its products with vectors.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "nodewise/base/error.hpp"
#include "nodewise/kernels/csr.hpp"

namespace nodewise::kernels {

/// The sizes of blocks that products are unrolled for.
inline constexpr int min_block = 2;
inline constexpr int max_block = 6;

/// Compressed rows of blocks: block row i holds the block columns
/// cols[row_ptr[i] .. row_ptr[i + 1]); block k has its values row-major at vals[k b b], b being the
/// size of a block, zeros included. Copies share the structure. One index for b b entries: the
/// matrix takes little more memory than its values.
template <class T>
struct Bsr {
  int block = min_block;
  LocalIndex n_rows = 0;  ///< block rows
  LocalIndex n_cols = 0;  ///< block columns
  SharedArray<Offset> row_ptr = {0};
  SharedArray<LocalIndex> cols;
  Array<T> vals;

  Offset n_blocks() const { return row_ptr.back(); }
  Offset begin(LocalIndex i) const { return row_ptr[static_cast<std::size_t>(i)]; }
  Offset end(LocalIndex i) const { return row_ptr[static_cast<std::size_t>(i) + 1]; }
  std::size_t block_entries() const {
    return static_cast<std::size_t>(block) * static_cast<std::size_t>(block);
  }
};

/// Calls f(std::integral_constant<int, block>{}), so that loops over a block can be unrolled.
template <class F>
decltype(auto) with_block_size(int block, F&& f) {
  switch (block) {
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 3:
      return f(std::integral_constant<int, 3>{});
    case 4:
      return f(std::integral_constant<int, 4>{});
    case 5:
      return f(std::integral_constant<int, 5>{});
    case 6:
      return f(std::integral_constant<int, 6>{});
    default:
      throw Error(ErrorCode::internal, "blocks of " + std::to_string(block) + " rows");
  }
}

/// sum += a x for one block. The products of a row are added up before they meet the sum, which
/// would have to wait for each of them otherwise.
template <int B, class T>
inline void add_block_product(const T* a, const T* x, std::array<T, B>& sum) {
  for (int r = 0; r < B; ++r) {
    T s = a[r * B] * x[0];
    for (int c = 1; c < B; ++c) s += a[r * B + c] * x[c];
    sum[static_cast<std::size_t>(r)] += s;
  }
}

/// sum += the blocks begin .. end times x.
template <int B, class T>
inline void add_blocks_product(const Bsr<T>& A, Offset begin, Offset end, const T* x,
                               std::array<T, B>& sum) {
  const LocalIndex* const cols = A.cols.data();
  const T* const vals = A.vals.data();
  for (Offset k = begin; k < end; ++k) {
    add_block_product<B>(vals + k * (B * B), x + Offset{cols[k]} * B, sum);
  }
}

/// The direction of a loop through rows, and through the blocks of each.
enum class Way { upwards, downwards };

/// The number of blocks that are fetched ahead while others are worked on.
template <int B, class T>
inline constexpr Offset blocks_ahead = 1 + 2048 / (B * B * Offset{sizeof(T)});

/// add_blocks_product() for loops through many rows: asks the memory for as many blocks from
/// `fetch` on, those that such a loop comes to later, one for each that it reads. The hardware's
/// own prefetching stops at page borders, and goes astray where rows go down and blocks up.
template <int B, Way way = Way::upwards, class T>
inline void stream_blocks_product(const Bsr<T>& A, Offset begin, Offset end, Offset fetch,
                                  const T* x, std::array<T, B>& sum) {
  constexpr Offset size = B * B;
  constexpr Offset line = 64 / Offset{sizeof(T)};
  const Offset n = end - begin;
  const LocalIndex* const cols = A.cols.data() + begin;
  const T* const vals = A.vals.data() + begin * size;
  fetch = std::clamp<Offset>(fetch, 0, A.n_blocks() - n);
  const T* const later = A.vals.data() + fetch * size;
  __builtin_prefetch(A.cols.data() + fetch);
  const auto add = [&](Offset k) {
    for (Offset at = 0; at < size; at += line) __builtin_prefetch(later + k * size + at);
    add_block_product<B>(vals + k * size, x + Offset{cols[k]} * B, sum);
  };
  if constexpr (way == Way::upwards) {
    for (Offset k = 0; k < n; ++k) add(k);
  } else {
    for (Offset k = n; k-- > 0;) add(k);
  }
}

/// SUM += the blocks begin .. end times `W` columns of X, which begin at X and lie `width` apart.
template <int B, std::size_t W, class T>
inline void add_blocks_product(const Bsr<T>& A, Offset begin, Offset end, const T* X,
                               std::size_t width, std::array<std::array<T, W>, B>& sums) {
  const LocalIndex* const cols = A.cols.data();
  for (Offset k = begin; k < end; ++k) {
    const T* const a = A.vals.data() + k * (B * B);
    const T* const x = X + static_cast<std::size_t>(cols[k]) * B * width;
    for (std::size_t r = 0; r < B; ++r) {
      for (std::size_t j = 0; j < B; ++j) {
        for (std::size_t c = 0; c < W; ++c) sums[r][c] += a[r * B + j] * x[j * width + c];
      }
    }
  }
}

/// Local. The same matrix in blocks of `block` rows and columns, min_block .. max_block, which must
/// divide its dimensions. Its columns must ascend in every row; so do then the block columns.
template <class T>
Bsr<T> to_bsr(const Csr<T>& A, int block);

/// Local. The values of a matrix with the pattern of the one that `pattern` was made from.
template <class T>
Bsr<T> with_values_of(const Bsr<T>& pattern, const Csr<T>& A);

/// Local. y = A x.
template <class T>
void bsr_multiply(const Bsr<T>& A, std::span<const T> x, std::span<T> y);

/// Local. r = b - A x; b and r may be the same array.
template <class T>
void bsr_residual(const Bsr<T>& A, std::span<const T> x, std::span<const T> b, std::span<T> r);

/// Local. y += alpha A x in the given block rows only.
template <class T>
void bsr_add_rows(T alpha, const Bsr<T>& A, std::span<const LocalIndex> rows, std::span<const T> x,
                  std::span<T> y);

/// Local. Y = A X for `width` vectors side by side, row-major.
template <class T>
void bsr_multiply(const Bsr<T>& A, std::span<const T> X, std::span<T> Y, int width);

/// Local. Y += alpha A X in the given block rows only.
template <class T>
void bsr_add_rows(T alpha, const Bsr<T>& A, std::span<const LocalIndex> rows, std::span<const T> X,
                  std::span<T> Y, int width);

}  // namespace nodewise::kernels
