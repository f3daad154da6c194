#include "nodewise/amg/coarsen/unknowns.hpp"

#include <span>
#include <string>

#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg {

namespace {

using kernels::Csr;
using matrix::DistMatrix;

/// Whole rows, their off-process columns numbered behind the owned ones, of what is of one unknown.
template <class T>
matrix::RowBlock<T> rows_of_one_unknown(const DistMatrix<T>& A, const Unknowns& unknowns,
                                        const Unknowns& of_ghosts) {
  Array<Offset> row_ptr = {0};
  Array<LocalIndex> cols;
  Array<T> vals;
  const auto append = [&](const Csr<T>& part, LocalIndex i, const Unknowns& of_columns,
                          LocalIndex shift) {
    for (Offset k = part.begin(i); k < part.end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      const LocalIndex j = part.cols[p];
      if (of_columns[static_cast<std::size_t>(j)] != unknowns[static_cast<std::size_t>(i)])
        continue;
      cols.push_back(shift + j);
      vals.push_back(part.vals[p]);
    }
  };
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    append(A.on(), i, unknowns, 0);
    append(A.off(), i, of_ghosts, A.n_local());
    row_ptr.push_back(static_cast<Offset>(cols.size()));
  }
  matrix::RowBlock<T> block;
  block.rows = Csr<T>(A.n_local(), A.n_local() + A.n_ghosts());
  block.rows.row_ptr = std::move(row_ptr);
  block.rows.cols = std::move(cols);
  block.rows.vals = std::move(vals);
  block.n_owned_cols = A.n_local();
  block.ghosts.assign(A.ghosts().begin(), A.ghosts().end());
  return block;
}

}  // namespace

Unknowns interleaved_unknowns(const comm::Layout& rows, int n) {
  if (rows.n_global() % n != 0) {
    throw Error(ErrorCode::invalid_argument, "multigrid setup: " + std::to_string(rows.n_global()) +
                                                 " rows are not points of " + std::to_string(n) +
                                                 " unknowns each");
  }
  Unknowns unknowns;
  unknowns.reserve(static_cast<std::size_t>(rows.n_local()));
  for (GlobalIndex i = rows.begin(); i < rows.end(); ++i) {
    unknowns.push_back(static_cast<std::int32_t>((i - rows.first()) % n));
  }
  return unknowns;
}

template <class T>
DistMatrix<T> same_unknown_part(const DistMatrix<T>& A, const Unknowns& unknowns) {
  Unknowns of_ghosts =
      mpi::collectively(A.comm(), [&] { return Unknowns(static_cast<std::size_t>(A.n_ghosts())); });
  A.exchange().forward(std::span<const std::int32_t>(unknowns), std::span(of_ghosts));
  const DistMatrix<T> part(A.rows(), A.cols(), [&] {
    return matrix::split_rows(A.cols(), rows_of_one_unknown(A, unknowns, of_ghosts));
  });
  return part.with_route(A.route(), A.transport());
}

template DistMatrix<float> same_unknown_part(const DistMatrix<float>&, const Unknowns&);
template DistMatrix<double> same_unknown_part(const DistMatrix<double>&, const Unknowns&);

}  // namespace nodewise::amg
