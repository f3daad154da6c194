#include "nodewise/amg/relax/fc_jacobi.hpp"

#include <algorithm>

#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/row_product.hpp"
#include "nodewise/kernels/spmm.hpp"
#include "nodewise/matrix/operations.hpp"

namespace nodewise::amg::relax {

namespace {

template <class T>
T row_product(const kernels::Csr<T>& A, LocalIndex i, const T* x) {
  return kernels::row_product(A.cols.data(), A.vals.data(), A.begin(i), A.end(i), x);
}

/// Calls f(k, i) for the rows i of a list; first_entry as FcJacobi::Rows has it.
template <class F>
void for_points(const std::vector<LocalIndex>& rows, const std::vector<Offset>& first_entry,
                const F& f) {
  parallel::for_rows(first_entry, [&](LocalIndex begin, LocalIndex end) {
    for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
      f(k, rows[k]);
    }
  });
}

}  // namespace

template <class T>
void FcJacobi<T>::Rows::append(const matrix::DistMatrix<T>& A, LocalIndex i) {
  rows.push_back(i);
  first_entry.push_back(first_entry.back() + A.row_length(i));
}

template <class T>
FcJacobi<T>::FcJacobi(const matrix::DistMatrix<T>& A, std::span<const LocalIndex> coarse_rows,
                      int fine_sweeps, int coarse_sweeps)
    : Relaxation<T>(A),
      fine_sweeps_(fine_sweeps),
      coarse_sweeps_(coarse_sweeps),
      inverse_(matrix::diagonal(A)) {
  for (T& d : inverse_) {
    if (d != T{}) d = T{1} / d;
  }
  auto next = coarse_rows.begin();
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const bool is_coarse = next != coarse_rows.end() && *next == i;
    (is_coarse ? coarse_ : fine_).append(A, i);
    if (is_coarse) ++next;
  }
  residual_.resize(std::max(fine_.rows.size(), coarse_.rows.size()));
}

template <class T>
std::size_t FcJacobi<T>::memory_bytes() const {
  return (inverse_.size() + residual_.size()) * sizeof(T) +
         inverse_.size() * (sizeof(LocalIndex) + sizeof(Offset));
}

template <class T>
void FcJacobi<T>::relax(const Rows& points, std::span<const T> b, std::span<T> x) const {
  const std::span<T> ghosts = A_.exchange().template ghost_buffer<T>();
  A_.exchange().forward_beside(std::span<const T>(x), ghosts, 1, [&] {
    for_points(points.rows, points.first_entry, [&](std::size_t k, LocalIndex i) {
      residual_[k] = b[static_cast<std::size_t>(i)] - row_product(A_.on(), i, x.data());
    });
  });
  for_points(points.rows, points.first_entry, [&](std::size_t k, LocalIndex i) {
    const auto u = static_cast<std::size_t>(i);
    x[u] += inverse_[u] * (residual_[k] - row_product(A_.off(), i, ghosts.data()));
  });
}

template <class T>
void FcJacobi<T>::relax_block(const Rows& points, std::span<const T> B, std::span<T> X,
                              int width) const {
  const auto w = static_cast<std::size_t>(width);
  const std::span<T> products = this->workspace(workspace_for(w));
  const std::span<T> ghosts = A_.exchange().template ghost_buffer<T>(width);
  const auto add = [&](const kernels::Csr<T>& part, LocalIndex i, std::span<const T> from, T* to) {
    kernels::spmm_add_entries(part, part.begin(i), part.end(i), from.data(), w, to);
  };
  A_.exchange().forward_beside(std::span<const T>(X), ghosts, width, [&] {
    for_points(points.rows, points.first_entry, [&](std::size_t k, LocalIndex i) {
      T* const product = &products[k * w];
      std::fill_n(product, w, T{});
      add(A_.on(), i, X, product);
    });
  });
  for_points(points.rows, points.first_entry, [&](std::size_t k, LocalIndex i) {
    const auto u = static_cast<std::size_t>(i);
    T* const product = &products[k * w];
    add(A_.off(), i, ghosts, product);
    for (std::size_t c = 0; c < w; ++c) X[u * w + c] += inverse_[u] * (B[u * w + c] - product[c]);
  });
}

template <class T>
void FcJacobi<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  std::fill(x.begin(), x.end(), T{});
  if (fine_sweeps_ > 0) {  // from zero the first sweep needs no product
    for (const LocalIndex i : fine_.rows) {
      x[static_cast<std::size_t>(i)] =
          inverse_[static_cast<std::size_t>(i)] * b[static_cast<std::size_t>(i)];
    }
  }
  for (int k = 1; k < fine_sweeps_; ++k) relax(fine_, b, x);
  for (int k = 0; k < coarse_sweeps_; ++k) relax(coarse_, b, x);
}

template <class T>
void FcJacobi<T>::sweep(Direction direction, std::span<const T> b, std::span<T> x) const {
  const bool forward = direction == Direction::forward;
  if (!forward) {
    for (int k = 0; k < coarse_sweeps_; ++k) relax(coarse_, b, x);
  }
  for (int k = 0; k < fine_sweeps_; ++k) relax(fine_, b, x);
  if (forward) {
    for (int k = 0; k < coarse_sweeps_; ++k) relax(coarse_, b, x);
  }
}

template <class T>
std::size_t FcJacobi<T>::workspace_for(std::size_t width) const {
  return residual_.size() * width;
}

template <class T>
void FcJacobi<T>::sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X, int width) const {
  const auto w = static_cast<std::size_t>(width);
  const auto relax_fine = [&](bool from_zero) {
    int sweeps = fine_sweeps_;
    if (from_zero && sweeps > 0) {
      for (const LocalIndex i : fine_.rows) {
        const auto u = static_cast<std::size_t>(i);
        for (std::size_t k = u * w; k < (u + 1) * w; ++k) X[k] = inverse_[u] * B[k];
      }
      --sweeps;
    }
    for (; sweeps > 0; --sweeps) relax_block(fine_, B, X, width);
  };
  const auto relax_coarse = [&] {
    for (int k = 0; k < coarse_sweeps_; ++k) relax_block(coarse_, B, X, width);
  };
  if (is_from_zero(sweep)) std::fill(X.begin(), X.end(), T{});
  if (has_forward(sweep)) {
    relax_fine(is_from_zero(sweep));
    relax_coarse();
  }
  if (has_backward(sweep)) {
    relax_coarse();
    relax_fine(false);
  }
}

template class FcJacobi<float>;
template class FcJacobi<double>;

std::span<const Field<FcJacobiOptions>> fc_jacobi_fields() {
  static const std::vector<Field<FcJacobiOptions>> fields = {
      field("fine_sweeps", &FcJacobiOptions::fine_sweeps,
            "Jacobi sweeps over the fine points in one sweep", 0, 100),
      field("coarse_sweeps", &FcJacobiOptions::coarse_sweeps,
            "Jacobi sweeps over the coarse points that follow them", 0, 100),
      sweep_order_field(&FcJacobiOptions::sweep_order),
  };
  return fields;
}

namespace {

template <class T>
std::unique_ptr<const Relaxation<T>> make_fc_jacobi(const matrix::DistMatrix<T>& A,
                                                    const Choice<SmootherMethod>& smoother,
                                                    const MatrixFacts& facts) {
  const auto& options = smoother.options<FcJacobiOptions>();
  return std::make_unique<FcJacobi<T>>(A, facts.coarse_rows, options.fine_sweeps,
                                       options.coarse_sweeps);
}

SweepOrder* fc_jacobi_order(Choice<SmootherMethod>& smoother) {
  return &smoother.options<FcJacobiOptions>().sweep_order;
}

/// Each pass over the rows of one kind of points.
SweepExchanges fc_jacobi_exchanges(const Choice<SmootherMethod>& smoother) {
  const auto& options = smoother.options<FcJacobiOptions>();
  const double sweeps =
      (goes_both_ways(options.sweep_order) ? 2 : 1) * (options.fine_sweeps + options.coarse_sweeps);
  return {sweeps, options.fine_sweeps > 0 ? sweeps - 1 : sweeps, sweeps / 2};
}

Answer<SweepWork> fc_jacobi_work(const SweepQuery&) {
  return Unanswered{"sweeps through coarse or fine points are not counted"};
}

}  // namespace

const SmootherMethod& fc_jacobi_method() {
  static const SmootherMethod method = {
      {"fc_jacobi", "Jacobi sweeps over the fine points, then over the coarse ones",
       "Manteuffel, Münzenmaier, Ruge, Southworth 2019", own_options(fc_jacobi_fields)},
      {
          .l1_terms = L1Terms::none,
          .is_safe_where_indefinite = false,
          .blocks = BlockUse::never,
          .needs_spectral_radius = false,
          .is_hybrid = false,
          .safe_form = "",
          .order = fc_jacobi_order,
          .exchanges = fc_jacobi_exchanges,
          .work = fc_jacobi_work,
          .in_double = make_fc_jacobi<double>,
          .in_float = make_fc_jacobi<float>,
      }};
  return method;
}

}  // namespace nodewise::amg::relax
