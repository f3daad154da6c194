#include "nodewise/matrix/row_exchange.hpp"

#include "nodewise/mpi/agree.hpp"

namespace nodewise::matrix {

namespace {

/// Records of the rows some rank asks for; all others stay empty.
template <class T>
comm::Records<RowEntry<T>> exported_rows(const comm::Plan& plan, const DistMatrix<T>& B) {
  comm::Records<RowEntry<T>> rows;
  rows.offsets.assign(static_cast<std::size_t>(plan.n_owned) + 1, 0);
  const std::vector<LocalIndex> exported = plan.exported_entries();
  for (const LocalIndex i : exported) {
    rows.offsets[static_cast<std::size_t>(i) + 1] =
        B.on().end(i) - B.on().begin(i) + B.off().end(i) - B.off().begin(i);
  }
  for (std::size_t i = 1; i < rows.offsets.size(); ++i) rows.offsets[i] += rows.offsets[i - 1];
  rows.data.reserve(static_cast<std::size_t>(rows.offsets.back()));
  for (const LocalIndex i : exported) {
    for (Offset k = B.on().begin(i); k < B.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      rows.data.push_back({B.cols().to_global(B.on().cols[p]), B.on().vals[p]});
    }
    for (Offset k = B.off().begin(i); k < B.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      rows.data.push_back({B.ghosts()[static_cast<std::size_t>(B.off().cols[p])], B.off().vals[p]});
    }
  }
  return rows;
}

}  // namespace

template <class T>
comm::Records<RowEntry<T>> fetch_rows(comm::Exchange& exchange, const DistMatrix<T>& B) {
  const auto rows =
      mpi::collectively(exchange.comm(), [&] { return exported_rows(exchange.plan(), B); });
  return exchange.forward_records(rows);
}

template <class T>
Csr<T> to_csr(const comm::Records<RowEntry<T>>& records, GhostNumbering& columns) {
  Csr<T> rows(narrow<LocalIndex>(records.size(), "rows:"), 0);
  rows.cols.resize(records.data.size());
  rows.vals.resize(records.data.size());
  std::copy(records.offsets.begin(), records.offsets.end(), rows.row_ptr.begin());
  for (std::size_t k = 0; k < records.data.size(); ++k) {
    rows.cols[k] = columns.number(records.data[k].col);
    rows.vals[k] = records.data[k].value;
  }
  rows.n_cols = columns.size();
  return rows;
}

template <class T>
RowProduct<T>::RowProduct(const DistMatrix<T>& A, const DistMatrix<T>& B)
    : A_(A), B_(B), columns_(B.cols(), B.ghosts()) {
  const auto fetched = fetch_rows(A.exchange(), B);
  mpi::collectively(A.comm(), [&] { ghost_rows_ = to_csr(fetched, columns_); });
}

template <class T>
kernels::ExtendedRows<T> RowProduct<T>::left() const {
  const bool has_ghosts = A_.n_ghosts() > 0;
  return {.on = &A_.on(),
          .off = has_ghosts ? &A_.off() : nullptr,
          .off_shift = A_.on().n_cols,
          .n_cols = A_.on().n_cols + A_.off().n_cols};
}

template <class T>
kernels::ExtendedRows<T> RowProduct<T>::right() const {
  const bool has_ghosts = B_.n_ghosts() > 0;
  return {.on = &B_.on(),
          .off = has_ghosts ? &B_.off() : nullptr,
          .ghost = &ghost_rows_,
          .off_shift = B_.on().n_cols,
          .n_cols = columns_.size()};
}

template <class T>
Csr<T> RowProduct<T>::rows() const {
  return kernels::spgemm(left(), A_.n_local(), right());
}

template <class T>
Csr<T> RowProduct<T>::rows_multiplied_by(const Csr<T>& L) const {
  return kernels::triple_product(L, left(), right());
}

#define NODEWISE_INSTANTIATE(T)                                                          \
  template comm::Records<RowEntry<T>> fetch_rows(comm::Exchange&, const DistMatrix<T>&); \
  template Csr<T> to_csr(const comm::Records<RowEntry<T>>&, GhostNumbering&);            \
  template class RowProduct<T>;
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::matrix
