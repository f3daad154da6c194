#include "nodewise/amg/cycle/cycle.hpp"

#include <algorithm>
#include <cmath>

#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::amg {

namespace {

double ratio(double a, double b) {
  return b != 0 && std::isfinite(a / b) ? a / b : 0;
}

}  // namespace

template <class T>
void CycleLevel<T>::reserve(bool has_vectors, bool iterates) {
  const auto n = static_cast<std::size_t>(A->n_local());
  if (has_vectors) reserve_vectors(n);
  if (P) r.resize(n);
  if (!iterates || !P) return;
  for (Array<T>& v : k) v.resize(n);
}

template <class T>
void CycleLevel<T>::replace_matrix(Matrix matrix, const Options& options,
                                   const relax::MatrixFacts& facts) {
  smoother = std::make_shared<const Smoother<T>>(*matrix, options, facts);
  A = std::move(matrix);
}

template <class T>
void CycleLevel<T>::reserve_vectors(std::size_t n) {
  b.resize(n);
  x.resize(n);
}

template <class T>
std::size_t CycleLevel<T>::memory_bytes() const {
  std::size_t bytes = (b.size() + x.size() + r.size() + 4 * k[0].size()) * sizeof(T);
  for (const Array<T>& v : together) bytes += v.size() * sizeof(T);
  if (arrival) bytes += arrival->memory_bytes();
  if (smoother) bytes += smoother->memory_bytes();
  if (direct) bytes += direct->memory_bytes();
  return bytes;
}

template <class T>
mpi::Scope Cycle<T>::scope(std::size_t l, const char* operation) const {
  return {levels[l].A->comm(), operation, first_depth_ + static_cast<int>(l)};
}

template <class T>
void Cycle<T>::presmooth(std::size_t l, bool from_zero, std::span<const T> b, std::span<T> x,
                         std::span<T> r) const {
  const mpi::Scope running = scope(l, "smoothing");
  if (from_zero) return levels[l].smoother->presmooth(b, x, r);
  levels[l].smoother->presmooth_further(b, x, r);
}

template <class T>
void Cycle<T>::postsmooth(std::size_t l, std::span<const T> b, std::span<T> x,
                          Product product) const {
  const mpi::Scope running = scope(l, "smoothing");
  if (!product) return levels[l].smoother->postsmooth(b, x);
  levels[l].smoother->postsmooth_with_product(b, x, *product);
}

/// Brings what a restriction has left to the ranks of the next level, where it is not there.
template <class T>
void Cycle<T>::gather(std::size_t l, std::span<T> coarse_b, int width) const {
  if (!levels[l].arrival) return;
  const mpi::Scope running = scope(l, "redistribution");
  levels[l].arrival->gather(coarse_b, width);
}

/// The next level's solution where a prolongation looks for it.
template <class T>
std::span<const T> Cycle<T>::scattered(std::size_t l, std::span<const T> coarse_x,
                                       int width) const {
  if (!levels[l].arrival) return coarse_x;
  const mpi::Scope running = scope(l, "redistribution");
  levels[l].arrival->scatter(coarse_x, width);
  return levels[l].arrival->between(width);
}

template <class T>
void Cycle<T>::restrict_to_next(std::size_t l, std::span<const T> r) const {
  {
    const mpi::Scope running = scope(l, "restriction");
    const std::span<T> sums = arriving(l, levels[l + 1].b, 1);
    if (levels[l].R) {
      matrix::multiply(*levels[l].R, r, sums);
    } else {
      matrix::multiply_transposed(transposed_restriction(l), r, sums);
    }
  }
  gather(l, levels[l + 1].b, 1);
}

template <class T>
void Cycle<T>::correct(std::size_t l, std::span<T> x) const {
  const std::span<const T> correction = scattered(l, levels[l + 1].x, 1);
  const mpi::Scope running = scope(l, "prolongation");
  matrix::multiply_add(*levels[l].P, correction, x);
}

template <class T>
void Cycle<T>::solve_last(std::size_t l, std::span<const T> b, std::span<T> x) const {
  const mpi::Scope running = scope(l, "coarse_solve");
  if (levels[l].direct) return levels[l].direct->solve(b, x);
  levels[l].smoother->solve_approximately(last_level_sweeps, b, x);
}

/// One cycle on level l and those below it; and the product of its matrix and x, if that is wanted.
template <class T>
void Cycle<T>::visit(std::size_t l, const CycleMethod& method, bool from_zero, std::span<const T> b,
                     std::span<T> x, Product product) const {
  if (is_last(l)) return solve_last(l, b, x);
  if (method.visit == CoarseVisit::add) return add(l, b, x);
  // The product is made last, so that its place can have the residual, and r need not be touched.
  const std::span<T> r = product ? *product : std::span<T>(levels[l].r);
  presmooth(l, from_zero, b, x, r);
  restrict_to_next(l, r);
  visit_coarse(l + 1, method);
  correct(l, x);
  postsmooth(l, b, x, product);
}

/// What a cycle does on a coarse level: from its b to its x.
template <class T>
void Cycle<T>::visit_coarse(std::size_t l, const CycleMethod& method) const {
  const CycleLevel<T>& level = levels[l];
  if (level.is_elsewhere()) return;
  if (level.lower) return level.lower->visit(method, level.b, level.x);
  if (method.visit == CoarseVisit::iterate && !is_last(l)) return iterate_coarse(l);
  visit(l, method, true, level.b, level.x);
  if (is_last(l)) return;  // nothing is left to a second visit
  if (*method.second_visit != nullptr) {
    visit(l, (*method.second_visit)(), false, level.b, level.x);
  }
}

/// Two steps of flexible conjugate gradients, or of GCR; the second is left out where the first has
/// reduced the residual to a quarter (Notay, Vassilevski 2008, algorithm 3.2). Two reductions.
template <class T>
void Cycle<T>::iterate_coarse(std::size_t l) const {
  const CycleLevel<T>& level = levels[l];
  auto& [c, v, d, w] = level.k;
  Array<T>& r = level.b;
  const auto multiply = [&](const Array<T>& from, Array<T>& to) {
    const mpi::Scope running = scope(l, "krylov_product");
    matrix::multiply(*level.A, std::span<const T>(from), std::span<T>(to));
  };
  const mpi::Comm& comm = level.A->comm();
  visit(l, *method_, true, r, c);
  multiply(c, v);
  const Array<T>& left = symmetric_ ? c : v;
  std::array<double, 5> first = {solve::dot_local<T>(left, v), solve::dot_local<T>(left, r),
                                 solve::dot_local<T>(v, v), solve::dot_local<T>(v, r),
                                 solve::dot_local<T>(r, r)};
  mpi::sum_in_place(comm, std::span<double>(first));
  const auto [rho1, alpha1, vv, vr, rr] = first;
  const double step = ratio(alpha1, rho1);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] -= static_cast<T>(step) * v[i];
  if (rr - 2 * step * vr + step * step * vv <= 0.0625 * rr) {  // |r| is a quarter of what it was
    for (std::size_t i = 0; i < r.size(); ++i) level.x[i] = static_cast<T>(step) * c[i];
    return;
  }
  visit(l, *method_, true, r, d);
  multiply(d, w);
  const Array<T>& left2 = symmetric_ ? d : w;
  std::array<double, 3> second = {solve::dot_local<T>(left2, v), solve::dot_local<T>(left2, w),
                                  solve::dot_local<T>(left2, r)};
  mpi::sum_in_place(comm, std::span<double>(second));
  const auto [gamma, beta, alpha2] = second;
  const double rho2 = beta - ratio(gamma * gamma, rho1);
  const double step2 = ratio(alpha2, rho2);
  const double step1 = step - ratio(gamma, rho1) * step2;
  for (std::size_t i = 0; i < r.size(); ++i) {
    level.x[i] = static_cast<T>(step1) * c[i] + static_cast<T>(step2) * d[i];
  }
}

/// The sum of what sweeps on this level and those below make of the right-hand side.
template <class T>
void Cycle<T>::add(std::size_t l, std::span<const T> b, std::span<T> x) const {
  restrict_to_next(l, b);
  {
    const mpi::Scope running = scope(l, "smoothing");
    levels[l].smoother->solve_approximately(1, b, x);
  }
  visit_coarse(l + 1, *method_);
  correct(l, x);
}

/// Calls f for every array of several vectors and the numbers in it.
template <class T>
template <class F>
void Cycle<T>::for_each_together(int width, F&& f) const {
  for (const CycleLevel<T>& level : levels) {
    const std::size_t n = level.A ? static_cast<std::size_t>(level.A->n_local()) : level.b.size();
    const bool has_vectors = !level.x.empty();  // or B and X are the caller's, or there are no rows
    for (std::size_t k = has_vectors ? 0 : 2; k < 3; ++k) {
      f(level.together[k], n * static_cast<std::size_t>(width));
    }
  }
}

template <class T>
void Cycle<T>::reserve_workspace(int width) const {
  for_each_together(width, [](Array<T>& array, std::size_t n) { array.reserve(n); });
  for (const CycleLevel<T>& level : levels) {
    if (level.arrival) level.arrival->reserve(width);
    if (level.smoother) level.smoother->reserve_workspace(width);
    if (level.direct) level.direct->reserve_workspace(width);
    if (level.lower) level.lower->reserve_workspace(width);
  }
  width_ = std::max(width_, width);
}

template <class T>
void Cycle<T>::resize_together(int width) const {
  for_each_together(width, [](Array<T>& array, std::size_t n) { array.resize(n); });
  for (const CycleLevel<T>& level : levels) {
    if (level.arrival) level.arrival->resize(width);
  }
}

template <class T>
void Cycle<T>::apply(std::span<const T> B, std::span<T> X, int width) const {
  if (width > width_) {  // memory may fail, which is agreed on where there was not as much yet
    mpi::collectively(levels.front().A->comm(), [&] { reserve_workspace(width); });
  }
  resize_together(width);
  visit_block(0, *method_, true, B, X, width);
}

template <class T>
void Cycle<T>::restrict_block(std::size_t l, std::span<const T> R, int width) const {
  {
    const mpi::Scope running = scope(l, "restriction");
    const std::span<T> sums = arriving(l, levels[l + 1].together[0], width);
    if (levels[l].R) {
      matrix::multiply(*levels[l].R, R, sums, width);
    } else {
      matrix::multiply_transposed(transposed_restriction(l), R, sums, width);
    }
  }
  gather(l, levels[l + 1].together[0], width);
}

template <class T>
void Cycle<T>::correct_block(std::size_t l, std::span<T> X, int width) const {
  const std::span<const T> corrections = scattered(l, levels[l + 1].together[1], width);
  const mpi::Scope running = scope(l, "prolongation");
  matrix::multiply_add(*levels[l].P, corrections, X, width);
}

template <class T>
void Cycle<T>::visit_block(std::size_t l, const CycleMethod& method, bool from_zero,
                           std::span<const T> B, std::span<T> X, int width) const {
  const CycleLevel<T>& level = levels[l];
  if (is_last(l)) {
    const mpi::Scope running = scope(l, "coarse_solve");
    if (level.direct) return level.direct->solve(B, X, width);
    return level.smoother->solve_approximately(last_level_sweeps, B, X, width);
  }
  if (method.visit == CoarseVisit::add) return add_together(l, B, X, width);
  const std::span<T> R = level.together[2];
  {
    const mpi::Scope running = scope(l, "smoothing");
    level.smoother->presmooth(from_zero, B, X, R, width);
  }
  restrict_block(l, R, width);
  visit_coarse_block(l + 1, method, width);
  correct_block(l, X, width);
  const mpi::Scope running = scope(l, "smoothing");
  level.smoother->postsmooth(B, X, width);
}

template <class T>
void Cycle<T>::visit_coarse_block(std::size_t l, const CycleMethod& method, int width) const {
  const CycleLevel<T>& level = levels[l];
  if (level.is_elsewhere()) return;
  const std::span<const T> B = level.together[0];
  const std::span<T> X = level.together[1];
  if (level.lower) return level.lower->visit(method, B, X, width);
  visit_block(l, method, true, B, X, width);
  const bool twice = *method.second_visit != nullptr && !is_last(l);
  if (twice) visit_block(l, (*method.second_visit)(), false, B, X, width);
}

template <class T>
void Cycle<T>::add_together(std::size_t l, std::span<const T> B, std::span<T> X, int width) const {
  restrict_block(l, B, width);
  {
    const mpi::Scope running = scope(l, "smoothing");
    levels[l].smoother->solve_approximately(1, B, X, width);
  }
  visit_coarse_block(l + 1, *method_, width);
  correct_block(l, X, width);
}

template struct CycleLevel<float>;
template struct CycleLevel<double>;
template class Cycle<float>;
template class Cycle<double>;

}  // namespace nodewise::amg
