#include "nodewise/amg/round_off.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/kernels/csr_ops.hpp"

namespace nodewise::amg {

namespace {

using matrix::DistMatrix;

/// The first rows of the isolated points, ascending.
template <class T>
std::vector<LocalIndex> isolated_points(const DistMatrix<T>& C, LocalIndex unknowns) {
  std::vector<LocalIndex> points;
  const auto is_isolated = [&](LocalIndex first, LocalIndex i) {
    const auto begin = C.on().cols.begin() + C.on().begin(i);
    return C.off().length(i) == 0 && C.on().length(i) <= unknowns &&
           std::all_of(begin, begin + C.on().length(i),
                       [&](LocalIndex j) { return j >= first && j < first + unknowns; });
  };
  for (LocalIndex first = 0; first < C.n_local(); first += unknowns) {
    bool all = true;
    for (LocalIndex i = first; all && i < first + unknowns; ++i) all = is_isolated(first, i);
    if (all) points.push_back(first);
  }
  return points;
}

/// Calls f(i, p_ki^2 |a_kk|) for each entry of P in a column i of this rank.
template <class T, class F>
void for_each_summand(const DistMatrix<T>& A, const DistMatrix<T>& P, F&& f) {
  LocalIndex guess = 0;
  for (LocalIndex k = 0; k < P.n_local(); ++k) {
    const T a = std::abs(kernels::diagonal_entry(A.on(), k, guess));
    for (Offset q = P.on().begin(k); q < P.on().end(k); ++q) {
      const T p = P.on().vals[static_cast<std::size_t>(q)];
      f(P.on().cols[static_cast<std::size_t>(q)], p * a * p);
    }
  }
}

/// sum_k r_ik^2 |a_kk| over this rank's columns k.
template <class T>
T sum_of_row(const DistMatrix<T>& A, const DistMatrix<T>& R, LocalIndex i) {
  T sum{};
  for (Offset q = R.on().begin(i); q < R.on().end(i); ++q) {
    const auto at = static_cast<std::size_t>(q);
    LocalIndex guess = 0;
    const T r = R.on().vals[at];
    sum += r * std::abs(kernels::diagonal_entry(A.on(), R.on().cols[at], guess)) * r;
  }
  return sum;
}

/// Returns s_i with a restriction that is no transpose.
template <class T, class S>
S mean_with_row(const DistMatrix<T>& A, const DistMatrix<T>* R, LocalIndex i, S of_column) {
  return R == nullptr ? of_column
                      : std::sqrt(of_column) * std::sqrt(static_cast<S>(sum_of_row(A, *R, i)));
}

/// s_i of the rows of these points, one after another.
template <class T>
std::vector<T> sizes_of_points(const DistMatrix<T>& A, const DistMatrix<T>* R,
                               const DistMatrix<T>& P, const std::vector<LocalIndex>& points,
                               LocalIndex unknowns) {
  const auto width = static_cast<std::size_t>(unknowns);
  std::vector<T> sizes(points.size() * width);
  for_each_summand(A, P, [&](LocalIndex i, T summand) {
    const auto at = std::lower_bound(points.begin(), points.end(), i - i % unknowns);
    if (at == points.end() || *at != i - i % unknowns) return;
    sizes[static_cast<std::size_t>((at - points.begin()) * unknowns + i % unknowns)] += summand;
  });
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    const LocalIndex i = points[n / width] + static_cast<LocalIndex>(n % width);
    sizes[n] = mean_with_row(A, R, i, sizes[n]);
  }
  return sizes;
}

/// Sets entries of the rows from `first` on, of one point, to zero; whether any was not.
template <class T>
bool clear_point(const DistMatrix<T>& C, LocalIndex first, std::span<const T> sizes,
                 Array<T>& vals) {
  constexpr T margin = static_cast<T>(round_off_units) * std::numeric_limits<T>::epsilon();
  bool any = false;
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    const LocalIndex i = first + static_cast<LocalIndex>(r);
    for (Offset k = C.on().begin(i); k < C.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      const auto column = static_cast<std::size_t>(C.on().cols[p] - first);
      const T size = std::sqrt(sizes[r]) * std::sqrt(sizes[column]);
      if (!std::isfinite(size) || !(std::abs(vals[p]) <= margin * size)) continue;
      any = any || vals[p] != T{};
      vals[p] = T{};
    }
  }
  return any;
}

}  // namespace

template <class T>
Array<double> summand_sizes(const DistMatrix<T>& A, const DistMatrix<T>* R,
                            const DistMatrix<T>& P) {
  Array<double> sizes(static_cast<std::size_t>(P.cols().n_local()), 0.0);
  for_each_summand(A, P, [&](LocalIndex i, T summand) {
    sizes[static_cast<std::size_t>(i)] += static_cast<double>(summand);
  });
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = mean_with_row(A, R, static_cast<LocalIndex>(i), sizes[i]);
  }
  return sizes;
}

template <class T>
DistMatrix<T> without_round_off(const DistMatrix<T>& C, const DistMatrix<T>& A,
                                const DistMatrix<T>* R, const DistMatrix<T>& P, int unknowns) {
  const std::vector<LocalIndex> points = isolated_points(C, unknowns);
  if (points.empty()) return C;
  const std::vector<T> sizes = sizes_of_points<T>(A, R, P, points, unknowns);
  const auto width = static_cast<std::size_t>(unknowns);
  Array<T> vals = C.on().vals;
  bool any = false;
  for (std::size_t n = 0; n < points.size(); ++n) {
    any |= clear_point(C, points[n], std::span(sizes).subspan(n * width, width), vals);
  }
  return any ? C.with_local_values(std::move(vals), C.off().vals) : C;
}

#define NODEWISE_INSTANTIATE(T)                                                        \
  template Array<double> summand_sizes(const DistMatrix<T>&, const DistMatrix<T>*,     \
                                       const DistMatrix<T>&);                          \
  template DistMatrix<T> without_round_off(const DistMatrix<T>&, const DistMatrix<T>&, \
                                           const DistMatrix<T>*, const DistMatrix<T>&, int);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg
