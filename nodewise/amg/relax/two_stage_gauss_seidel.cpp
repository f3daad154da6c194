#include "nodewise/amg/relax/two_stage_gauss_seidel.hpp"

#include <algorithm>

#include "nodewise/base/parallel.hpp"
#include "nodewise/matrix/operations.hpp"

namespace nodewise::amg::relax {

template <class T>
TwoStageGaussSeidel<T>::TwoStageGaussSeidel(const matrix::DistMatrix<T>& A, int inner_sweeps)
    : Relaxation<T>(A),
      inner_sweeps_(inner_sweeps),
      inverse_(matrix::diagonal(A)),
      scratch_(3 * inverse_.size()) {
  const kernels::Csr<T>& on = A.on();
  for (T& d : inverse_) {
    if (d != T{}) d = 1 / d;
  }
  for (LocalIndex i = 0; i < on.n_rows; ++i) {
    Offset k = on.begin(i);
    while (k < on.end(i) && on.cols[static_cast<std::size_t>(k)] < i) ++k;
    diagonal_.push_back(k);
  }
}

template <class T>
std::size_t TwoStageGaussSeidel<T>::memory_bytes() const {
  return (inverse_.size() + scratch_.size()) * sizeof(T) + diagonal_.size() * sizeof(Offset);
}

template <class T>
void TwoStageGaussSeidel<T>::apply_series(Direction direction, std::span<const T> R, std::span<T> Y,
                                          std::span<T> other, std::size_t width) const {
  const kernels::Csr<T>& on = A_.on();
  // Each sweep makes another vector of the last one; the last of them is to be in Y.
  std::span<T> to = inner_sweeps_ % 2 == 0 ? Y : other;
  std::span<T> from = inner_sweeps_ % 2 == 0 ? other : Y;
  this->for_rows_of_block(width, [&](std::size_t i, std::size_t k) { to[k] = inverse_[i] * R[k]; });
  for (int sweep = 0; sweep < inner_sweeps_; ++sweep) {
    std::swap(to, from);
    this->for_rows_of_block(width, [&](std::size_t i, std::size_t k) {
      const auto row = static_cast<LocalIndex>(i);
      const bool forward = direction == Direction::forward;
      const Offset begin = forward ? on.begin(row) : diagonal_[i];
      const Offset end = forward ? diagonal_[i] : on.end(row);
      T sum = R[k];
      for (Offset p = begin; p < end; ++p) {
        const auto column = static_cast<std::size_t>(on.cols[static_cast<std::size_t>(p)]);
        if (column == i) continue;
        sum -= on.vals[static_cast<std::size_t>(p)] * from[column * width + k % width];
      }
      to[k] = inverse_[i] * sum;
    });
  }
}

template <class T>
void TwoStageGaussSeidel<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  apply_series(Direction::forward, b, x, std::span<T>(scratch_).first(x.size()), 1);
}

template <class T>
void TwoStageGaussSeidel<T>::sweep(Direction direction, std::span<const T> b,
                                   std::span<T> x) const {
  const std::span<T> r = std::span<T>(scratch_).first(x.size());
  const std::span<T> step = std::span<T>(scratch_).subspan(x.size(), x.size());
  matrix::residual(A_, std::span<const T>(x), b, r);
  apply_series(direction, r, step, std::span<T>(scratch_).last(x.size()), 1);
  this->for_rows_of_block(1, [&](std::size_t, std::size_t k) { x[k] += step[k]; });
}

template <class T>
std::size_t TwoStageGaussSeidel<T>::workspace_for(std::size_t width) const {
  return 3 * inverse_.size() * width;
}

template <class T>
void TwoStageGaussSeidel<T>::sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X,
                                         int width) const {
  const auto w = static_cast<std::size_t>(width);
  const std::span<T> work = this->workspace(3 * X.size());
  const std::span<T> R = work.first(X.size()), step = work.subspan(X.size(), X.size());
  const std::span<T> other = work.last(X.size());
  const auto correct = [&](Direction direction) {
    matrix::residual(A_, std::span<const T>(X), B, R, width);
    apply_series(direction, R, step, other, w);
    this->for_rows_of_block(w, [&](std::size_t, std::size_t k) { X[k] += step[k]; });
  };
  if (is_from_zero(sweep)) {
    apply_series(Direction::forward, B, X, other, w);
  } else if (has_forward(sweep)) {
    correct(Direction::forward);
  }
  if (has_backward(sweep)) correct(Direction::backward);
}

template class TwoStageGaussSeidel<float>;
template class TwoStageGaussSeidel<double>;

std::span<const Field<TwoStageOptions>> two_stage_fields() {
  static const std::vector<Field<TwoStageOptions>> fields = {
      field("inner_sweeps", &TwoStageOptions::inner_sweeps,
            "Jacobi sweeps in the place of each triangular solve", 0, 100)
          .affecting(Affects::kernels),
      sweep_order_field(&TwoStageOptions::sweep_order),
  };
  return fields;
}

namespace {

template <class T>
std::unique_ptr<const Relaxation<T>> make_two_stage(const matrix::DistMatrix<T>& A,
                                                    const Choice<SmootherMethod>& smoother,
                                                    const MatrixFacts&) {
  return std::make_unique<TwoStageGaussSeidel<T>>(A,
                                                  smoother.options<TwoStageOptions>().inner_sweeps);
}

SweepOrder* two_stage_order(Choice<SmootherMethod>& smoother) {
  return &smoother.options<TwoStageOptions>().sweep_order;
}

/// The residual, and half of the matrix for each inner sweep.
SweepExchanges two_stage_exchanges(const Choice<SmootherMethod>& smoother) {
  const auto& options = smoother.options<TwoStageOptions>();
  const double passes = 1 + options.inner_sweeps / 2.0;
  if (goes_both_ways(options.sweep_order)) return {2, 1, 2 * passes};
  return {1, options.sweep_order == SweepOrder::backward ? 1.0 : 0.0, passes};
}

Answer<SweepWork> two_stage_work(const SweepQuery&) {
  return Unanswered{"inner sweeps are not counted"};
}

}  // namespace

const SmootherMethod& two_stage_gauss_seidel_method() {
  static const SmootherMethod method = {
      {"two_stage_gauss_seidel",
       "Gauss-Seidel by a few Jacobi sweeps in the place of triangular solves, for many threads",
       "Berger-Vergiat, Kelley, Rajamanickam, Hu, Swirydowicz, Mullowney, Thomas, Yamazaki 2021",
       own_options(two_stage_fields)},
      {
          .l1_terms = L1Terms::none,
          .is_safe_where_indefinite = false,
          .blocks = BlockUse::never,
          .needs_spectral_radius = false,
          .is_hybrid = true,
          .safe_form = "l1_gauss_seidel",
          .order = two_stage_order,
          .exchanges = two_stage_exchanges,
          .work = two_stage_work,
          .in_double = make_two_stage<double>,
          .in_float = make_two_stage<float>,
      }};
  return method;
}

}  // namespace nodewise::amg::relax
