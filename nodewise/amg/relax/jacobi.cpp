#include "nodewise/amg/relax/jacobi.hpp"

#include <cmath>

#include "nodewise/amg/relax/sweep_work.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/matrix/operations.hpp"

namespace nodewise::amg::relax {

template <class T>
Jacobi<T>::Jacobi(const matrix::DistMatrix<T>& A, double weight, const CouplingSums<T>* l1)
    : Relaxation<T>(A), inverse_(matrix::diagonal(A)), scratch_(inverse_.size()) {
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    T& d = inverse_[static_cast<std::size_t>(i)];
    if (d == T{}) continue;
    if (l1) {
      d = 1 / std::copysign(l1->on(i, d, A.on().begin(i), A.on().end(i)) + l1->off(i, d), d);
    } else {
      d = static_cast<T>(weight) / d;
    }
  }
}

template <class T>
std::size_t Jacobi<T>::memory_bytes() const {
  return (inverse_.size() + scratch_.size()) * sizeof(T);
}

template <class T>
void Jacobi<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  parallel::for_range(x.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) x[i] = inverse_[i] * b[i];
  });
}

template <class T>
void Jacobi<T>::sweep(Direction, std::span<const T> b, std::span<T> x) const {
  matrix::residual(A_, std::span<const T>(x), b, std::span<T>(scratch_));
  parallel::for_range(x.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) x[i] += inverse_[i] * scratch_[i];
  });
}

template <class T>
std::size_t Jacobi<T>::workspace_for(std::size_t width) const {
  return inverse_.size() * width;
}

template <class T>
void Jacobi<T>::sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X, int width) const {
  const auto w = static_cast<std::size_t>(width);
  const auto scaled = [&](std::span<const T> from, bool add) {
    this->for_rows_of_block(w, [&](std::size_t i, std::size_t k) {
      X[k] = (add ? X[k] : T{}) + inverse_[i] * from[k];
    });
  };
  int sweeps = has_forward(sweep) && has_backward(sweep) ? 2 : 1;
  if (is_from_zero(sweep)) {
    scaled(B, false);
    --sweeps;
  }
  const std::span<T> R = this->workspace(workspace_for(w));
  for (; sweeps > 0; --sweeps) {
    matrix::residual(A_, std::span<const T>(X), B, R, width);
    scaled(R, true);
  }
}

template class Jacobi<float>;
template class Jacobi<double>;

std::span<const Field<JacobiOptions>> jacobi_fields() {
  static const std::vector<Field<JacobiOptions>> fields = {
      field("jacobi_weight", &JacobiOptions::jacobi_weight, "Damping of the sweeps", 0.0, 2.0)
          .affecting(Affects::kernels)};
  return fields;
}

double jacobi_weight(const Choice<SmootherMethod>& smoother) {
  return smoother.has_options<JacobiOptions>() ? smoother.options<JacobiOptions>().jacobi_weight
                                               : 1.0;
}

namespace {

template <class T>
std::unique_ptr<const Relaxation<T>> make_jacobi(const matrix::DistMatrix<T>& A,
                                                 const Choice<SmootherMethod>& smoother,
                                                 const MatrixFacts& facts) {
  const CouplingSums<T> couplings(A, facts.scales);
  return std::make_unique<Jacobi<T>>(A, jacobi_weight(smoother),
                                     smoother->is_l1() ? &couplings : nullptr);
}

DiagonalForm jacobi_form(const Choice<SmootherMethod>& smoother, double /*spectral_radius*/) {
  return {smoother->is_l1(), jacobi_weight(smoother), {{0, 1}}};
}

}  // namespace

const SmootherMethod& l1_jacobi_method() {
  static const SmootherMethod method = {
      {"l1_jacobi",
       "Jacobi with the couplings of each row added to its diagonal, which converges for every "
       "symmetric positive definite matrix",
       "Baker, Falgout, Kolev, Yang 2011"},
      {
          .l1_terms = L1Terms::all,
          .is_safe_where_indefinite = true,
          .blocks = BlockUse::where_full,
          .needs_spectral_radius = false,
          .is_hybrid = false,
          .safe_form = "",
          .order = nullptr,
          .exchanges = [](const Choice<SmootherMethod>&) { return SweepExchanges{}; },
          .work = jacobi_work,
          .in_double = make_jacobi<double>,
          .in_float = make_jacobi<float>,
          .runs_on_devices = true,
          .diagonal_form = jacobi_form,
      }};
  return method;
}

const SmootherMethod& jacobi_method() {
  static const SmootherMethod method = {
      {"jacobi", "damped Jacobi", "Saad 2003, section 4.1", own_options(jacobi_fields)},
      {
          .l1_terms = L1Terms::none,
          .is_safe_where_indefinite = false,
          .blocks = BlockUse::where_full,
          .needs_spectral_radius = false,
          .is_hybrid = false,
          .safe_form = "l1_jacobi",
          .order = nullptr,
          .exchanges = [](const Choice<SmootherMethod>&) { return SweepExchanges{}; },
          .work = jacobi_work,
          .in_double = make_jacobi<double>,
          .in_float = make_jacobi<float>,
          .runs_on_devices = true,
          .diagonal_form = jacobi_form,
      }};
  return method;
}

}  // namespace nodewise::amg::relax
