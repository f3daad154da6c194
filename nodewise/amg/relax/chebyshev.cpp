#include "nodewise/amg/relax/chebyshev.hpp"

#include <algorithm>

#include "nodewise/amg/relax/sweep_work.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/matrix/operations.hpp"

namespace nodewise::amg::relax {

namespace {

/// An eigenvalue above the interval would be amplified, and estimates are from below.
constexpr double safety = 1.1;

/// The steps of a sweep on the interval.
template <class T>
std::vector<typename DiagonalSteps<T>::Step> steps_on(double center, double half_width,
                                                      int degree) {
  const double sigma = center / half_width;
  std::vector<typename DiagonalSteps<T>::Step> steps = {{T{0}, static_cast<T>(1 / center)}};
  double rho = 1 / sigma;
  for (int k = 1; k < degree; ++k) {
    const double next = 1 / (2 * sigma - rho);
    steps.push_back({static_cast<T>(next * rho), static_cast<T>(2 * next / half_width)});
    rho = next;
  }
  return steps;
}

/// Those of a matrix with this spectral radius. Of a matrix of zeros any will do: there is nothing
/// to relax.
template <class T>
std::vector<typename DiagonalSteps<T>::Step> steps_for(double spectral_radius, int degree,
                                                       double fraction) {
  const double radius = spectral_radius > 0 ? spectral_radius : 1;
  return steps_on<T>(radius * (safety + fraction) / 2, radius * (safety - fraction) / 2, degree);
}

}  // namespace

template <class T>
Chebyshev<T>::Chebyshev(const matrix::DistMatrix<T>& A, int degree, double fraction,
                        double spectral_radius)
    : Relaxation<T>(A),
      steps_(steps_for<T>(spectral_radius, degree, fraction)),
      inverse_(matrix::diagonal(A)),
      step_(inverse_.size()),
      residual_(inverse_.size()) {
  for (T& d : inverse_) d = d == T{} ? T{} : T{1} / d;
}

template <class T>
std::size_t Chebyshev<T>::memory_bytes() const {
  return (inverse_.size() + step_.size() + residual_.size()) * sizeof(T);
}

template <class T>
void Chebyshev<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  const T scale = steps_.front().take;
  parallel::for_range(x.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) x[i] = step_[i] = scale * inverse_[i] * b[i];
  });
  further_steps(b, x);
}

template <class T>
void Chebyshev<T>::sweep(Direction, std::span<const T> b, std::span<T> x) const {
  matrix::residual(A_, std::span<const T>(x), b, std::span<T>(residual_));
  const T scale = steps_.front().take;
  parallel::for_range(x.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      step_[i] = scale * inverse_[i] * residual_[i];
      x[i] += step_[i];
    }
  });
  further_steps(b, x);
}

template <class T>
void Chebyshev<T>::further_steps(std::span<const T> b, std::span<T> x) const {
  for (std::size_t k = 1; k < steps_.size(); ++k) {
    matrix::residual(A_, std::span<const T>(x), b, std::span<T>(residual_));
    const Step how = steps_[k];
    parallel::for_range(x.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        step_[i] = how.keep * step_[i] + how.take * inverse_[i] * residual_[i];
        x[i] += step_[i];
      }
    });
  }
}

template <class T>
std::size_t Chebyshev<T>::workspace_for(std::size_t width) const {
  return 2 * inverse_.size() * width;
}

template <class T>
void Chebyshev<T>::sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X, int width) const {
  const auto w = static_cast<std::size_t>(width);
  const std::span<T> step = this->workspace(workspace_for(w)).first(B.size());
  const std::span<T> R = this->workspace(workspace_for(w)).last(B.size());
  std::fill(step.begin(), step.end(), T{});
  const auto advance = [&](std::span<const T> residual, Step how) {
    this->for_rows_of_block(w, [&](std::size_t i, std::size_t k) {
      step[k] = how.keep * step[k] + how.take * inverse_[i] * residual[k];
      X[k] += step[k];
    });
  };
  const auto find_residual = [&] {
    matrix::residual(A_, std::span<const T>(X), B, R, width);
    return std::span<const T>(R);
  };
  bool from_zero = is_from_zero(sweep);
  if (from_zero) std::fill(X.begin(), X.end(), T{});
  for (int n = has_forward(sweep) && has_backward(sweep) ? 2 : 1; n > 0; --n) {
    for (const Step& how : steps_) {
      advance(from_zero ? B : find_residual(), how);
      from_zero = false;
    }
  }
}

template class Chebyshev<float>;
template class Chebyshev<double>;

std::span<const Field<ChebyshevOptions>> chebyshev_fields() {
  static const std::vector<Field<ChebyshevOptions>> fields = {
      field("chebyshev_degree", &ChebyshevOptions::chebyshev_degree, "Products in one sweep", 1,
            20),
      field(
          "chebyshev_fraction", &ChebyshevOptions::chebyshev_fraction,
          "Where the part of the spectrum that is reduced begins, in units of the spectral radius",
          0.001, 0.9)
          .affecting(Affects::kernels),
  };
  return fields;
}

namespace {

template <class T>
std::unique_ptr<const Relaxation<T>> make_chebyshev(const matrix::DistMatrix<T>& A,
                                                    const Choice<SmootherMethod>& smoother,
                                                    const MatrixFacts& facts) {
  const auto& options = smoother.options<ChebyshevOptions>();
  return std::make_unique<Chebyshev<T>>(A, options.chebyshev_degree, options.chebyshev_fraction,
                                        facts.spectral_radius);
}

DiagonalForm chebyshev_form(const Choice<SmootherMethod>& smoother, double spectral_radius) {
  const auto& options = smoother.options<ChebyshevOptions>();
  return {false, 1.0,
          steps_for<double>(spectral_radius, options.chebyshev_degree, options.chebyshev_fraction)};
}

SweepExchanges chebyshev_exchanges(const Choice<SmootherMethod>& smoother) {
  const double degree = smoother.options<ChebyshevOptions>().chebyshev_degree;
  return {degree, degree - 1, degree};
}

/// The step is kept beside x.
Answer<SweepWork> chebyshev_work(const SweepQuery& query) {
  const int degree = query.smoother.options<ChebyshevOptions>().chebyshev_degree;
  const int residuals = degree - (query.from_zero ? 1 : 0) + (query.with_residual ? 1 : 0);
  return SweepWork{static_cast<double>(residuals) * residual_traffic(query) +
                       static_cast<double>(degree) * vector_traffic(query, 2, 2, 4),
                   residuals};
}

}  // namespace

const SmootherMethod& chebyshev_method() {
  static const SmootherMethod method = {
      {"chebyshev", "a polynomial in the matrix, the same on any number of ranks",
       "Saad 2003, algorithm 12.1; Adams, Brezina, Hu, Tuminaro 2003",
       own_options(chebyshev_fields)},
      {
          .l1_terms = L1Terms::none,
          .is_safe_where_indefinite = false,
          .blocks = BlockUse::where_full,
          .needs_spectral_radius = true,
          .is_hybrid = false,
          .safe_form = "",
          .order = nullptr,
          .exchanges = chebyshev_exchanges,
          .work = chebyshev_work,
          .in_double = make_chebyshev<double>,
          .in_float = make_chebyshev<float>,
          .needs_real_spectrum = true,
          .runs_on_devices = true,
          .diagonal_form = chebyshev_form,
      }};
  return method;
}

}  // namespace nodewise::amg::relax
