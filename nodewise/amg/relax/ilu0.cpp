#include "nodewise/amg/relax/ilu0.hpp"

#include <algorithm>
#include <cmath>

#include "nodewise/amg/relax/smoother_method.hpp"
#include "nodewise/amg/relax/sweep_work.hpp"
#include "nodewise/matrix/operations.hpp"

namespace nodewise::amg::relax {

namespace {

/// A pivot is not smaller than this share of the moduli of its row of A.
constexpr double smallest_pivot = 1e-4;
constexpr Offset none = -1;

/// The sum of the moduli of row i.
template <class T>
T absolute_sum(const kernels::Csr<T>& A, LocalIndex i) {
  T sum{};
  for (Offset k = A.begin(i); k < A.end(i); ++k) {
    sum += std::abs(A.vals[static_cast<std::size_t>(k)]);
  }
  return sum;
}

}  // namespace

template <class T>
Ilu0<T>::Ilu0(const matrix::DistMatrix<T>& A)
    : Relaxation<T>(A),
      below_(A.on(), Triangle::lower),
      above_(A.on(), Triangle::upper),
      vals_(A.on().vals.begin(), A.on().vals.end()),
      upper_(static_cast<std::size_t>(A.n_local())),
      inverse_(upper_.size()),
      scratch_(upper_.size()) {
  factorise();
}

template <class T>
T Ilu0<T>::pivot_of(LocalIndex i, T value) const {
  const T least = static_cast<T>(smallest_pivot) * absolute_sum(A_.on(), i);
  return std::abs(value) < least ? std::copysign(least, value) : value;
}

/// Subtracts factor times the upper part of row k from the row whose entries' places are known by
/// column.
template <class T>
void Ilu0<T>::eliminate(LocalIndex k, T factor, std::span<const Offset> place) {
  const auto& on = A_.on();
  for (Offset q = upper_[static_cast<std::size_t>(k)]; q < on.end(k); ++q) {
    const auto at = static_cast<std::size_t>(q);
    const Offset p = place[static_cast<std::size_t>(on.cols[at])];
    if (p != none) vals_[static_cast<std::size_t>(p)] -= factor * vals_[at];
  }
}

/// Row by row (the IKJ form): a row is reduced by those rows above it that it has entries for.
template <class T>
void Ilu0<T>::factorise() {
  const std::vector<Offset> nowhere(static_cast<std::size_t>(A_.on().n_cols), none);
  const std::size_t n_places =
      below_.n_levels() > 0 ? static_cast<std::size_t>(parallel::threads()) : 1;
  std::vector<std::vector<Offset>> places(n_places, nowhere);
  below_.for_each(
      [&](LocalIndex i, int part) { factorise_row(i, places[static_cast<std::size_t>(part)]); });
}

/// `place` is room for the places of the row's entries by column, and left as it was.
template <class T>
void Ilu0<T>::factorise_row(LocalIndex i, std::span<Offset> place) {
  const auto& on = A_.on();
  const auto u = static_cast<std::size_t>(i);
  for (Offset p = on.begin(i); p < on.end(i); ++p) {
    place[static_cast<std::size_t>(on.cols[static_cast<std::size_t>(p)])] = p;
  }
  Offset p = on.begin(i);
  for (; p < on.end(i) && on.cols[static_cast<std::size_t>(p)] < i; ++p) {
    const LocalIndex k = on.cols[static_cast<std::size_t>(p)];
    T& factor = vals_[static_cast<std::size_t>(p)];
    factor *= inverse_[static_cast<std::size_t>(k)];
    if (factor != T{}) eliminate(k, factor, place);
  }
  const bool there = p < on.end(i) && on.cols[static_cast<std::size_t>(p)] == i;
  upper_[u] = there ? p + 1 : p;
  if (there && on.vals[static_cast<std::size_t>(p)] != T{}) {
    inverse_[u] = T{1} / pivot_of(i, vals_[static_cast<std::size_t>(p)]);
  }
  for (Offset q = on.begin(i); q < on.end(i); ++q) {
    place[static_cast<std::size_t>(on.cols[static_cast<std::size_t>(q)])] = none;
  }
}

template <class T>
std::size_t Ilu0<T>::memory_bytes() const {
  return (vals_.size() + inverse_.size() + scratch_.size()) * sizeof(T) +
         upper_.size() * sizeof(Offset) + below_.memory_bytes() + above_.memory_bytes();
}

template <class T>
void Ilu0<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  const auto& on = A_.on();
  const auto dot = [&](Offset begin, Offset end) {
    T sum{};
    for (auto p = static_cast<std::size_t>(begin); p < static_cast<std::size_t>(end); ++p) {
      sum += vals_[p] * x[static_cast<std::size_t>(on.cols[p])];
    }
    return sum;
  };
  below_.for_each([&](LocalIndex i, int) {
    const auto u = static_cast<std::size_t>(i);
    const T right = b[u];
    x[u] = T{};  // the diagonal, if it is there, is not part of L
    x[u] = right - dot(on.begin(i), upper_[u]);
  });
  above_.for_each([&](LocalIndex i, int) {
    const auto u = static_cast<std::size_t>(i);
    x[u] = (x[u] - dot(upper_[u], on.end(i))) * inverse_[u];
  });
}

template <class T>
void Ilu0<T>::sweep(Direction, std::span<const T> b, std::span<T> x) const {
  std::vector<T>& r = scratch_;
  matrix::residual(A_, std::span<const T>(x), b, std::span<T>(r));
  // In place: each entry of the residual is read before it is overwritten.
  first_sweep(r, r);
  parallel::for_range(x.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) x[i] += r[i];
  });
}

template class Ilu0<float>;
template class Ilu0<double>;

namespace {

template <class T>
std::unique_ptr<const Relaxation<T>> make_ilu0(const matrix::DistMatrix<T>& A,
                                               const Choice<SmootherMethod>&, const MatrixFacts&) {
  return std::make_unique<Ilu0<T>>(A);
}

/// The residual and the factors.
SweepExchanges ilu0_exchanges(const Choice<SmootherMethod>&) {
  return {1, 0, 2};
}

}  // namespace

const SmootherMethod& ilu0_method() {
  static const SmootherMethod method = {
      {"ilu0", "incomplete factorisation of the rows of each rank", "Saad 2003, algorithm 10.4"},
      {
          .l1_terms = L1Terms::none,
          .is_safe_where_indefinite = false,
          .blocks = BlockUse::never,
          .needs_spectral_radius = false,
          .is_hybrid = false,
          .safe_form = "",
          .order = nullptr,
          .exchanges = ilu0_exchanges,
          .work = ilu0_work,
          .in_double = make_ilu0<double>,
          .in_float = make_ilu0<float>,
      }};
  return method;
}

}  // namespace nodewise::amg::relax
