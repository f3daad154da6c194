#include "nodewise/kernels/bsr.hpp"

#include <algorithm>

#include "nodewise/base/parallel.hpp"

namespace nodewise::kernels {

namespace {

/// The block columns that occur in some rows, ascending. `seen` has for each block column the last
/// block row that it occurred in.
template <int B, class T>
void collect_columns(const Csr<T>& A, LocalIndex block_row, std::vector<LocalIndex>& seen,
                     std::vector<LocalIndex>& columns) {
  columns.clear();
  const LocalIndex first = block_row * B;
  bool ascend = true;
  for (Offset k = A.begin(first); k < A.end(first + B - 1); ++k) {
    const LocalIndex j = A.cols[static_cast<std::size_t>(k)] / B;
    LocalIndex& last = seen[static_cast<std::size_t>(j)];
    if (last == block_row) continue;
    last = block_row;
    ascend = ascend && (columns.empty() || columns.back() < j);
    columns.push_back(j);
  }
  if (!ascend) std::sort(columns.begin(), columns.end());
}

/// The places of A's blocks.
template <int B, class T>
void find_blocks(const Csr<T>& A, Bsr<T>& blocks) {
  Array<Offset> row_ptr = {0};
  row_ptr.reserve(static_cast<std::size_t>(blocks.n_rows) + 1);
  Array<LocalIndex> cols;
  cols.reserve(static_cast<std::size_t>(A.nnz() / (B * B) * 5 / 4));
  std::vector<LocalIndex> seen(static_cast<std::size_t>(blocks.n_cols), -1);
  std::vector<LocalIndex> columns;
  for (LocalIndex i = 0; i < blocks.n_rows; ++i) {
    collect_columns<B>(A, i, seen, columns);
    cols.insert(cols.end(), columns.begin(), columns.end());
    row_ptr.push_back(static_cast<Offset>(cols.size()));
  }
  blocks.row_ptr = std::move(row_ptr);
  blocks.cols = std::move(cols);
}

/// Writes A's values into the blocks of a structure, the rest of which are zeros.
template <int B, class T>
void fill_blocks(const Csr<T>& A, Bsr<T>& blocks) {
  blocks.vals.resize(static_cast<std::size_t>(blocks.n_blocks()) * B * B);
  const LocalIndex* const cols = std::as_const(blocks.cols).data();
  const LocalIndex* const A_cols = A.cols.data();
  const T* const A_vals = A.vals.data();
  T* const vals = blocks.vals.data();
  const auto fill_row = [&](LocalIndex row, Offset place) {
    const Offset end = A.end(row);
    for (Offset k = A.begin(row); k < end; ++k) {
      const LocalIndex j = A_cols[k] / B;
      while (cols[place] != j) ++place;
      vals[place * (B * B) + row % B * B + A_cols[k] % B] = A_vals[k];
    }
  };
  const std::span<const Offset> row_ptr(std::as_const(blocks.row_ptr).data(),
                                        blocks.row_ptr.size());
  parallel::for_rows(row_ptr, [&](LocalIndex first_row, LocalIndex end_row) {
    for (LocalIndex i = first_row; i < end_row; ++i) {
      const Offset begin = blocks.begin(i);
      std::fill_n(vals + begin * (B * B), (blocks.end(i) - begin) * (B * B), T{});
      for (LocalIndex r = 0; r < B; ++r) fill_row(i * B + r, begin);
    }
  });
}

}  // namespace

template <class T>
Bsr<T> to_bsr(const Csr<T>& A, int block) {
  if (block < min_block || block > max_block || A.n_rows % block != 0 || A.n_cols % block != 0) {
    throw Error(ErrorCode::internal, "a matrix of " + std::to_string(A.n_rows) + " x " +
                                         std::to_string(A.n_cols) + " in blocks of " +
                                         std::to_string(block));
  }
  Bsr<T> blocks;
  blocks.block = block;
  blocks.n_rows = A.n_rows / block;
  blocks.n_cols = A.n_cols / block;
  with_block_size(block, [&](auto size) {
    constexpr int B = decltype(size)::value;
    find_blocks<B>(A, blocks);
    fill_blocks<B>(A, blocks);
  });
  return blocks;
}

template <class T>
Bsr<T> with_values_of(const Bsr<T>& pattern, const Csr<T>& A) {
  Bsr<T> blocks;
  blocks.block = pattern.block;
  blocks.n_rows = pattern.n_rows;
  blocks.n_cols = pattern.n_cols;
  blocks.row_ptr = pattern.row_ptr;
  blocks.cols = pattern.cols;
  with_block_size(blocks.block, [&](auto size) {
    constexpr int B = decltype(size)::value;
    fill_blocks<B>(A, blocks);
  });
  return blocks;
}

namespace {

/// Calls f(block row, its product with x) for all rows.
template <int B, class T, class F>
void for_each_product(const Bsr<T>& A, const T* x, F&& f) {
  const Offset* const row_ptr = A.row_ptr.data();
  parallel::for_rows({row_ptr, A.row_ptr.size()}, [&](LocalIndex first_row, LocalIndex end_row) {
    for (LocalIndex i = first_row; i < end_row; ++i) {
      std::array<T, B> sum{};
      const Offset begin = row_ptr[i];
      stream_blocks_product<B>(A, begin, row_ptr[i + 1], begin + blocks_ahead<B, T>, x, sum);
      f(static_cast<std::size_t>(i) * B, sum);
    }
  });
}

/// Y += alpha times block row i of A times X, `W` columns of these from column c on.
template <int B, std::size_t W, class T>
void add_row_columns(T alpha, const Bsr<T>& A, LocalIndex i, std::span<const T> X, std::span<T> Y,
                     std::size_t width, std::size_t c) {
  std::array<std::array<T, W>, B> sums{};
  add_blocks_product<B, W>(A, A.begin(i), A.end(i), X.data() + c, width, sums);
  T* const y = Y.data() + static_cast<std::size_t>(i) * B * width + c;
  for (std::size_t r = 0; r < B; ++r) {
    for (std::size_t k = 0; k < W; ++k) y[r * width + k] += alpha * sums[r][k];
  }
}

/// The same of all columns, a few at a time.
template <int B, class T>
void add_row(T alpha, const Bsr<T>& A, LocalIndex i, std::span<const T> X, std::span<T> Y,
             std::size_t width) {
  if (A.begin(i) == A.end(i)) return;  // X may have no rows, and no address
  std::size_t c = 0;
  for (; c + 4 <= width; c += 4) add_row_columns<B, 4>(alpha, A, i, X, Y, width, c);
  if (c + 2 <= width) {
    add_row_columns<B, 2>(alpha, A, i, X, Y, width, c);
    c += 2;
  }
  if (c < width) add_row_columns<B, 1>(alpha, A, i, X, Y, width, c);
}

}  // namespace

template <class T>
void bsr_multiply(const Bsr<T>& A, std::span<const T> x, std::span<T> y) {
  with_block_size(A.block, [&](auto block) {
    constexpr int B = decltype(block)::value;
    for_each_product<B>(A, x.data(), [&](std::size_t at, const std::array<T, B>& sum) {
      std::copy(sum.begin(), sum.end(), y.data() + at);
    });
  });
}

template <class T>
void bsr_residual(const Bsr<T>& A, std::span<const T> x, std::span<const T> b, std::span<T> r) {
  with_block_size(A.block, [&](auto block) {
    constexpr int B = decltype(block)::value;
    for_each_product<B>(A, x.data(), [&](std::size_t at, const std::array<T, B>& sum) {
      for (std::size_t k = 0; k < B; ++k) r[at + k] = b[at + k] - sum[k];
    });
  });
}

template <class T>
void bsr_add_rows(T alpha, const Bsr<T>& A, std::span<const LocalIndex> rows, std::span<const T> x,
                  std::span<T> y) {
  with_block_size(A.block, [&](auto block) {
    constexpr int B = decltype(block)::value;
    for (const LocalIndex i : rows) {
      std::array<T, B> sum{};
      add_blocks_product<B>(A, A.begin(i), A.end(i), x.data(), sum);
      T* const to = y.data() + static_cast<std::size_t>(i) * B;
      for (std::size_t r = 0; r < B; ++r) to[r] += alpha * sum[r];
    }
  });
}

template <class T>
void bsr_multiply(const Bsr<T>& A, std::span<const T> X, std::span<T> Y, int width) {
  const auto w = static_cast<std::size_t>(width);
  const std::span<const Offset> row_ptr(A.row_ptr.data(), A.row_ptr.size());
  with_block_size(A.block, [&](auto block) {
    constexpr int B = decltype(block)::value;
    parallel::for_rows(row_ptr, [&](LocalIndex first_row, LocalIndex end_row) {
      for (LocalIndex i = first_row; i < end_row; ++i) {
        std::fill_n(Y.data() + static_cast<std::size_t>(i) * B * w, B * w, T{});
        add_row<B>(T{1}, A, i, X, Y, w);
      }
    });
  });
}

template <class T>
void bsr_add_rows(T alpha, const Bsr<T>& A, std::span<const LocalIndex> rows, std::span<const T> X,
                  std::span<T> Y, int width) {
  with_block_size(A.block, [&](auto block) {
    constexpr int B = decltype(block)::value;
    for (const LocalIndex i : rows) add_row<B>(alpha, A, i, X, Y, static_cast<std::size_t>(width));
  });
}

#define NODEWISE_INSTANTIATE(T)                                                                    \
  template Bsr<T> to_bsr(const Csr<T>&, int);                                                      \
  template Bsr<T> with_values_of(const Bsr<T>&, const Csr<T>&);                                    \
  template void bsr_multiply(const Bsr<T>&, std::span<const T>, std::span<T>);                     \
  template void bsr_residual(const Bsr<T>&, std::span<const T>, std::span<const T>, std::span<T>); \
  template void bsr_add_rows(T, const Bsr<T>&, std::span<const LocalIndex>, std::span<const T>,    \
                             std::span<T>);                                                        \
  template void bsr_multiply(const Bsr<T>&, std::span<const T>, std::span<T>, int);                \
  template void bsr_add_rows(T, const Bsr<T>&, std::span<const LocalIndex>, std::span<const T>,    \
                             std::span<T>, int);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::kernels
