#include "nodewise/matrix/submatrix.hpp"

#include <utility>
#include <vector>

namespace nodewise::matrix {

namespace {

constexpr GlobalIndex not_chosen = -1;

/// The numbers that columns have in the part: of a rank's own, and of its ghosts.
using PartNumbers = std::pair<std::vector<GlobalIndex>, std::vector<GlobalIndex>>;

/// Collective. One exchange of A.
template <class T>
PartNumbers numbers_in_part(const DistMatrix<T>& A, const comm::Subset& cols) {
  PartNumbers numbers;
  mpi::collectively(A.comm(), [&] {
    numbers.first.assign(static_cast<std::size_t>(A.cols().n_local()), not_chosen);
    numbers.second.assign(A.ghosts().size(), not_chosen);
  });
  GlobalIndex next = cols.layout().begin();
  for (const LocalIndex i : cols.indices()) numbers.first[static_cast<std::size_t>(i)] = next++;
  A.exchange().template forward<GlobalIndex>(numbers.first, numbers.second);
  return numbers;
}

/// Appends the entries of row i whose columns are chosen: this rank's, then ghosts, by their
/// position in A.
template <class T>
void append_row(const DistMatrix<T>& A, LocalIndex i, const PartNumbers& numbers,
                const Layout& cols, Csr<T>& rows) {
  const auto append = [&](const Csr<T>& part, const std::vector<GlobalIndex>& of, auto&& number) {
    for (Offset e = part.begin(i); e < part.end(i); ++e) {
      const auto p = static_cast<std::size_t>(e);
      const LocalIndex col = part.cols[p];
      if (of[static_cast<std::size_t>(col)] == not_chosen) continue;
      rows.cols.push_back(number(col));
      rows.vals.push_back(part.vals[p]);
    }
  };
  append(A.on(), numbers.first, [&](LocalIndex col) {
    return cols.to_local(numbers.first[static_cast<std::size_t>(col)]);
  });
  append(A.off(), numbers.second, [&](LocalIndex col) { return cols.n_local() + col; });
}

template <class T>
SplitRows<T> rows_of_part(const DistMatrix<T>& A, const comm::Subset& rows, const Layout& cols,
                          PartNumbers numbers) {
  RowBlock<T> block;
  block.n_owned_cols = cols.n_local();
  block.rows.n_rows = rows.layout().n_local();
  block.rows.n_cols = cols.n_local() + A.n_ghosts();
  std::vector<Offset> row_ptr = {0};
  for (const LocalIndex i : rows.indices()) {
    append_row(A, i, numbers, cols, block.rows);
    row_ptr.push_back(static_cast<Offset>(block.rows.cols.size()));
  }
  block.rows.row_ptr.assign(row_ptr.begin(), row_ptr.end());
  block.ghosts = std::move(numbers.second);  // those that are not chosen do not occur
  return split_rows(cols, std::move(block));
}

}  // namespace

template <class T>
DistMatrix<T> submatrix(const DistMatrix<T>& A, const comm::Subset& rows,
                        const comm::Subset& cols) {
  PartNumbers numbers = numbers_in_part(A, cols);
  return DistMatrix<T>(rows.layout(), cols.layout(),
                       [&] { return rows_of_part(A, rows, cols.layout(), std::move(numbers)); });
}

template DistMatrix<float> submatrix(const DistMatrix<float>&, const comm::Subset&,
                                     const comm::Subset&);
template DistMatrix<double> submatrix(const DistMatrix<double>&, const comm::Subset&,
                                      const comm::Subset&);

}  // namespace nodewise::matrix
