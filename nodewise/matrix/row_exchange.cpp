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
Csr<T> multiply_rows(const DistMatrix<T>& A, const DistMatrix<T>& B, GhostNumbering& columns) {
  const auto fetched = fetch_rows(A.exchange(), B);
  return mpi::collectively(A.comm(), [&] {
    const Csr<T> ghost_rows = to_csr(fetched, columns);
    const kernels::ExtendedRows<T> left{.on = &A.on(),
                                        .off = &A.off(),
                                        .ghost = nullptr,
                                        .off_shift = A.on().n_cols,
                                        .n_cols = A.on().n_cols + A.off().n_cols};
    const kernels::ExtendedRows<T> right{.on = &B.on(),
                                         .off = &B.off(),
                                         .ghost = &ghost_rows,
                                         .off_shift = B.on().n_cols,
                                         .n_cols = columns.size()};
    return kernels::spgemm(left, A.n_local(), right);
  });
}

#define NODEWISE_INSTANTIATE(T)                                                          \
  template comm::Records<RowEntry<T>> fetch_rows(comm::Exchange&, const DistMatrix<T>&); \
  template Csr<T> to_csr(const comm::Records<RowEntry<T>>&, GhostNumbering&);            \
  template Csr<T> multiply_rows(const DistMatrix<T>&, const DistMatrix<T>&, GhostNumbering&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::matrix
