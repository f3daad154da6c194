#include "nodewise/amg/sparsify/minimal_pattern.hpp"

#include "nodewise/kernels/spgemm.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/matrix/row_exchange.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::sparsify {

namespace {

using kernels::Csr;
using matrix::DistMatrix;

/// The rows of A that the coarse points stand for, in the place of each point's first row.
template <class T>
Csr<T> injected_rows(const Coarsening<T>& c) {
  const auto n = static_cast<LocalIndex>(c.coarse_rows.size());
  Csr<T> rows(n, c.A.n_local() + c.A.n_ghosts());
  for (LocalIndex k = 0; k < n; ++k) {
    const LocalIndex first = c.coarse_rows[static_cast<std::size_t>(k)];
    const LocalIndex last = k % c.coarse_unknowns == 0 ? first + c.unknowns : first;
    for (LocalIndex i = first; i < last; ++i) {
      for_each_entry(c.A, i, [&](LocalIndex column, T value) {
        rows.cols.push_back(column);
        rows.vals.push_back(value);
      });
    }
    rows.row_ptr[static_cast<std::size_t>(k) + 1] = static_cast<Offset>(rows.cols.size());
  }
  return rows;
}

/// Collective. The rows where the coarse rows went.
template <class T>
PatternRows<T> moved_rows(PatternRows<T> pattern, const DistMatrix<T>& P, const comm::RowMove& move,
                          bool moves_columns, const std::optional<Error>& failure) {
  const DistMatrix<T> before(move.from(), P.cols(), [&] {
    if (failure) throw Error(*failure);
    return matrix::split_rows<T>(
        P.cols(), {std::move(pattern.rows), P.cols().n_local(), std::move(pattern.ghosts)});
  });
  const DistMatrix<T> after =
      moves_columns ? matrix::redistribute(before, move) : matrix::with_moved_rows(before, move);
  return mpi::collectively(after.comm(), [&] {
    PatternRows<T> moved{Csr<T>(after.n_local(), after.cols().n_local() + after.n_ghosts()),
                         {after.ghosts().begin(), after.ghosts().end()}};
    for (LocalIndex i = 0; i < after.n_local(); ++i) {
      for_each_entry(after, i, [&](LocalIndex column, T value) {
        moved.rows.cols.push_back(column);
        moved.rows.vals.push_back(value);
      });
      moved.rows.row_ptr[static_cast<std::size_t>(i) + 1] =
          static_cast<Offset>(moved.rows.cols.size());
    }
    return moved;
  });
}

}  // namespace

template <class T>
PatternRows<T> injected_product(const Coarsening<T>& c, std::optional<Error>& failure) {
  auto records = matrix::fetch_records(c.A.exchange(), c.P, failure);
  PatternRows<T> pattern;
  if (!failure) {
    failure = mpi::caught([&] {
      const matrix::FetchedRows<T> fetched = matrix::to_rows(c.P, records);
      const Csr<T> rows = injected_rows(c);
      pattern.rows = kernels::spgemm<T>({.on = &rows, .n_cols = rows.n_cols}, rows.n_rows,
                                        matrix::extended_rows(c.P, &fetched));
      pattern.ghosts = fetched.columns.ghosts();
    });
  }
  if (c.move == nullptr) return pattern;
  return moved_rows(std::move(pattern), c.P, *c.move, c.moves_columns, failure);
}

template PatternRows<float> injected_product(const Coarsening<float>&, std::optional<Error>&);
template PatternRows<double> injected_product(const Coarsening<double>&, std::optional<Error>&);

}  // namespace nodewise::amg::sparsify
