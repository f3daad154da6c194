#include "nodewise/matrix/row_exchange.hpp"

#include <algorithm>

#include "nodewise/mpi/agree.hpp"

namespace nodewise::matrix {

template <class T>
std::vector<Offset> offsets_of_rows(const DistMatrix<T>& B, std::span<const LocalIndex> rows) {
  std::vector<Offset> offsets(static_cast<std::size_t>(B.n_local()) + 1, 0);
  for (const LocalIndex i : rows) {
    offsets[static_cast<std::size_t>(i) + 1] =
        B.on().end(i) - B.on().begin(i) + B.off().end(i) - B.off().begin(i);
  }
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  return offsets;
}

namespace {

/// Records of the rows some rank asks for; all others stay empty.
template <class T>
comm::Records<RowEntry<T>> exported_rows(const comm::Plan& plan, const DistMatrix<T>& B) {
  comm::Records<RowEntry<T>> rows;
  const std::vector<LocalIndex> exported = plan.exported_entries();
  rows.offsets = offsets_of_rows(B, exported);
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

/// Sorts a record by columns and adds up entries of the same; returns how many are left.
template <class T>
std::size_t combine_columns(std::span<RowEntry<T>> record) {
  const auto ascending = [](const RowEntry<T>& a, const RowEntry<T>& b) { return a.col < b.col; };
  // Stable, so that the order of the additions is fixed by the plan.
  std::stable_sort(record.begin(), record.end(), ascending);
  std::size_t out = 0;
  for (const RowEntry<T>& entry : record) {
    if (out > 0 && record[out - 1].col == entry.col) {
      record[out - 1].value += entry.value;
    } else {
      record[out++] = entry;
    }
  }
  return out;
}

}  // namespace

template <class T>
comm::Records<RowEntry<T>> fetch_records(comm::Exchange& exchange, const DistMatrix<T>& B) {
  return exchange.forward_records([&] { return exported_rows(exchange.plan(), B); });
}

template <class T>
FetchedRows<T> to_rows(const DistMatrix<T>& B, comm::Records<RowEntry<T>>& records) {
  FetchedRows<T> fetched{GhostNumbering(B.cols(), B.ghosts()), {}};
  fetched.rows = to_csr(records, fetched.columns);
  records = {};
  return fetched;
}

template <class T>
FetchedRows<T> fetch_rows(comm::Exchange& exchange, const DistMatrix<T>& B) {
  auto records = fetch_records(exchange, B);
  return mpi::collectively(exchange.comm(), [&] { return to_rows(B, records); });
}

template <class T>
kernels::ExtendedRows<T> extended_rows(const DistMatrix<T>& A, const FetchedRows<T>* fetched) {
  return {.on = &A.on(),
          .off = A.n_ghosts() > 0 ? &A.off() : nullptr,
          .ghost = fetched != nullptr ? &fetched->rows : nullptr,
          .off_shift = A.on().n_cols,
          .n_cols = fetched != nullptr ? fetched->columns.size() : A.on().n_cols + A.off().n_cols};
}

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

template <class T>
Csr<T> append_records(Csr<T> rows, const comm::Records<RowEntry<T>>& records,
                      GhostNumbering& columns) {
  if (records.data.empty()) return rows;
  Csr<T> all(rows.n_rows, 0);
  all.cols.reserve(rows.cols.size() + records.data.size());
  all.vals.reserve(rows.cols.size() + records.data.size());
  for (LocalIndex i = 0; i < rows.n_rows; ++i) {
    all.cols.append(rows.cols.begin() + rows.begin(i), rows.cols.begin() + rows.end(i));
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
comm::Records<RowEntry<T>> return_rows(comm::Exchange& exchange,
                                       const std::function<comm::Records<RowEntry<T>>()>& make) {
  return exchange.reverse_records(make, combine_columns<T>);
}

#define NODEWISE_INSTANTIATE(T)                                                                    \
  template std::vector<Offset> offsets_of_rows(const DistMatrix<T>&, std::span<const LocalIndex>); \
  template comm::Records<RowEntry<T>> fetch_records(comm::Exchange&, const DistMatrix<T>&);        \
  template FetchedRows<T> to_rows(const DistMatrix<T>&, comm::Records<RowEntry<T>>&);              \
  template FetchedRows<T> fetch_rows(comm::Exchange&, const DistMatrix<T>&);                       \
  template kernels::ExtendedRows<T> extended_rows(const DistMatrix<T>&, const FetchedRows<T>*);    \
  template comm::Records<RowEntry<T>> to_records(const Csr<T>&, const GhostNumbering&);            \
  template Csr<T> append_records(Csr<T>, const comm::Records<RowEntry<T>>&, GhostNumbering&);      \
  template Csr<T> to_csr(const comm::Records<RowEntry<T>>&, GhostNumbering&);                      \
  template comm::Records<RowEntry<T>> return_rows(                                                 \
      comm::Exchange&, const std::function<comm::Records<RowEntry<T>>()>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::matrix
