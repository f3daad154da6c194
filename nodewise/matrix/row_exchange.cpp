#include "nodewise/matrix/row_exchange.hpp"

#include <algorithm>

#include "nodewise/mpi/agree.hpp"

namespace nodewise::matrix {

namespace {

/// Records of the rows some rank asks for. Entries are in the order that the
/// rows have here, the owned columns first.
template <class T>
comm::Records<RowWord<T>> exported_rows(std::span<const LocalIndex> exported,
                                        const DistMatrix<T>& B) {
  comm::Records<RowWord<T>> rows;
  Offset entries = 0;
  for (const LocalIndex i : exported) entries += B.row_length(i);
  rows.data.reserve(2 * static_cast<std::size_t>(entries));  // were there no runs
  RunWriter<T> writer(rows.data);
  const GlobalIndex first = B.cols().first();
  for (const LocalIndex i : exported) {
    for (Offset k = B.on().begin(i); k < B.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      writer.push(B.cols().to_global(B.on().cols[p]) - first, B.on().vals[p]);
    }
    for (Offset k = B.off().begin(i); k < B.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      writer.push(B.ghosts()[static_cast<std::size_t>(B.off().cols[p])] - first, B.off().vals[p]);
    }
    writer.end_row();
    rows.end_record();
  }
  return rows;
}

}  // namespace

template <class T>
comm::Records<RowWord<T>> fetch_records(comm::Exchange& exchange, const DistMatrix<T>& B,
                                        std::optional<Error>& failure) {
  return exchange.forward_records([&] { return exported_rows(exchange.exported_entries(), B); },
                                  failure);
}

template <class T>
FetchedRows<T> to_rows(const DistMatrix<T>& B, comm::Records<RowWord<T>>& records) {
  FetchedRows<T> fetched{GhostNumbering(B.cols(), B.ghosts()), {}};
  fetched.rows = to_csr(records, fetched.columns);
  records = {};
  return fetched;
}

template <class T>
FetchedRows<T> fetch_rows(comm::Exchange& exchange, const DistMatrix<T>& B) {
  std::optional<Error> failure;
  auto records = fetch_records(exchange, B, failure);
  return mpi::collectively(exchange.comm(), [&] {
    if (failure) throw Error(*failure);
    return to_rows(B, records);
  });
}

template <class T>
kernels::ExtendedRows<T> extended_rows(const DistMatrix<T>& A, const FetchedRows<T>* fetched) {
  return {.on = &A.on(),
          .off = A.n_ghosts() > 0 ? &A.off() : nullptr,
          .ghost = fetched != nullptr ? &fetched->rows : nullptr,
          .off_shift = A.on().n_cols,
          .n_cols = fetched != nullptr ? fetched->columns.size() : A.on().n_cols + A.off().n_cols};
}

// A row is sorted by local columns, which are not in the order of the global ones.
template <class T>
comm::Records<RowWord<T>> to_records(const Csr<T>& rows, const GhostNumbering& columns) {
  const auto ascending = [](const RowEntry<T>& a, const RowEntry<T>& b) { return a.col < b.col; };
  comm::Records<RowWord<T>> records;
  records.offsets.reserve(rows.row_ptr.size());
  records.data.reserve(2 * rows.cols.size());  // were there no runs
  RunWriter<T> writer(records.data);
  std::vector<RowEntry<T>> row;
  for (LocalIndex i = 0; i < rows.n_rows; ++i) {
    row.clear();
    for (Offset k = rows.begin(i); k < rows.end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      row.push_back({columns.global(rows.cols[p]) - columns.first(), rows.vals[p]});
    }
    if (!std::is_sorted(row.begin(), row.end(), ascending)) {
      std::stable_sort(row.begin(), row.end(), ascending);
    }
    for (const RowEntry<T>& entry : row) writer.push(entry.col, entry.value);
    writer.end_row();
    records.offsets.push_back(static_cast<Offset>(records.data.size()));
  }
  return records;
}

template <class T>
Csr<T> append_records(Csr<T> rows, const comm::Records<RowWord<T>>& records,
                      GhostNumbering& columns) {
  if (records.data.empty()) return rows;
  Csr<T> all(rows.n_rows, 0);
  const std::size_t n = rows.cols.size() + entries_of(std::span<const RowWord<T>>(records.data));
  all.cols.reserve(n);
  all.vals.reserve(n);
  for (LocalIndex i = 0; i < rows.n_rows; ++i) {
    all.cols.append(rows.cols.begin() + rows.begin(i), rows.cols.begin() + rows.end(i));
    all.vals.insert(all.vals.end(), rows.vals.begin() + rows.begin(i),
                    rows.vals.begin() + rows.end(i));
    for_each_entry_of_runs(records[static_cast<std::size_t>(i)], [&](GlobalIndex col, T value) {
      all.cols.push_back(columns.number(columns.first() + col));
      all.vals.push_back(value);
    });
    all.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(all.cols.size());
  }
  all.n_cols = columns.size();
  return all;
}

template <class T>
Csr<T> to_csr(const comm::Records<RowWord<T>>& records, GhostNumbering& columns) {
  Csr<T> rows(narrow<LocalIndex>(records.size(), "rows:"), 0);
  const std::size_t n = entries_of(std::span<const RowWord<T>>(records.data));
  rows.cols.resize(n);
  rows.vals.resize(n);
  std::size_t at = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    for_each_entry_of_runs(records[i], [&](GlobalIndex col, T value) {
      rows.cols[at] = columns.number(columns.first() + col);
      rows.vals[at++] = value;
    });
    rows.row_ptr[i + 1] = static_cast<Offset>(at);
  }
  rows.n_cols = columns.size();
  return rows;
}

template <class T>
comm::Records<RowWord<T>> return_rows(comm::Exchange& exchange,
                                      const std::function<comm::Records<RowWord<T>>()>& make,
                                      const std::function<void()>& work,
                                      std::optional<Error>& failure) {
  RunCombiner<T> combiner;
  const auto combine = [&combiner](std::span<RowWord<T>> row) { return combiner(row); };
  return exchange.reverse_records_beside(make, combine, failure, work);
}

#define NODEWISE_INSTANTIATE(T)                                                                 \
  template comm::Records<RowWord<T>> fetch_records(comm::Exchange&, const DistMatrix<T>&,       \
                                                   std::optional<Error>&);                      \
  template FetchedRows<T> to_rows(const DistMatrix<T>&, comm::Records<RowWord<T>>&);            \
  template FetchedRows<T> fetch_rows(comm::Exchange&, const DistMatrix<T>&);                    \
  template kernels::ExtendedRows<T> extended_rows(const DistMatrix<T>&, const FetchedRows<T>*); \
  template comm::Records<RowWord<T>> to_records(const Csr<T>&, const GhostNumbering&);          \
  template Csr<T> append_records(Csr<T>, const comm::Records<RowWord<T>>&, GhostNumbering&);    \
  template Csr<T> to_csr(const comm::Records<RowWord<T>>&, GhostNumbering&);                    \
  template comm::Records<RowWord<T>> return_rows(                                               \
      comm::Exchange&, const std::function<comm::Records<RowWord<T>>()>&,                       \
      const std::function<void()>&, std::optional<Error>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::matrix
