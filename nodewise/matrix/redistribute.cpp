#include "nodewise/matrix/redistribute.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "nodewise/matrix/ghost_numbering.hpp"
#include "nodewise/matrix/row_runs.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::matrix {

namespace {

void require_same(const Layout& of_move, const Layout& of_matrix, const char* what) {
  if (of_move == of_matrix) return;
  throw Error(ErrorCode::dimension_mismatch,
              std::string("redistribution: the move is not of the matrix's ") + what);
}

/// The global numbers of a rank's columns.
struct ColumnNumbers {
  std::vector<GlobalIndex> of_on, of_off;
};

template <class T>
ColumnNumbers global_columns(const DistMatrix<T>& A) {
  ColumnNumbers numbers;
  numbers.of_on.resize(static_cast<std::size_t>(A.cols().n_local()));
  std::iota(numbers.of_on.begin(), numbers.of_on.end(), A.cols().begin());
  numbers.of_off.assign(A.ghosts().begin(), A.ghosts().end());
  return numbers;
}

/// Collective where the numbers change: one exchange of A.
template <class T>
ColumnNumbers column_numbers(const DistMatrix<T>& A, const comm::RowMove* columns) {
  const bool change = columns != nullptr && !columns->keeps_numbers();
  ColumnNumbers numbers;
  mpi::collectively(A.comm(), [&] {
    numbers = global_columns(A);
    if (!change) return;
    for (LocalIndex i = 0; i < A.cols().n_local(); ++i) {
      numbers.of_on[static_cast<std::size_t>(i)] = columns->number(i);
    }
  });
  if (change) A.exchange().template forward<GlobalIndex>(numbers.of_on, numbers.of_off);
  return numbers;
}

/// Calls f(column, value) for the entries of local row i.
template <class T, class F>
void for_each_entry(const DistMatrix<T>& A, const ColumnNumbers& numbers, LocalIndex i,
                    const F& f) {
  const auto of_part = [&](const Csr<T>& part, const std::vector<GlobalIndex>& of_columns) {
    for (Offset k = part.begin(i); k < part.end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      f(of_columns[static_cast<std::size_t>(part.cols[p])], part.vals[p]);
    }
  };
  of_part(A.on(), numbers.of_on);
  of_part(A.off(), numbers.of_off);
}

template <class T>
comm::Records<RowWord<T>> leaving_rows(const DistMatrix<T>& A, const ColumnNumbers& numbers,
                                       std::span<const LocalIndex> exported, GlobalIndex first) {
  comm::Records<RowWord<T>> rows;
  RunWriter<T> writer(rows.data);
  for (const LocalIndex i : exported) {
    for_each_entry(A, numbers, i,
                   [&](GlobalIndex column, T value) { writer.push(column - first, value); });
    writer.end_row();
    rows.end_record();
  }
  return rows;
}

/// Rows in the making, one entry after another.
template <class T>
class RowCollector {
 public:
  explicit RowCollector(const Layout& cols) : numbering_(cols), n_owned_cols_(cols.n_local()) {}

  void push(GlobalIndex column, T value) {
    rows_.cols.push_back(numbering_.number(column));
    rows_.vals.push_back(value);
  }
  void end_row() { row_ptr_.push_back(static_cast<Offset>(rows_.cols.size())); }
  RowBlock<T> take() {
    rows_.n_rows = narrow<LocalIndex>(row_ptr_.size() - 1, "rows of a rank:");
    rows_.n_cols = numbering_.size();
    rows_.row_ptr.assign(row_ptr_.begin(), row_ptr_.end());
    return {std::move(rows_), n_owned_cols_, numbering_.ghosts()};
  }

 private:
  GhostNumbering numbering_;
  LocalIndex n_owned_cols_;
  Csr<T> rows_;
  std::vector<Offset> row_ptr_ = {0};
};

/// Local. The rows of this rank after the move.
template <class T>
RowBlock<T> moved_rows(const DistMatrix<T>& A, const ColumnNumbers& numbers,
                       const comm::RowMove& rows, const comm::Records<RowWord<T>>& arrived,
                       const Layout& cols) {
  RowCollector<T> collector(cols);
  rows.for_each_row(
      [&](LocalIndex, LocalIndex ghost) {
        for_each_entry_of_runs(
            arrived[static_cast<std::size_t>(ghost)],
            [&](GlobalIndex column, T value) { collector.push(cols.first() + column, value); });
        collector.end_row();
      },
      [&](LocalIndex, LocalIndex row) {
        for_each_entry(A, numbers, row,
                       [&](GlobalIndex column, T value) { collector.push(column, value); });
        collector.end_row();
      });
  return collector.take();
}

}  // namespace

template <class T>
DistMatrix<T> with_moved_columns(const DistMatrix<T>& A, const comm::RowMove& columns) {
  require_same(columns.from(), A.cols(), "columns");
  const mpi::Scope scope(A.comm(), "redistribution");
  const ColumnNumbers numbers = column_numbers(A, &columns);
  return DistMatrix<T>(A.rows(), columns.to(), [&] {
    RowCollector<T> collector(columns.to());
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      for_each_entry(A, numbers, i,
                     [&](GlobalIndex column, T value) { collector.push(column, value); });
      collector.end_row();
    }
    return split_rows(columns.to(), collector.take());
  });
}

namespace {

/// Collective. Without a move of the columns these stay.
template <class T>
DistMatrix<T> with_rows(const DistMatrix<T>& A, const comm::RowMove& rows,
                        const comm::RowMove* columns) {
  require_same(rows.from(), A.rows(), "rows");
  if (columns) require_same(columns->from(), A.cols(), "columns");
  const mpi::Scope scope(A.comm(), "redistribution");
  const Layout cols = columns ? columns->to() : A.cols();
  const ColumnNumbers numbers = column_numbers(A, columns);
  std::optional<Error> failure;
  const auto arrived = rows.exchange().forward_records(
      [&] { return leaving_rows(A, numbers, rows.exchange().exported_entries(), cols.first()); },
      failure);
  return DistMatrix<T>(rows.to(), cols, [&] {
    if (failure) throw Error(*failure);
    return split_rows(cols, moved_rows(A, numbers, rows, arrived, cols));
  });
}

}  // namespace

template <class T>
DistMatrix<T> redistribute(const DistMatrix<T>& A, const comm::RowMove& rows,
                           const comm::RowMove& columns) {
  return with_rows(A, rows, &columns);
}

template <class T>
DistMatrix<T> with_moved_rows(const DistMatrix<T>& A, const comm::RowMove& rows) {
  return with_rows<T>(A, rows, nullptr);
}

namespace {

/// Collective on the ranks of `rows`. The rows of A with their columns `times` over.
template <class T>
DistMatrix<T> with_rows_of(const DistMatrix<T>& A, const Layout& rows, const Layout& cols,
                           GlobalIndex times) {
  return DistMatrix<T>(rows, cols, [&] {
    const ColumnNumbers numbers = global_columns(A);
    const GlobalIndex shift = cols.first() - A.cols().first();
    RowCollector<T> collector(cols);
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      for (GlobalIndex k = 0; k < times; ++k) {
        for_each_entry(A, numbers, i, [&](GlobalIndex column, T value) {
          collector.push(column + shift + k * A.cols().n_global(), value);
        });
      }
      collector.end_row();
    }
    return split_rows(cols, collector.take());
  });
}

}  // namespace

template <class T>
DistMatrix<T> with_repeated_columns(const DistMatrix<T>& A, const Layout& cols) {
  const GlobalIndex n = A.cols().n_global();
  return with_rows_of(A, A.rows(), cols, n > 0 ? cols.n_global() / n : 0);
}

template <class T>
DistMatrix<T> on_other_ranks(const DistMatrix<T>& A, const Layout& rows, const Layout& cols) {
  return with_rows_of(A, rows, cols, 1);
}

#define NODEWISE_INSTANTIATE(T)                                                          \
  template DistMatrix<T> redistribute(const DistMatrix<T>&, const comm::RowMove&,        \
                                      const comm::RowMove&);                             \
  template DistMatrix<T> with_moved_columns(const DistMatrix<T>&, const comm::RowMove&); \
  template DistMatrix<T> with_moved_rows(const DistMatrix<T>&, const comm::RowMove&);    \
  template DistMatrix<T> with_repeated_columns(const DistMatrix<T>&, const Layout&);     \
  template DistMatrix<T> on_other_ranks(const DistMatrix<T>&, const Layout&, const Layout&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::matrix
