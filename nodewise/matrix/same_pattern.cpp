#include "nodewise/matrix/same_pattern.hpp"

#include <algorithm>
#include <string>

#include "nodewise/base/row_text.hpp"
#include "nodewise/matrix/fit.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::matrix {

namespace {

template <class T>
bool same_places(const Csr<T>& a, const Csr<T>& b) {
  return a.row_ptr == b.row_ptr && a.cols == b.cols;
}

/// The global columns of row i, the owned ones first.
template <class T>
std::vector<GlobalIndex> columns_of_row(const DistMatrix<T>& A, LocalIndex i) {
  std::vector<GlobalIndex> columns;
  for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
    columns.push_back(A.cols().to_global(A.on().cols[static_cast<std::size_t>(k)]));
  }
  for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
    const LocalIndex g = A.off().cols[static_cast<std::size_t>(k)];
    columns.push_back(A.ghosts()[static_cast<std::size_t>(g)]);
  }
  return columns;
}

template <class T>
LocalIndex first_row_that_differs(const DistMatrix<T>& A, const DistMatrix<T>& B) {
  LocalIndex i = 0;
  while (i < A.n_local() && columns_of_row(A, i) == columns_of_row(B, i)) ++i;
  return i;
}

}  // namespace

template <class T>
void require_same_pattern(const DistMatrix<T>& before, const DistMatrix<T>& now, const char* what) {
  require_fit(before, now, before.rows() == now.rows() && before.cols() == now.cols(), what);
  mpi::collectively(before.comm(), [&] {
    if (&before.on() == &now.on()) return;  // one matrix
    if (same_places(before.on(), now.on()) && same_places(before.off(), now.off()) &&
        std::equal(before.ghosts().begin(), before.ghosts().end(), now.ghosts().begin(),
                   now.ghosts().end())) {
      return;
    }
    const GlobalIndex row = before.rows().to_global(first_row_that_differs(before, now));
    throw Error(ErrorCode::unsuitable_matrix,
                std::string(what) + ": " + row_text(row) +
                    ", does not have its entries in the same columns as before");
  });
}

template void require_same_pattern(const DistMatrix<float>&, const DistMatrix<float>&, const char*);
template void require_same_pattern(const DistMatrix<double>&, const DistMatrix<double>&,
                                   const char*);

}  // namespace nodewise::matrix
