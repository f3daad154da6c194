#include "nodewise/amg/relax/block_jacobi.hpp"

#include <algorithm>
#include <vector>

#include "nodewise/amg/relax/block_inverse.hpp"
#include "nodewise/amg/relax/block_l1.hpp"
#include "nodewise/amg/relax/jacobi.hpp"
#include "nodewise/amg/relax/sweep_work.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/matrix/operations.hpp"

namespace nodewise::amg::relax {

namespace {

/// X = M R or X += M R for `width` vectors, with a block of M for each point.
template <bool add, class T>
void multiply_by_blocks(int block, std::span<const T> M, std::span<const T> R, std::span<T> X,
                        int width) {
  const auto w = static_cast<std::size_t>(width);
  const auto b = static_cast<std::size_t>(block);
  const std::size_t rows = X.size() / w;
  const int parts = parallel::parts_of(rows * b * w);
  parallel::run(parts, [&](int part) {
    const std::size_t end = parallel::equal_part(rows, parts, part + 1);
    for (std::size_t row = parallel::equal_part(rows, parts, part); row < end; ++row) {
      const std::size_t point = row / b;
      T* const x = X.data() + row * w;
      if (!add) std::fill_n(x, w, T{});
      for (std::size_t k = 0; k < b; ++k) {
        const T m = M[row * b + k];
        const T* const r = R.data() + (point * b + k) * w;
        for (std::size_t c = 0; c < w; ++c) x[c] += m * r[c];
      }
    }
  });
}

/// The same for one vector.
template <bool add, class T>
void multiply_by_blocks(int block, std::span<const T> M, std::span<const T> r, std::span<T> x) {
  kernels::with_block_size(block, [&](auto block_size) {
    constexpr int B = decltype(block_size)::value;
    parallel::for_range(x.size() / B, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin * B; i < end * B; i += B) {
        std::array<T, B> sum{};
        kernels::add_block_product<B>(M.data() + i * B, r.data() + i, sum);
        for (std::size_t k = 0; k < B; ++k) x[i + k] = add ? x[i + k] + sum[k] : sum[k];
      }
    });
  });
}

}  // namespace

template <class T>
BlockJacobi<T>::BlockJacobi(const matrix::DistMatrix<T>& A, double weight,
                            const CouplingSums<T>* l1)
    : Relaxation<T>(A),
      inverse_(inverse_diagonal_blocks<T>(
          A, l1 ? 1.0 : weight, l1 ? sums_outside_blocks(A, *l1) : std::vector<double>())),
      scratch_(static_cast<std::size_t>(A.n_local())) {}

template <class T>
std::size_t BlockJacobi<T>::memory_bytes() const {
  return (inverse_.size() + scratch_.size()) * sizeof(T);
}

template <class T>
void BlockJacobi<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  multiply_by_blocks<false, T>(A_.blocks()->block(), inverse_, b, x);
}

template <class T>
void BlockJacobi<T>::sweep(Direction, std::span<const T> b, std::span<T> x) const {
  matrix::residual(A_, std::span<const T>(x), b, std::span<T>(scratch_));
  multiply_by_blocks<true, T>(A_.blocks()->block(), inverse_, scratch_, x);
}

template <class T>
std::size_t BlockJacobi<T>::workspace_for(std::size_t width) const {
  return this->n_local() * width;
}

template <class T>
void BlockJacobi<T>::sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X,
                                 int width) const {
  const int block = A_.blocks()->block();
  int sweeps = has_forward(sweep) && has_backward(sweep) ? 2 : 1;
  if (is_from_zero(sweep)) {
    multiply_by_blocks<false, T>(block, inverse_, B, X, width);
    --sweeps;
  }
  const std::span<T> R = this->workspace(B.size());
  for (; sweeps > 0; --sweeps) {
    matrix::residual(A_, std::span<const T>(X), B, R, width);
    multiply_by_blocks<true, T>(block, inverse_, R, X, width);
  }
}

template class BlockJacobi<float>;
template class BlockJacobi<double>;

namespace {

template <class T>
std::unique_ptr<const Relaxation<T>> make_block_jacobi(const matrix::DistMatrix<T>& A,
                                                       const Choice<SmootherMethod>& smoother,
                                                       const MatrixFacts& facts) {
  const CouplingSums<T> couplings(A, facts.scales);
  const CouplingSums<T>* const l1 = smoother->is_l1() ? &couplings : nullptr;
  const double weight = jacobi_weight(smoother);
  if (A.blocks() == nullptr) return std::make_unique<Jacobi<T>>(A, weight, l1);
  return std::make_unique<BlockJacobi<T>>(A, weight, l1);
}

}  // namespace

const SmootherMethod& l1_block_jacobi_method() {
  static const SmootherMethod method = {
      {"l1_block_jacobi", "l1_jacobi for all unknowns of a point at once",
       "Baker, Falgout, Kolev, Yang 2011"},
      {
          .l1_terms = L1Terms::all,
          .is_safe_where_indefinite = false,
          .blocks = BlockUse::always,
          .needs_spectral_radius = false,
          .is_hybrid = false,
          .safe_form = "",
          .order = nullptr,
          .exchanges = [](const Choice<SmootherMethod>&) { return SweepExchanges{}; },
          .work = block_jacobi_work,
          .in_double = make_block_jacobi<double>,
          .in_float = make_block_jacobi<float>,
      }};
  return method;
}

const SmootherMethod& block_jacobi_method() {
  static const SmootherMethod method = {
      {"block_jacobi", "damped Jacobi for all unknowns of a point at once",
       "Saad 2003, section 4.1.1", own_options(jacobi_fields)},
      {
          .l1_terms = L1Terms::none,
          .is_safe_where_indefinite = false,
          .blocks = BlockUse::always,
          .needs_spectral_radius = false,
          .is_hybrid = false,
          .safe_form = "l1_block_jacobi",
          .order = nullptr,
          .exchanges = [](const Choice<SmootherMethod>&) { return SweepExchanges{}; },
          .work = block_jacobi_work,
          .in_double = make_block_jacobi<double>,
          .in_float = make_block_jacobi<float>,
      }};
  return method;
}

}  // namespace nodewise::amg::relax
