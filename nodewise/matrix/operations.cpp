#include "nodewise/matrix/operations.hpp"

#include <algorithm>
#include <cmath>

#include "nodewise/base/hash.hpp"
#include "nodewise/kernels/spmv.hpp"
#include "nodewise/matrix/row_exchange.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::matrix {

namespace {

template <class T>
void require_same_layouts(const DistMatrix<T>& A, const DistMatrix<T>& B, bool equal,
                          const char* what) {
  if (!equal) {
    throw Error(ErrorCode::dimension_mismatch,
                std::string(what) + ": a matrix of " + std::to_string(A.rows().n_global()) + " x " +
                    std::to_string(A.cols().n_global()) + " does not fit one of " +
                    std::to_string(B.rows().n_global()) + " x " +
                    std::to_string(B.cols().n_global()) + " (or their row ranges differ)");
  }
}

template <class T>
std::size_t size(const Csr<T>& A) {
  return static_cast<std::size_t>(A.n_rows);
}

}  // namespace

template <class T>
void multiply(const DistMatrix<T>& A, std::span<const T> x, std::span<T> y) {
  const std::span<T> ghosts = A.exchange().template ghost_buffer<T>();
  A.exchange().start(x, ghosts);
  kernels::spmv(A.on(), x, y);
  A.exchange().finish();
  kernels::spmv_add_rows(T{1}, A.off(), A.boundary_rows(), std::span<const T>(ghosts), y);
}

template <class T>
void multiply_add(const DistMatrix<T>& A, std::span<const T> x, std::span<T> y) {
  const std::span<T> ghosts = A.exchange().template ghost_buffer<T>();
  A.exchange().start(x, ghosts);
  kernels::spmv_add(A.on(), x, y);
  A.exchange().finish();
  kernels::spmv_add_rows(T{1}, A.off(), A.boundary_rows(), std::span<const T>(ghosts), y);
}

template <class T>
void residual(const DistMatrix<T>& A, std::span<const T> x, std::span<const T> b, std::span<T> r) {
  const std::span<T> ghosts = A.exchange().template ghost_buffer<T>();
  A.exchange().start(x, ghosts);
  kernels::residual(A.on(), x, b, r);
  A.exchange().finish();
  kernels::spmv_add_rows(T{-1}, A.off(), A.boundary_rows(), std::span<const T>(ghosts), r);
}

template <class T>
void multiply_transposed(const DistMatrix<T>& A, std::span<const T> x, std::span<T> y) {
  const std::span<T> ghosts = A.exchange().template ghost_buffer<T>();
  std::fill(ghosts.begin(), ghosts.end(), T{});
  kernels::spmv_transposed_add_rows(A.off(), A.boundary_rows(), x, ghosts);
  std::fill(y.begin(), y.end(), T{});
  kernels::spmv_transposed_add(A.on(), x, y);
  A.exchange().reverse_add(std::span<const T>(ghosts), y);
}

template <class T>
DistMatrix<T> transpose(const DistMatrix<T>& A) {
  const auto outgoing = mpi::collectively(A.comm(), [&] {
    const Csr<T> off = kernels::transpose(A.off());
    comm::Records<RowEntry<T>> records;
    records.offsets.assign(off.row_ptr.begin(), off.row_ptr.end());
    for (std::size_t k = 0; k < off.cols.size(); ++k) {
      records.data.push_back({A.rows().to_global(off.cols[k]), off.vals[k]});
    }
    return records;
  });
  const auto arrived = A.exchange().reverse_records(outgoing);
  return {A.cols(), A.rows(), mpi::collectively(A.comm(), [&] {
            GhostNumbering columns(A.rows());
            SplitRows<T> split;
            split.on = kernels::transpose(A.on());
            RowBlock<T> block{to_csr(arrived, columns), A.rows().n_local(), columns.ghosts()};
            SplitRows<T> others = split_rows(A.rows(), std::move(block));
            split.off = std::move(others.off);
            split.ghosts = std::move(others.ghosts);
            return split;
          })};
}

template <class T>
DistMatrix<T> add(T alpha, const DistMatrix<T>& A, T beta, const DistMatrix<T>& B) {
  require_same_layouts(A, B, A.rows() == B.rows() && A.cols() == B.cols(), "sum");
  return {
      A.rows(), A.cols(), mpi::collectively(A.comm(), [&] {
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
      })};
}

template <class T>
DistMatrix<T> multiply(const DistMatrix<T>& A, const DistMatrix<T>& B) {
  require_same_layouts(A, B, A.cols() == B.rows(), "product");
  const RowProduct<T> product(A, B);
  return {A.rows(), B.cols(), mpi::collectively(A.comm(), [&] {
            return split_rows(B.cols(), RowBlock<T>{product.rows(), B.cols().n_local(),
                                                    product.columns().ghosts()});
          })};
}

namespace {

/// Appends the rows of `rows` to those of `all`, which will have n_rows in the end.
template <class T>
void append_rows(Csr<T>& all, LocalIndex first_row, const Csr<T>& rows) {
  const auto begin = static_cast<Offset>(all.cols.size());
  const std::size_t needed = all.cols.size() + rows.cols.size();
  if (needed > all.cols.capacity()) {
    // Rows to come are expected to be like those there are.
    const double done = static_cast<double>(first_row + rows.n_rows) / all.n_rows;
    const auto expected = static_cast<std::size_t>(1.05 * static_cast<double>(needed) / done);
    all.cols.reserve(expected);
    all.vals.reserve(expected);
  }
  all.cols.insert(all.cols.end(), rows.cols.begin(), rows.cols.end());
  all.vals.insert(all.vals.end(), rows.vals.begin(), rows.vals.end());
  for (LocalIndex i = 0; i < rows.n_rows; ++i) {
    all.row_ptr[static_cast<std::size_t>(first_row + i) + 1] = begin + rows.end(i);
  }
}

/// The rows of P^T (A P) that belong to the owned (part = P.on()) or ghost (P.off()) columns of P.
/// A P is made for one block of coarse rows at a time, so that it never exists as a whole: on the
/// fine levels it would be as large as the result. Where the numbering is local few of its rows are
/// made twice.
template <class T>
class Restriction {
 public:
  Restriction(const Csr<T>& part, const RowProduct<T>& AP)
      : AP_(AP), transposed_(kernels::transpose(part)), place_(part.row_ptr.size() - 1, -1) {}

  Csr<T> run() {
    const LocalIndex n = transposed_.n_rows;
    Csr<T> result(n, AP_.columns().size());
    const LocalIndex block = std::max(min_block, n / max_blocks + 1);
    for (LocalIndex first = 0; first < n; first += block) {
      append_rows(result, first, product(first, std::min(n, first + block)));
    }
    return result;
  }

 private:
  static constexpr LocalIndex min_block = 8192;
  static constexpr LocalIndex max_blocks = 8;

  /// The fine rows that rows [first, last) of P^T touch, ascending, and their places in that list.
  std::vector<LocalIndex> place_fine_rows(LocalIndex first, LocalIndex last) {
    auto lowest = static_cast<LocalIndex>(place_.size());
    LocalIndex highest = -1;
    for (Offset k = transposed_.begin(first); k < transposed_.begin(last); ++k) {
      const LocalIndex fine = transposed_.cols[static_cast<std::size_t>(k)];
      place_[static_cast<std::size_t>(fine)] = 0;
      lowest = std::min(lowest, fine);
      highest = std::max(highest, fine);
    }
    std::vector<LocalIndex> fine_rows;
    for (LocalIndex fine = lowest; fine <= highest; ++fine) {
      LocalIndex& place = place_[static_cast<std::size_t>(fine)];
      if (place < 0) continue;
      place = static_cast<LocalIndex>(fine_rows.size());
      fine_rows.push_back(fine);
    }
    return fine_rows;
  }

  Csr<T> product(LocalIndex first, LocalIndex last) {
    const std::vector<LocalIndex> fine_rows = place_fine_rows(first, last);
    Csr<T> left(last - first, static_cast<LocalIndex>(fine_rows.size()));
    const Offset begin = transposed_.begin(first);
    for (LocalIndex i = first; i < last; ++i) {
      left.row_ptr[static_cast<std::size_t>(i - first) + 1] = transposed_.end(i) - begin;
    }
    left.cols.reserve(static_cast<std::size_t>(transposed_.begin(last) - begin));
    left.vals.reserve(left.cols.capacity());
    for (Offset k = begin; k < transposed_.begin(last); ++k) {
      const auto p = static_cast<std::size_t>(k);
      left.cols.push_back(place_[static_cast<std::size_t>(transposed_.cols[p])]);
      left.vals.push_back(transposed_.vals[p]);
    }
    for (const LocalIndex fine : fine_rows) place_[static_cast<std::size_t>(fine)] = -1;
    const Csr<T> rows = AP_.rows(fine_rows);
    return kernels::spgemm<T>({.on = &left, .n_cols = rows.n_rows}, left.n_rows,
                              {.on = &rows, .n_cols = rows.n_cols});
  }

  const RowProduct<T>& AP_;
  Csr<T> transposed_;
  std::vector<LocalIndex> place_;  // of a fine row among those of the current block, or -1
};

template <class T>
comm::Records<RowEntry<T>> to_records(const Csr<T>& rows, const GhostNumbering& columns) {
  comm::Records<RowEntry<T>> records;
  records.offsets.assign(rows.row_ptr.begin(), rows.row_ptr.end());
  records.data.reserve(rows.cols.size());
  for (std::size_t k = 0; k < rows.cols.size(); ++k) {
    records.data.push_back({columns.global(rows.cols[k]), rows.vals[k]});
  }
  return records;
}

/// Appends the records of the owned rows to `rows`.
template <class T>
Csr<T> append_records(const Csr<T>& rows, const comm::Records<RowEntry<T>>& records,
                      GhostNumbering& columns) {
  Csr<T> all(rows.n_rows, 0);
  all.cols.reserve(rows.cols.size() + records.data.size());
  all.vals.reserve(rows.cols.size() + records.data.size());
  for (LocalIndex i = 0; i < rows.n_rows; ++i) {
    all.cols.insert(all.cols.end(), rows.cols.begin() + rows.begin(i),
                    rows.cols.begin() + rows.end(i));
    all.vals.insert(all.vals.end(), rows.vals.begin() + rows.begin(i),
                    rows.vals.begin() + rows.end(i));
    for (const RowEntry<T>& entry : records[static_cast<std::size_t>(i)]) {
      all.cols.push_back(columns.number(entry.col));
      all.vals.push_back(entry.value);
    }
    all.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(all.cols.size());
  }
  all.n_cols = columns.size();
  return all;
}

}  // namespace

template <class T>
DistMatrix<T> galerkin_product(const DistMatrix<T>& A, const DistMatrix<T>& P) {
  require_same_layouts(A, P, A.cols() == P.rows() && A.rows() == P.rows(), "Galerkin product");
  RowProduct<T> AP(A, P);
  const auto outgoing = mpi::collectively(
      A.comm(), [&] { return to_records(Restriction<T>(P.off(), AP).run(), AP.columns()); });
  const auto arrived = P.exchange().reverse_records(outgoing);
  return {P.cols(), P.cols(), mpi::collectively(A.comm(), [&] {
            Csr<T> rows = Restriction<T>(P.on(), AP).run();
            if (!arrived.data.empty()) rows = append_records(rows, arrived, AP.columns());
            return split_rows(
                P.cols(), RowBlock<T>{std::move(rows), P.cols().n_local(), AP.columns().ghosts()});
          })};
}

template <class T>
std::vector<T> diagonal(const DistMatrix<T>& A) {
  const Csr<T>& on = A.on();
  std::vector<T> d(size(on), T{});
  Offset place = 0;  // within the row; tried first, since on a grid most rows have it in common
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const LocalIndex* row = on.cols.data() + on.begin(i);
    const Offset length = on.end(i) - on.begin(i);
    if (place >= length || row[place] != i) place = std::lower_bound(row, row + length, i) - row;
    if (place < length && row[place] == i) {
      d[static_cast<std::size_t>(i)] = on.vals[static_cast<std::size_t>(on.begin(i) + place)];
    }
  }
  return d;
}

namespace {

/// For one part of the matrix: adds A x and |A| |x| (interleaved) to `products`, and A^T x and
/// |A|^T |x| to `transposed`; x_row belongs to the rows, x_col to the columns.
template <class T>
void accumulate_both(const Csr<T>& A, std::span<const double> x_row, std::span<const double> x_col,
                     std::span<double> products, std::span<double> transposed) {
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    const auto u = static_cast<std::size_t>(i);
    for (Offset k = A.begin(i); k < A.end(i); ++k) {
      const auto j = static_cast<std::size_t>(A.cols[static_cast<std::size_t>(k)]);
      const auto a = static_cast<double>(A.vals[static_cast<std::size_t>(k)]);
      products[2 * u] += a * x_col[j];
      products[2 * u + 1] += std::abs(a * x_col[j]);
      transposed[2 * j] += a * x_row[u];
      transposed[2 * j + 1] += std::abs(a * x_row[u]);
    }
  }
}

}  // namespace

template <class T>
bool is_symmetric(const DistMatrix<T>& A) {
  if (!(A.rows() == A.cols())) return false;
  const std::size_t n = size(A.on());
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    // Away from zero, so that no column is overlooked.
    x[i] = 0.5 + hash_uniform(static_cast<std::uint64_t>(A.rows().begin()) + i, 17);
  }
  std::vector<double> x_ghosts(static_cast<std::size_t>(A.n_ghosts()));
  A.exchange().forward(std::span<const double>(x), std::span<double>(x_ghosts));
  std::vector<double> products(2 * n, 0.0);
  std::vector<double> transposed(2 * n, 0.0);
  std::vector<double> ghosts(2 * x_ghosts.size(), 0.0);
  accumulate_both<T>(A.on(), x, x, products, transposed);
  accumulate_both<T>(A.off(), x, x_ghosts, products, ghosts);
  A.exchange().reverse_add(std::span<const double>(ghosts), std::span<double>(transposed), 2);
  const double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-12;
  int symmetric = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double scale = products[2 * i + 1] + transposed[2 * i + 1];
    // Written so that NaN counts as not symmetric.
    if (!(std::abs(products[2 * i] - transposed[2 * i]) <= tolerance * scale)) symmetric = 0;
  }
  return mpi::min(A.comm(), symmetric) == 1;
}

template <class To, class From>
DistMatrix<To> convert(const DistMatrix<From>& A) {
  return {A.rows(), A.cols(), mpi::collectively(A.comm(), [&] {
            SplitRows<To> split;
            const auto cast = [](const Csr<From>& from, Csr<To>& to) {
              to = Csr<To>(from.n_rows, from.n_cols);
              to.row_ptr = from.row_ptr;
              to.cols = from.cols;
              to.vals.reserve(from.vals.size());
              for (const From value : from.vals) to.vals.push_back(static_cast<To>(value));
            };
            cast(A.on(), split.on);
            cast(A.off(), split.off);
            split.ghosts.assign(A.ghosts().begin(), A.ghosts().end());
            return split;
          })};
}

#define NODEWISE_INSTANTIATE(T)                                                              \
  template void multiply(const DistMatrix<T>&, std::span<const T>, std::span<T>);            \
  template void multiply_add(const DistMatrix<T>&, std::span<const T>, std::span<T>);        \
  template void residual(const DistMatrix<T>&, std::span<const T>, std::span<const T>,       \
                         std::span<T>);                                                      \
  template void multiply_transposed(const DistMatrix<T>&, std::span<const T>, std::span<T>); \
  template DistMatrix<T> transpose(const DistMatrix<T>&);                                    \
  template DistMatrix<T> add(T, const DistMatrix<T>&, T, const DistMatrix<T>&);              \
  template DistMatrix<T> multiply(const DistMatrix<T>&, const DistMatrix<T>&);               \
  template DistMatrix<T> galerkin_product(const DistMatrix<T>&, const DistMatrix<T>&);       \
  template std::vector<T> diagonal(const DistMatrix<T>&);                                    \
  template bool is_symmetric(const DistMatrix<T>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE
template DistMatrix<float> convert(const DistMatrix<double>&);
template DistMatrix<double> convert(const DistMatrix<float>&);
template DistMatrix<double> convert(const DistMatrix<double>&);

}  // namespace nodewise::matrix
