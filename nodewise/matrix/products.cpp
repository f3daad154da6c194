#include "nodewise/matrix/products.hpp"

#include <optional>

#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/spgemm.hpp"
#include "nodewise/matrix/fit.hpp"
#include "nodewise/matrix/row_exchange.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::matrix {

template <class T>
DistMatrix<T> multiply(const DistMatrix<T>& A, const DistMatrix<T>& B) {
  require_fit(A, B, A.cols() == B.rows(), "product");
  const FetchedRows<T> fetched = fetch_rows(A.exchange(), B);
  return {
      A.rows(), B.cols(), mpi::collectively(A.comm(), [&] {
        Csr<T> rows = kernels::spgemm(extended_rows(A), A.n_local(), extended_rows(B, &fetched));
        return split_rows(
            B.cols(), RowBlock<T>{std::move(rows), B.cols().n_local(), fetched.columns.ghosts()});
      })};
}

namespace {

/// What all partial results have in common: `rows_of(L)` makes L times the other factor, for the
/// rows of L that belong to one part of A's columns.
template <class T, class RowsOf>
DistMatrix<T> sum_of_partial_results(const DistMatrix<T>& A, const Layout& cols,
                                     GhostNumbering& columns, const RowsOf& rows_of) {
  const auto outgoing = mpi::collectively(
      A.comm(), [&] { return to_records(rows_of(kernels::transpose(A.off())), columns); });
  const auto arrived = return_rows(A.exchange(), outgoing);
  return {A.cols(), cols, mpi::collectively(A.comm(), [&] {
            Csr<T> rows = rows_of(kernels::transpose(A.on()));
            rows = append_records(std::move(rows), arrived, columns);
            return split_rows(cols, RowBlock<T>{std::move(rows), cols.n_local(), columns.ghosts()});
          })};
}

}  // namespace

template <class T>
DistMatrix<T> multiply_transposed(const DistMatrix<T>& A, const DistMatrix<T>& B) {
  require_fit(A, B, A.rows() == B.rows(), "product with a transposed matrix");
  GhostNumbering columns =
      mpi::collectively(A.comm(), [&] { return GhostNumbering(B.cols(), B.ghosts()); });
  return sum_of_partial_results(A, B.cols(), columns, [&](const Csr<T>& L) {
    return kernels::spgemm({.on = &L, .n_cols = L.n_cols}, L.n_rows, extended_rows(B));
  });
}

template <class T>
DistMatrix<T> galerkin_product(const DistMatrix<T>& A, const DistMatrix<T>& P, GalerkinForm form) {
  require_fit(A, P, A.cols() == P.rows() && A.rows() == P.rows(), "Galerkin product");
  std::optional<mpi::Scope> scope;
  scope.emplace(A.comm(), "AP");
  if (form == GalerkinForm::unfused) {
    const DistMatrix<T> AP = multiply(A, P);
    scope.emplace(A.comm(), "PtAP");
    return multiply_transposed(P, AP);
  }
  FetchedRows<T> fetched = fetch_rows(A.exchange(), P);
  scope.emplace(A.comm(), "PtAP");
  return sum_of_partial_results(P, P.cols(), fetched.columns, [&](const Csr<T>& L) {
    return kernels::triple_product(L, extended_rows(A), extended_rows(P, &fetched));
  });
}

#define NODEWISE_INSTANTIATE(T)                                                           \
  template DistMatrix<T> multiply(const DistMatrix<T>&, const DistMatrix<T>&);            \
  template DistMatrix<T> multiply_transposed(const DistMatrix<T>&, const DistMatrix<T>&); \
  template DistMatrix<T> galerkin_product(const DistMatrix<T>&, const DistMatrix<T>&, GalerkinForm);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::matrix
