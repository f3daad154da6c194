#include "nodewise/matrix/recompute.hpp"

#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/matrix/fit.hpp"
#include "nodewise/matrix/galerkin_rows.hpp"
#include "nodewise/matrix/same_pattern.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::matrix {

namespace {

/// A, if C can be the product.
template <class T>
const DistMatrix<T>& checked(const DistMatrix<T>& A, const DistMatrix<T>& C, bool fits) {
  require_fit(A, C, fits, "product on a known pattern");
  return A;
}

constexpr const char* changed = "product on a known pattern";

}  // namespace

template <class T>
Product<T>::Product(const DistMatrix<T>& A, const DistMatrix<T>& B, const DistMatrix<T>& C)
    : A_(checked(A, C, A.rows() == C.rows() && B.cols() == C.cols())),
      B_(checked(B, A, A.cols() == B.rows())),
      B_rows_(A.exchange(), B),
      C_(mpi::collectively(A.comm(), [&] {
        KnownResult<T> known(C, B_rows_.columns());
        known.require(kernels::has_places_for(known.known(), extended_rows(A),
                                              extended_rows(B, &B_rows_.rows())));
        return known;
      })) {}

template <class T>
DistMatrix<T> Product<T>::recompute(const DistMatrix<T>& A, const DistMatrix<T>& B) {
  require_same_pattern(A_, A, changed);
  require_same_pattern(B_, B, changed);
  A_ = A;
  B_ = B;
  B_rows_.update(B);
  Array<T> on, off;
  mpi::collectively(A.comm(), [&] {
    on.resize(C_.matrix().on().cols.size());
    off.resize(C_.matrix().off().cols.size());
    kernels::spgemm_values(extended_rows(A), extended_rows(B, &B_rows_.rows()), C_.known(),
                           on.data(), off.data());
  });
  return C_.with_values(std::move(on), std::move(off));
}

namespace {

/// L B, where B's columns are numbered together with others.
template <class T>
kernels::ExtendedRows<T> numbered_rows(const DistMatrix<T>& B, const GhostNumbering& columns) {
  kernels::ExtendedRows<T> rows = extended_rows(B);
  rows.n_cols = columns.size();
  return rows;
}

template <class T>
kernels::ExtendedRows<T> plain_rows(const Csr<T>& L) {
  return {.on = &L, .n_cols = L.n_cols};
}

template <class T>
Csr<T> transpose(const DistMatrix<T>& A, Part part) {
  return kernels::transpose(part == Part::on ? A.on() : A.off());
}

}  // namespace

template <class T>
TransposedProduct<T>::TransposedProduct(const DistMatrix<T>& A, const DistMatrix<T>& B,
                                        const DistMatrix<T>& C)
    : A_(checked(A, C, A.cols() == C.rows() && B.cols() == C.cols())),
      B_(checked(B, A, A.rows() == B.rows())),
      columns_(mpi::collectively(A.comm(), [&] { return GhostNumbering(B.cols(), B.ghosts()); })),
      sums_(
          A, C, columns_,
          [&](const kernels::KnownRows<T>& known) {
            const Csr<T> L = transpose(A, Part::on);
            return kernels::has_places_for(known, plain_rows(L), numbered_rows(B, columns_));
          },
          [&] {
            const Csr<T> L = transpose(A, Part::off);
            return kernels::spgemm(plain_rows(L), L.n_rows, numbered_rows(B, columns_));
          }) {}

template <class T>
DistMatrix<T> TransposedProduct<T>::recompute(const DistMatrix<T>& A, const DistMatrix<T>& B) {
  require_same_pattern(A_, A, changed);
  require_same_pattern(B_, B, changed);
  A_ = A;
  B_ = B;
  return sums_.recompute([&](Part part, const kernels::KnownRows<T>& known, T* on, T* off) {
    const Csr<T> L = transpose(A, part);
    kernels::spgemm_values(plain_rows(L), numbered_rows(B, columns_), known, on, off);
  });
}

template <class T>
GalerkinProduct<T>::GalerkinProduct(const DistMatrix<T>& A, const DistMatrix<T>& P,
                                    const DistMatrix<T>& C, int coarse_unknowns)
    : A_(checked(A, P, A.rows() == P.rows() && A.cols() == P.rows())),
      P_(checked(P, C, P.cols() == C.rows() && P.cols() == C.cols())),
      coarse_unknowns_(coarse_unknowns),
      P_rows_(A.exchange(), P),
      sums_(
          P, C, P_rows_.columns(),
          [&](const kernels::KnownRows<T>& known) {
            const Csr<T>& L = transposed(Part::on);
            const bool has_places = kernels::has_places_for(known, L, extended_rows(A), factor());
            if (block_rows_for(P.on(), A, factor(), coarse_unknowns)) on_transposed_.reset();
            return has_places;
          },
          [&] {
            direct_ = direct_columns(P_, factor(), coarse_unknowns);
            return galerkin_rows(P.off(), A, factor(), coarse_unknowns, direct_);
          }) {}

template <class T>
const Csr<T>& GalerkinProduct<T>::transposed(Part part) {
  std::optional<Csr<T>>& known = part == Part::on ? on_transposed_ : off_transposed_;
  if (!known) known = transpose(P_, part);
  return *known;
}

template <class T>
const kernels::TermPlaces& GalerkinProduct<T>::terms(Part part,
                                                     const kernels::KnownRows<T>& known) {
  std::optional<kernels::TermPlaces>& terms = part == Part::on ? on_terms_ : off_terms_;
  if (!terms) {
    terms.emplace();
    if (coarse_unknowns_ <= 1) {
      *terms =
          kernels::TermPlaces(transposed(part), extended_rows(A_), known, direct_, factor().n_cols);
    }
  }
  return *terms;
}

template <class T>
const kernels::ShortRows<T>& GalerkinProduct<T>::short_rows() {
  if (!short_rows_) {
    short_rows_.emplace();
    if (coarse_unknowns_ <= 1) *short_rows_ = kernels::ShortRows<T>(factor());
  }
  return *short_rows_;
}

template <class T>
DistMatrix<T> GalerkinProduct<T>::recompute(const DistMatrix<T>& A) {
  const mpi::Scope scope(A.comm(), "PtAP");
  require_same_pattern(A_, A, changed);
  A_ = A;
  return sums_.recompute([&](Part part, const kernels::KnownRows<T>& known, T* on, T* off) {
    const Csr<T>& L = part == Part::on ? P_.on() : P_.off();
    if (const auto blocks = block_rows_for(L, A, factor(), coarse_unknowns_)) {
      return galerkin_values(L, *blocks, factor(), coarse_unknowns_, known, on, off);
    }
    kernels::triple_product_values(transposed(part), extended_rows(A), factor(), known, on, off,
                                   coarse_unknowns_, {direct_, &terms(part, known), &short_rows()});
  });
}

template <class T>
DistMatrix<T> GalerkinProduct<T>::recompute(const DistMatrix<T>& A, const DistMatrix<T>& P) {
  {
    const mpi::Scope scope(A.comm(), "AP");
    require_same_pattern(P_, P, changed);
    require_same_pattern(A_, A, changed);
    P_ = P;
    on_transposed_.reset();
    off_transposed_.reset();
    short_rows_.reset();
    P_rows_.update(P);
    Array<LocalIndex> direct = direct_columns(P_, factor(), coarse_unknowns_);
    if (direct != direct_) {
      direct_ = std::move(direct);
      on_terms_.reset();
      off_terms_.reset();
    }
  }
  return recompute(A);
}

#define NODEWISE_INSTANTIATE(T)        \
  template class Product<T>;           \
  template class TransposedProduct<T>; \
  template class GalerkinProduct<T>;
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::matrix
