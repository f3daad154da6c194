#include "nodewise/matrix/operations.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/spmm.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/fit.hpp"
#include "nodewise/matrix/ghost_product.hpp"
#include "nodewise/matrix/row_exchange.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::matrix {

namespace {

template <class T>
std::size_t size(const Csr<T>& A) {
  return static_cast<std::size_t>(A.n_rows);
}

/// Refuses vectors of a rank that are not n_x and n_y numbers long, times the width.
void require_lengths(LocalIndex n_x, std::size_t x, LocalIndex n_y, std::size_t y, int width = 1) {
  const auto times = static_cast<std::size_t>(std::max(width, 0));
  const std::size_t wanted_x = times * static_cast<std::size_t>(n_x);
  const std::size_t wanted_y = times * static_cast<std::size_t>(n_y);
  if (width >= 1 && x == wanted_x && y == wanted_y) return;
  throw Error(ErrorCode::dimension_mismatch, "product: vectors of " + std::to_string(x) + " and " +
                                                 std::to_string(y) + " numbers on a rank, where " +
                                                 std::to_string(wanted_x) + " and " +
                                                 std::to_string(wanted_y) + " are needed");
}

/// The same for A's columns and rows.
template <class T>
void require_lengths(const DistMatrix<T>& A, std::size_t x, std::size_t y, int width = 1) {
  require_lengths(A.cols().n_local(), x, A.rows().n_local(), y, width);
}

/// Collective. A product with ghosts: behind() all at once when they are here, where nothing is to
/// overlap, or else add_ghost_product().
template <class T, class OnProcess, class Behind>
void product(T alpha, const DistMatrix<T>& A, std::span<const T> x, std::span<T> y,
             OnProcess&& on_process, Behind&& behind) {
  if (A.exchange().overlap() == comm::Overlap::none) {
    const kernels::GhostColumns<T> ghosts = bring_ghosts(A, x);
    return A.exchange().working([&] { behind(ghosts); });
  }
  add_ghost_product(alpha, A, x, y, on_process);
}

}  // namespace

template <class T>
void multiply(const DistMatrix<T>& A, std::span<const T> x, std::span<T> y) {
  require_lengths(A, x.size(), y.size());
  if (const BlockMatrix<T>* blocks = A.blocks()) {
    return add_ghost_blocks_product(T{1}, *blocks, x, y, 1,
                                    [&] { kernels::bsr_multiply(blocks->on(), x, y); });
  }
  product(
      T{1}, A, x, y, [&] { kernels::spmv(A.on(), x, y); },
      [&](const kernels::GhostColumns<T>& ghosts) { kernels::spmv(A.on(), x, ghosts, y); });
}

template <class T>
void multiply(const DistMatrix<T>& A, std::span<const T> X, std::span<T> Y, int width) {
  require_lengths(A, X.size(), Y.size(), width);
  if (const BlockMatrix<T>* blocks = A.blocks()) {
    return add_ghost_blocks_product(T{1}, *blocks, X, Y, width,
                                    [&] { kernels::bsr_multiply(blocks->on(), X, Y, width); });
  }
  comm::Exchange& exchange = A.exchange();
  const std::span<T> ghosts = exchange.template ghost_buffer<T>(width);
  exchange.forward_beside(X, ghosts, width, [&] { kernels::spmm(A.on(), X, Y, width); });
  kernels::spmm_add_rows(A.off(), A.boundary_rows(), std::span<const T>(ghosts), Y, width);
}

template <class T>
void multiply_add(const DistMatrix<T>& A, std::span<const T> x, std::span<T> y) {
  require_lengths(A, x.size(), y.size());
  product(
      T{1}, A, x, y, [&] { kernels::spmv_add(A.on(), x, y); },
      [&](const kernels::GhostColumns<T>& ghosts) { kernels::spmv_add(A.on(), x, ghosts, y); });
}

template <class T>
void residual(const DistMatrix<T>& A, std::span<const T> x, std::span<const T> b, std::span<T> r) {
  require_lengths(A, x.size(), std::min(b.size(), r.size()));
  if (const BlockMatrix<T>* blocks = A.blocks()) {
    return add_ghost_blocks_product(T{-1}, *blocks, x, r, 1,
                                    [&] { kernels::bsr_residual(blocks->on(), x, b, r); });
  }
  product(
      T{-1}, A, x, r, [&] { kernels::residual(A.on(), x, b, r); },
      [&](const kernels::GhostColumns<T>& ghosts) { kernels::residual(A.on(), x, ghosts, b, r); });
}

template <class T>
void multiply_transposed(const DistMatrix<T>& A, std::span<const T> x, std::span<T> y) {
  require_lengths(A.rows().n_local(), x.size(), A.cols().n_local(), y.size());
  const std::span<T> ghosts = A.exchange().template ghost_buffer<T>();
  std::fill(ghosts.begin(), ghosts.end(), T{});
  kernels::spmv_transposed_add_rows(A.off(), A.boundary_rows(), x, ghosts);
  A.exchange().reverse_add_beside(std::span<const T>(ghosts), y, 1, [&] {
    std::fill(y.begin(), y.end(), T{});
    kernels::spmv_transposed_add(A.on(), x, y);
  });
}

template <class T>
void residual(const DistMatrix<T>& A, std::span<const T> X, std::span<const T> B, std::span<T> R,
              int width) {
  require_lengths(A, X.size(), B.size(), width);
  multiply(A, X, R, width);
  parallel::for_range(R.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) R[i] = B[i] - R[i];
  });
}

template <class T>
void multiply_add(const DistMatrix<T>& A, std::span<const T> X, std::span<T> Y, int width) {
  require_lengths(A, X.size(), Y.size(), width);
  comm::Exchange& exchange = A.exchange();
  const std::span<T> ghosts = exchange.template ghost_buffer<T>(width);
  exchange.forward_beside(X, ghosts, width, [&] { kernels::spmm_add(A.on(), X, Y, width); });
  kernels::spmm_add_rows(A.off(), A.boundary_rows(), std::span<const T>(ghosts), Y, width);
}

template <class T>
void multiply_transposed(const DistMatrix<T>& A, std::span<const T> X, std::span<T> Y, int width) {
  require_lengths(A.rows().n_local(), X.size(), A.cols().n_local(), Y.size(), width);
  const std::span<T> ghosts = A.exchange().template ghost_buffer<T>(width);
  std::fill(ghosts.begin(), ghosts.end(), T{});
  kernels::spmm_transposed_add_rows(A.off(), A.boundary_rows(), X, ghosts, width);
  A.exchange().reverse_add_beside(std::span<const T>(ghosts), Y, width, [&] {
    std::fill(Y.begin(), Y.end(), T{});
    kernels::spmm_transposed_add(A.on(), X, Y, width);
  });
}

template <class T>
DistMatrix<T> transpose(const DistMatrix<T>& A) {
  const auto outgoing = [&] {
    return to_records(kernels::transpose(A.off()), GhostNumbering(A.rows()));
  };
  std::optional<Error> failure;
  const auto arrived = A.exchange().reverse_records(
      outgoing, [](std::span<RowWord<T>> record) { return record.size(); }, failure);
  return {A.cols(), A.rows(), [&] {
            if (failure) throw Error(*failure);
            GhostNumbering columns(A.rows());
            SplitRows<T> split;
            split.on = kernels::transpose(A.on());
            RowBlock<T> block{to_csr(arrived, columns), A.rows().n_local(), columns.ghosts()};
            SplitRows<T> others = split_rows(A.rows(), std::move(block));
            split.off = std::move(others.off);
            split.ghosts = std::move(others.ghosts);
            return split;
          }};
}

template <class T>
DistMatrix<T> add(T alpha, const DistMatrix<T>& A, T beta, const DistMatrix<T>& B) {
  require_fit(A, B, A.rows() == B.rows() && A.cols() == B.cols(), "sum");
  return {
      A.rows(), A.cols(), [&] {
        GhostNumbering columns(A.cols(), A.ghosts());
        Csr<T> sum(A.n_local(), 0);
        for (LocalIndex i = 0; i < A.n_local(); ++i) {
          const auto append = [&](const Csr<T>& part, T factor, auto number) {
            for (Offset k = part.begin(i); k < part.end(i); ++k) {
              const auto p = static_cast<std::size_t>(k);
              sum.cols.push_back(number(part.cols[p]));
              sum.vals.push_back(factor * part.vals[p]);
            }
          };
          const auto owned = [](LocalIndex j) { return j; };
          append(A.on(), alpha, owned);
          append(B.on(), beta, owned);
          append(A.off(), alpha, [&](LocalIndex j) { return A.on().n_cols + j; });
          append(B.off(), beta, [&](LocalIndex j) {
            return columns.number(B.ghosts()[static_cast<std::size_t>(j)]);
          });
          sum.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(sum.cols.size());
        }
        sum.n_cols = columns.size();
        return split_rows(A.cols(), RowBlock<T>{std::move(sum), A.on().n_cols, columns.ghosts()});
      }};
}

template <class T>
Array<T> diagonal(const DistMatrix<T>& A) {
  const Csr<T>& on = A.on();
  constexpr LocalIndex rows_ahead =
      16;  // two cache lines of each row are read, far from each other
  Array<T> d(size(on));
  parallel::for_rows(on.row_ptr, [&](LocalIndex begin, LocalIndex end) {
    LocalIndex place = 0;
    for (LocalIndex i = begin; i < end; ++i) {
      const Offset ahead = on.begin(std::min(i + rows_ahead, end)) + place;
      __builtin_prefetch(on.cols.data() + ahead);
      __builtin_prefetch(on.vals.data() + ahead);
      d[static_cast<std::size_t>(i)] = kernels::diagonal_entry(on, i, place);
    }
  });
  return d;
}

template <class To, class From>
DistMatrix<To> convert(const DistMatrix<From>& A) {
  return mpi::collectively(A.comm(), [&] { return A.template with_type<To>(); });
}

#define NODEWISE_INSTANTIATE(T)                                                                   \
  template void residual(const DistMatrix<T>&, std::span<const T>, std::span<const T>,            \
                         std::span<T>, int);                                                      \
  template void multiply_add(const DistMatrix<T>&, std::span<const T>, std::span<T>, int);        \
  template void multiply_transposed(const DistMatrix<T>&, std::span<const T>, std::span<T>, int); \
  template void multiply(const DistMatrix<T>&, std::span<const T>, std::span<T>);                 \
  template void multiply(const DistMatrix<T>&, std::span<const T>, std::span<T>, int);            \
  template void multiply_add(const DistMatrix<T>&, std::span<const T>, std::span<T>);             \
  template void residual(const DistMatrix<T>&, std::span<const T>, std::span<const T>,            \
                         std::span<T>);                                                           \
  template void multiply_transposed(const DistMatrix<T>&, std::span<const T>, std::span<T>);      \
  template DistMatrix<T> transpose(const DistMatrix<T>&);                                         \
  template DistMatrix<T> add(T, const DistMatrix<T>&, T, const DistMatrix<T>&);                   \
  template Array<T> diagonal(const DistMatrix<T>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE
template DistMatrix<float> convert(const DistMatrix<double>&);
template DistMatrix<double> convert(const DistMatrix<float>&);
template DistMatrix<double> convert(const DistMatrix<double>&);

}  // namespace nodewise::matrix
