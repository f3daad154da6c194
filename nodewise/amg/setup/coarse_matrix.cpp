#include "nodewise/amg/setup/coarse_matrix.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "nodewise/amg/aggregate/tentative.hpp"
#include "nodewise/amg/restriction/coarse_filter.hpp"
#include "nodewise/amg/round_off.hpp"
#include "nodewise/amg/setup/level_choice.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg {

using matrix::DistMatrix;

namespace {

/// Below which fraction of a row's largest entry those of coarse matrices are lumped; 0: none.
double coarse_filter(const Options& options) {
  const AirOptions* air = air_options(options);
  return air != nullptr ? air->coarse_filter : 0;
}

template <class T>
DistMatrix<T> product(const DistMatrix<T>& A, const DistMatrix<T>* R, const DistMatrix<T>& P,
                      GridTransfer<T>& transfer, const Options& options) {
  transfer.fetched.reset();
  P.exchange().set_overlap(A.exchange().overlap());
  if (R == nullptr) {
    return matrix::galerkin_product(
        A, P, matrix::GalerkinForm::fused, transfer.coarse_unknowns,
        options.sparsification->drops_entries ? &transfer.fetched : nullptr);
  }
  const double filter = coarse_filter(options);
  const DistMatrix<T> product = matrix::multiply(*R, matrix::multiply(A, P));
  return filter == 0 ? product : restriction::without_small_entries(product, filter);
}

/// Local. What fails on this rank alone is left in `failure`.
template <class T>
void drop_round_off(DistMatrix<T>& C, const DistMatrix<T>& A, GridTransfer<T>& transfer,
                    const Options& options, std::optional<Error>& failure) {
  if (failure) return;
  const int unknowns = std::max(1, transfer.coarse_unknowns);
  failure = mpi::caught([&] {
    C = without_round_off(C, A, transfer.R.get(), *transfer.P, unknowns);
    if (may_solve_directly(C.rows().n_global(), options)) {
      transfer.coarse_sizes = summand_sizes(A, transfer.R.get(), *transfer.P);
    }
  });
}

/// A coarse matrix as a cycle can use it: aggregates may have fewer rows than vectors.
template <class T>
DistMatrix<T> without_zero_rows(const DistMatrix<T>& A, const GridTransfer<T>& transfer) {
  if (transfer.coarse_unknowns == 0) return A;
  return aggregate::with_unit_rows(A, transfer.coarse_unknowns, transfer.empty_columns);
}

/// Collective. R A P for other values of A.
template <class T>
DistMatrix<T> restricted_again(Level<T>& level, const Patterns<T>& before, const DistMatrix<T>& A,
                               const Options& options) {
  const GridTransfer<T>& transfer = level.transfer;
  const bool is_product = coarse_filter(options) == 0;
  auto& product = level.restricted_product;
  if (!product) {
    const auto plan = [&](const DistMatrix<T>& C) {
      return std::make_unique<matrix::RestrictedProduct<T>>(before.A, *transfer.R, *transfer.P, C);
    };
    product =
        plan(is_product ? before.next
                        : matrix::multiply(*transfer.R, matrix::multiply(before.A, *transfer.P)));
  }
  const DistMatrix<T> C = product->recompute(A);
  return is_product ? without_zero_rows(C, transfer) : restriction::filtered_alike(C, before.next);
}

/// Collective. P^T A P for other values of A.
template <class T>
DistMatrix<T> galerkin_again(Level<T>& level, const Patterns<T>& before, const DistMatrix<T>& A) {
  const GridTransfer<T>& transfer = level.transfer;
  if (!level.product) {
    level.product = std::make_unique<matrix::GalerkinProduct<T>>(before.A, *transfer.P, before.next,
                                                                 transfer.coarse_unknowns);
  }
  return without_zero_rows(level.product->recompute(A), transfer);
}

}  // namespace

template <class T>
MatrixPointer<T> coarse_matrix(const DistMatrix<T>& A, const DistMatrix<T>* R,
                               const DistMatrix<T>& P, GridTransfer<T>& transfer,
                               const Options& options) {
  DistMatrix<T> C = without_zero_rows(product(A, R, P, transfer, options), transfer);
  drop_round_off(C, A, transfer, options, transfer.failure);
  return std::make_shared<const DistMatrix<T>>(std::move(C));
}

template <class T>
MatrixPointer<T> coarse_matrix_again(Level<T>& level, const Patterns<T>& before,
                                     const DistMatrix<T>& A, const Options& options,
                                     std::optional<Error>& failure) {
  GridTransfer<T>& transfer = level.transfer;
  DistMatrix<T> C =
      transfer.R ? restricted_again(level, before, A, options) : galerkin_again(level, before, A);
  drop_round_off(C, A, transfer, options, failure);
  return std::make_shared<const DistMatrix<T>>(std::move(C));
}

#define NODEWISE_INSTANTIATE(T)                                                                    \
  template MatrixPointer<T> coarse_matrix(const DistMatrix<T>&, const DistMatrix<T>*,              \
                                          const DistMatrix<T>&, GridTransfer<T>&, const Options&); \
  template MatrixPointer<T> coarse_matrix_again(                                                   \
      Level<T>&, const Patterns<T>&, const DistMatrix<T>&, const Options&, std::optional<Error>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg
