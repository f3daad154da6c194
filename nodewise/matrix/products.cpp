#include "nodewise/matrix/products.hpp"

#include <memory>
#include <optional>
#include <type_traits>

#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/spgemm.hpp"
#include "nodewise/matrix/fit.hpp"
#include "nodewise/matrix/galerkin_rows.hpp"
#include "nodewise/matrix/row_exchange.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::matrix {

template <class T>
DistMatrix<T> multiply(const DistMatrix<T>& A, const DistMatrix<T>& B) {
  require_fit(A, B, A.cols() == B.rows(), "product");
  std::optional<Error> failure;
  auto records = fetch_records(A.exchange(), B, failure);
  return {
      A.rows(), B.cols(), [&] {
        if (failure) throw Error(*failure);
        const FetchedRows<T> fetched = to_rows(B, records);
        Csr<T> rows = kernels::spgemm(extended_rows(A), A.n_local(), extended_rows(B, &fetched));
        return split_rows(
            B.cols(), RowBlock<T>{std::move(rows), B.cols().n_local(), fetched.columns.ghosts()});
      }};
}

namespace {

/// The right factor of a transposed product: B.
template <class T>
struct PlainFactor {
  const DistMatrix<T>& B;
  GhostNumbering columns;

  /// L^T times the factor.
  Csr<T> after_transposed(const Csr<T>& L) const {
    const Csr<T> rows = kernels::transpose(L);
    return kernels::spgemm({.on = &rows, .n_cols = rows.n_cols}, rows.n_rows, extended_rows(B));
  }
};

/// The right factor of the fused Galerkin product: A P, never made as a whole.
template <class T>
struct FusedFactor {
  const DistMatrix<T>& A;
  const DistMatrix<T>& P;
  std::shared_ptr<FetchedRows<T>> fetched;
  int coarse_unknowns;
  GhostNumbering& columns = fetched->columns;
  Array<LocalIndex> direct = direct_columns(P, extended_rows(P, fetched.get()), coarse_unknowns);

  Csr<T> after_transposed(const Csr<T>& L) const {
    return galerkin_rows(L, A, extended_rows(P, fetched.get()), coarse_unknowns, direct);
  }
};

/// Collective. A^T times a factor with columns laid out by `cols`, which `factor_of()` makes: local
/// work. What other ranks own is computed first, and the rest beside the messages, as A.exchange()
/// overlaps. `failure` is of what was done before.
template <class T, class FactorOf>
DistMatrix<T> sum_of_partial_results(const DistMatrix<T>& A, const Layout& cols,
                                     const FactorOf& factor_of,
                                     std::optional<Error> failure = std::nullopt) {
  std::unique_ptr<std::remove_reference_t<decltype(*factor_of())>> factor;
  const auto make = [&] {
    factor = factor_of();
    return to_records(factor->after_transposed(A.off()), factor->columns);
  };
  Csr<T> rows;
  const auto own_part = [&] { rows = factor->after_transposed(A.on()); };
  const auto arrived = return_rows<T>(A.exchange(), make, own_part, failure);
  return {A.cols(), cols, [&] {
            if (failure) throw Error(*failure);
            GhostNumbering& columns = factor->columns;
            rows = append_records(std::move(rows), arrived, columns);
            return split_rows(cols, RowBlock<T>{std::move(rows), cols.n_local(), columns.ghosts()});
          }};
}

}  // namespace

template <class T>
DistMatrix<T> multiply_transposed(const DistMatrix<T>& A, const DistMatrix<T>& B) {
  require_fit(A, B, A.rows() == B.rows(), "product with a transposed matrix");
  return sum_of_partial_results(A, B.cols(), [&] {
    return std::unique_ptr<PlainFactor<T>>(
        new PlainFactor<T>{B, GhostNumbering(B.cols(), B.ghosts())});
  });
}

template <class T>
DistMatrix<T> galerkin_product(const DistMatrix<T>& A, const DistMatrix<T>& P, GalerkinForm form,
                               int coarse_unknowns,
                               std::shared_ptr<const FetchedRows<T>>* fetched) {
  require_fit(A, P, A.cols() == P.rows() && A.rows() == P.rows(), "Galerkin product");
  std::optional<mpi::Scope> scope;
  scope.emplace(A.comm(), "AP");
  if (form == GalerkinForm::unfused) {
    const DistMatrix<T> AP = multiply(A, P);
    scope.emplace(A.comm(), "PtAP");
    return multiply_transposed(P, AP);
  }
  std::optional<Error> failure;
  auto records = fetch_records(A.exchange(), P, failure);
  scope.emplace(A.comm(), "PtAP");
  const auto factor = [&] {
    auto rows = std::make_shared<FetchedRows<T>>(to_rows(P, records));
    if (fetched != nullptr) *fetched = rows;
    return std::unique_ptr<FusedFactor<T>>(
        new FusedFactor<T>{A, P, std::move(rows), coarse_unknowns});
  };
  return sum_of_partial_results(P, P.cols(), factor, failure);
}

#define NODEWISE_INSTANTIATE(T)                                                           \
  template DistMatrix<T> multiply(const DistMatrix<T>&, const DistMatrix<T>&);            \
  template DistMatrix<T> multiply_transposed(const DistMatrix<T>&, const DistMatrix<T>&); \
  template DistMatrix<T> galerkin_product(const DistMatrix<T>&, const DistMatrix<T>&,     \
                                          GalerkinForm, int,                              \
                                          std::shared_ptr<const FetchedRows<T>>*);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::matrix
