#include "nodewise/device/csr_matrix.hpp"

#include <span>

#include "nodewise/device/atomics.hpp"
#include "nodewise/device/launch.hpp"

namespace nodewise::device {

namespace {

template <class T>
struct CountColumns {
  CsrView<T> A;
  LocalIndex* counts;
  NODEWISE_KERNEL void operator()(std::int64_t k) const { add_to(counts + A.col(k), 1); }
};

struct Number {
  Offset* to;
  NODEWISE_KERNEL void operator()(std::int64_t k) const { to[k] = k; }
};

/// Of each entry its row.
template <class T>
struct NameRows {
  CsrView<T> A;
  LocalIndex* rows;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    for (Offset k = A.begin(i); k < A.end(i); ++k) rows[k] = static_cast<LocalIndex>(i);
  }
};

template <class T>
struct TakeEntries {
  const Offset* from;
  const LocalIndex* rows;
  const T* vals;
  LocalIndex* new_cols;
  T* new_vals;
  NODEWISE_KERNEL void operator()(std::int64_t k) const {
    const Offset at = load(from + k);
    new_cols[k] = load(rows + at);
    new_vals[k] = load(vals + at);
  }
};

template <class T>
struct MultiplyRows {
  CsrView<T> A;
  const T* x;
  T* y;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    T sum = 0;
    const Offset end = A.end(i);
    for (Offset k = A.begin(i); k < end; ++k) sum += A.val(k) * load(x + A.col(k));
    y[i] = sum;
  }
};

}  // namespace

template <class T, class Space>
CsrMatrix<T, Space> upload(Queue<Space>& queue, const kernels::Csr<T>& A) {
  CsrMatrix<T, Space> M;
  M.n_rows = A.n_rows;
  M.n_cols = A.n_cols;
  M.nnz = A.nnz();
  const auto rows = static_cast<std::size_t>(A.n_rows) + 1;
  M.begins = Buffer<Offset, Space>(queue, std::span<const Offset>(A.row_ptr.data(), rows));
  const auto n = static_cast<std::size_t>(M.nnz);
  M.cols = Buffer<LocalIndex, Space>(queue, std::span<const LocalIndex>(A.cols.data(), n));
  M.vals = Buffer<T, Space>(queue, std::span<const T>(A.vals.data(), n));
  return M;
}

template <class T, class Space>
kernels::Csr<T> download(Queue<Space>& queue, const CsrMatrix<T, Space>& A) {
  kernels::Csr<T> M(A.n_rows, A.n_cols);
  const auto n = static_cast<std::size_t>(A.nnz);
  M.cols.resize(n);
  M.vals.resize(n);
  A.begins.get(queue, std::span<Offset>(M.row_ptr.data(), static_cast<std::size_t>(A.n_rows) + 1));
  A.cols.get(queue, std::span<LocalIndex>(M.cols.data(), n));
  A.vals.get(queue, std::span<T>(M.vals.data(), n));
  return M;
}

template <class T, class Space>
CsrMatrix<T, Space> transpose(Primitives<Space>& primitives, const CsrMatrix<T, Space>& A,
                              Buffer<Offset, Space>* from) {
  Queue<Space>& queue = primitives.queue();
  const auto n = static_cast<std::size_t>(A.nnz);
  Buffer<Offset, Space> begins(static_cast<std::size_t>(A.n_cols) + 1);
  {
    Buffer<LocalIndex, Space> counts(static_cast<std::size_t>(A.n_cols));
    queue.clear(counts.data(), counts.bytes());
    launch(queue, A.nnz, CountColumns<T>{A.view(), counts.data()});
    primitives.scan(A.n_cols, counts.data(), begins.data());
  }
  CsrMatrix<T, Space> M(A.n_cols, A.n_rows, std::move(begins), A.nnz);
  Buffer<Offset, Space> places(n);
  {
    Buffer<Offset, Space> numbers(n);
    Buffer<LocalIndex, Space> sorted(n);
    launch(queue, A.nnz, Number{numbers.data()});
    primitives.sort_pairs(A.nnz, bits_of(static_cast<std::uint64_t>(A.n_cols)), A.cols.data(),
                          numbers.data(), sorted.data(), places.data());
  }
  Buffer<LocalIndex, Space> rows(n);
  launch(queue, A.n_rows, NameRows<T>{A.view(), rows.data()});
  launch(queue, A.nnz,
         TakeEntries<T>{places.data(), rows.data(), A.vals.data(), M.cols.data(), M.vals.data()});
  if (from != nullptr) *from = std::move(places);
  return M;
}

template <class T, class Space>
void multiply(Queue<Space>& queue, const CsrMatrix<T, Space>& A, const T* x, T* y) {
  launch(queue, A.n_rows, MultiplyRows<T>{A.view(), x, y});
}

#define NODEWISE_FOR_TYPE(T)                                                                      \
  template CsrMatrix<T, Compiled> upload(Queue<Compiled>&, const kernels::Csr<T>&);               \
  template kernels::Csr<T> download(Queue<Compiled>&, const CsrMatrix<T, Compiled>&);             \
  template CsrMatrix<T, Compiled> transpose(Primitives<Compiled>&, const CsrMatrix<T, Compiled>&, \
                                            Buffer<Offset, Compiled>*);                           \
  template void multiply(Queue<Compiled>&, const CsrMatrix<T, Compiled>&, const T*, T*);
NODEWISE_FOR_TYPE(double)
#undef NODEWISE_FOR_TYPE

}  // namespace nodewise::device
