#include "nodewise/amg/relax/gauss_seidel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "nodewise/amg/relax/block_gauss_seidel.hpp"
#include "nodewise/amg/relax/coarse_fine_gauss_seidel.hpp"
#include "nodewise/amg/relax/hybrid_diagonal.hpp"
#include "nodewise/amg/relax/sweep_work.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/row_product.hpp"
#include "nodewise/kernels/spmm.hpp"
#include "nodewise/matrix/ghost_product.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg::relax {

namespace {

using kernels::Csr;
using kernels::row_product;

}  // namespace

template <class T>
GaussSeidel<T>::GaussSeidel(const matrix::DistMatrix<T>& A, double weight,
                            const CouplingSums<T>* l1, const MatrixFacts& facts)
    : HybridSweeps<T>(A, {A.on().row_ptr, A.on().cols, A.off().row_ptr, A.exchange(), 1}),
      inverse_(static_cast<std::size_t>(A.n_local())),
      lower_(static_cast<std::size_t>(A.n_local())),
      mirrors_(facts.is_symmetric) {
  if (!mirrors_) this->plan_passes(Direction::forward);
  if (facts.gives_product) this->plan_passes(Direction::backward);
  const T w = static_cast<T>(weight);
  std::vector<PreparedRows> prepared(static_cast<std::size_t>(n_parts()));
  parallel::run(n_parts(), [&](int part) {
    prepared[static_cast<std::size_t>(part)] = prepare_part(part, w, l1);
  });
  rows_.emplace(A_.on(), std::span<const LocalIndex>(lower_), std::span<const T>(inverse_));
  bool is_shifted = w != T{1};
  for (const PreparedRows& rows : prepared) {
    frozen_.insert(frozen_.end(), rows.frozen.begin(), rows.frozen.end());
    is_shifted = is_shifted || rows.is_shifted;
  }
  if (!is_shifted) return;
  shift_.resize(inverse_.size());
  parallel::run(n_parts(), [&](int part) {
    for (LocalIndex i = first_row(part); i < end_row(part); ++i) {
      const auto u = static_cast<std::size_t>(i);
      const T a = diagonal(i);
      const bool is_row_shifted = a != T{} && (w != T{1} || inverse_[u] != w / a);
      shift_[u] = is_row_shifted ? T{1} / inverse_[u] - a : T{};
    }
  });
}

template <class T>
auto GaussSeidel<T>::prepare_part(int part, T weight, const CouplingSums<T>* l1) -> PreparedRows {
  PreparedRows prepared;
  LocalIndex place = 0;
  const auto prepare = [&](LocalIndex i, Offset begin, Offset end, auto is_mixed) {
    const auto u = static_cast<std::size_t>(i);
    place = kernels::diagonal_place(A_.on(), i, place);
    lower_[u] = place;
    const T a = diagonal(i);
    if (a == T{}) {
      prepared.frozen.push_back(i);
      inverse_[u] = T{};
      return;
    }
    T term{};
    if (is_mixed && l1) term = l1_term(outside_sum(*l1, A_.on(), i, a, begin, end), a, weight);
    inverse_[u] = weight / (a + term);
    prepared.is_shifted = prepared.is_shifted || term != T{};
  };
  this->for_each_row(this->all_of(part), Direction::forward, prepare);
  return prepared;
}

/// The entry of A, 0 where there is none.
template <class T>
T GaussSeidel<T>::diagonal(LocalIndex i) const {
  const Csr<T>& on = A_.on();
  const auto k = static_cast<std::size_t>(on.begin(i) + lower_[static_cast<std::size_t>(i)]);
  return std::cmp_less(k, on.end(i)) && on.cols[k] == i ? on.vals[k] : T{};
}

template <class T>
std::size_t GaussSeidel<T>::memory_bytes() const {
  return HybridSweeps<T>::memory_bytes() + (inverse_.size() + shift_.size()) * sizeof(T) +
         (lower_.size() + frozen_.size()) * sizeof(LocalIndex);
}

template <class T>
void GaussSeidel<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  parallel::run(n_parts(), [&](int part) {
    const auto ahead = rows_->ahead(first_row(part), end_row(part));
    first_sweep_of(this->all_of(part), ahead, b.data(), x.data());
  });
}

/// From x = 0 nothing arrives from other ranks or threads, nothing from above the diagonal.
template <class T>
void GaussSeidel<T>::first_sweep_of(const Range& range, const kernels::RowBlocks<T>& ahead,
                                    const T* b, T* x) const {
  const auto inner = [&](LocalIndex first, LocalIndex last) {
    rows_->first(first, last, ahead, b, x);
  };
  const auto mixed = [&](LocalIndex i, Offset begin, Offset) {
    const auto u = static_cast<std::size_t>(i);
    x[i] = (b[i] - product(begin, A_.on().begin(i) + lower_[u], x)) * inverse_[u];
  };
  this->for_each_run(range, Direction::forward, inner, mixed);
}

/// After first_sweep (D' + L) x = b, so that b - A x = (D' - D) x - U x - (other threads and
/// ranks): half of the matrix need not be read. Not so in the rows that were left alone. For most
/// rows that follows the sweep while their entries are in a cache.
template <class T>
void GaussSeidel<T>::first_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                               std::span<T> r) const {
  std::array<Range, parallel::max_threads> left;
  parallel::run(n_parts(), [&](int part) {
    if (mirrors_) return first_sweep_with_mirrored_residual(part, b.data(), x.data(), r.data());
    left[static_cast<std::size_t>(part)] =
        first_sweep_with_upper_residual(part, b.data(), x.data(), r.data());
  });
  const mpi::Scope scope(A_.comm(), "residual");
  matrix::add_ghost_product(T{-1}, A_, std::span<const T>(x), r, [&] {
    parallel::run(n_parts(), [&](int part) {
      if (mirrors_) {
        rest_of_mirrored_residual(part, x.data(), r.data());
      } else {
        rest_of_residual(left[static_cast<std::size_t>(part)], x.data(), r.data());
      }
      add_shifted(part, x.data(), r.data());
    });
    residual_of_frozen(b, x, r);
  });
}

/// Of the rows that sweeps leave alone, without what other ranks have to do with it.
template <class T>
void GaussSeidel<T>::residual_of_frozen(std::span<const T> b, std::span<const T> x,
                                        std::span<T> r) const {
  for (const LocalIndex i : frozen_) {
    const auto u = static_cast<std::size_t>(i);
    r[u] = b[u] - product(A_.on().begin(i), A_.on().end(i), x.data());
  }
}

/// Returns the rows that it has left out of r = -U x.
template <class T>
auto GaussSeidel<T>::first_sweep_with_upper_residual(int part, const T* b, T* x, T* r) const
    -> Range {
  const auto ahead = rows_->ahead(first_row(part), end_row(part));
  const auto sweep = [&](const Range& range) { first_sweep_of(range, ahead, b, x); };
  const auto upper = [&](LocalIndex first, LocalIndex last) {
    rows_->upper_residual(first, last, ahead, x, r);
  };
  const auto follow = [&](const Range& range) {
    this->for_each_run(range, Direction::forward, upper, [](LocalIndex, Offset, Offset) {});
  };
  return this->sweep_and_follow(part, Direction::forward, sweep, follow);
}

/// Without what other ranks have to do with it, and not of the rows that were left alone: only they
/// may lack the diagonal.
template <class T>
void GaussSeidel<T>::rest_of_residual(const Range& left, const T* x, T* r) const {
  const auto upper = [&](LocalIndex first, LocalIndex last) {
    rows_->upper_residual(first, last, rows_->ahead(first, last), x, r);
  };
  const auto mixed = [&](LocalIndex i, Offset begin, Offset) {
    upper(i, i + 1);
    r[i] -= product(A_.on().begin(i), begin, x);
  };
  this->follow_rest(left, upper, mixed);
}

/// The same where the matrix is symmetric, from the entries below the diagonal alone, which are
/// at hand in the sweep.
template <class T>
void GaussSeidel<T>::first_sweep_with_mirrored_residual(int part, const T* b, T* x, T* r) const {
  const auto ahead = rows_->ahead(first_row(part), end_row(part));
  const auto inner = [&](LocalIndex first, LocalIndex last) {
    rows_->first_with_residual(first, last, ahead, b, x, r);
  };
  const auto mixed = [&](LocalIndex i, Offset begin, Offset) {
    const auto u = static_cast<std::size_t>(i);
    const Offset middle = A_.on().begin(i) + lower_[u];
    x[i] = (b[i] - product(begin, middle, x)) * inverse_[u];
    r[i] = T{};
    kernels::subtract_multiple(A_.on().cols.data(), A_.on().vals.data(), begin, middle, x[i], r);
  };
  this->for_each_run(this->all_of(part), Direction::forward, inner, mixed);
}

/// After first_sweep (D' + L) x = b: the sweep back needs nothing below the diagonal, and with a
/// symmetric matrix neither does the residual.
template <class T>
void GaussSeidel<T>::first_symmetric_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                                         std::span<T> r) const {
  if (!mirrors_) return Relaxation<T>::first_symmetric_sweep_with_residual(b, x, r);
  first_sweep(b, x);
  parallel::run(n_parts(), [&](int part) {
    backward_with_mirrored_residual(part, b.data(), x.data(), r.data());
  });
  const mpi::Scope scope(A_.comm(), "residual");
  matrix::add_ghost_product(T{-1}, A_, std::span<const T>(x), r, [&] {
    parallel::run(n_parts(),
                  [&](int part) { rest_of_mirrored_residual(part, x.data(), r.data()); });
    residual_of_frozen(b, x, r);
  });
}

template <class T>
void GaussSeidel<T>::backward_with_mirrored_residual(int part, const T* b, T* x, T* r) const {
  const Csr<T>& on = A_.on();
  const T* const shift = shift_.empty() ? nullptr : shift_.data();
  const auto ahead = rows_->ahead(first_row(part), end_row(part));
  const auto inner = [&](LocalIndex first, LocalIndex last) {
    rows_->backward_with_residual(first, last, ahead, shift, b, x, r);
  };
  const auto mixed = [&](LocalIndex i, Offset, Offset end) {
    const auto u = static_cast<std::size_t>(i);
    const Offset upper = std::min(on.begin(i) + lower_[u] + 1, end);
    const T above = product(upper, end, x);
    x[i] += ((shift != nullptr ? shift[i] * x[i] : T{}) - above) * inverse_[u];
    r[i] = b[i] - above - diagonal(i) * x[i];
    kernels::subtract_multiple(on.cols.data(), on.vals.data(), upper, end, x[i], r);
  };
  this->for_each_run(this->all_of(part), Direction::backward, inner, mixed);
}

/// What it lacks of the entries at rows of other threads.
template <class T>
void GaussSeidel<T>::rest_of_mirrored_residual(int part, const T* x, T* r) const {
  const auto nothing = [](LocalIndex, LocalIndex) {};
  const auto mixed = [&](LocalIndex i, Offset begin, Offset end) {
    r[i] -= product(A_.on().begin(i), begin, x) + product(end, A_.on().end(i), x);
  };
  this->for_each_run(this->all_of(part), Direction::forward, nothing, mixed);
}

template <class T>
void GaussSeidel<T>::add_shifted(int part, const T* x, T* r) const {
  if (shift_.empty()) return;
  for (LocalIndex i = first_row(part); i < end_row(part); ++i) {
    r[i] += shift_[static_cast<std::size_t>(i)] * x[i];
  }
}

/// The product of entries from begin to end with x.
template <class T>
T GaussSeidel<T>::product(Offset begin, Offset end, const T* x) const {
  return row_product(A_.on().cols.data(), A_.on().vals.data(), begin, end, x);
}

template <class T>
void GaussSeidel<T>::sweep_rows(const Range& range, Direction direction,
                                const Vectors& vectors) const {
  if (vectors.width > 1) return sweep_rows_block(range, direction, vectors);
  const T* const b = vectors.B.data();
  T* const x = vectors.X.data();
  const auto inner = [&](LocalIndex first, LocalIndex last) {
    direction == Direction::forward ? rows_->forward(first, last, b, x)
                                    : rows_->backward(first, last, b, x);
  };
  const auto mixed = [&](LocalIndex i, Offset begin, Offset end) {
    relax_mixed(i, begin, end, vectors);
  };
  this->for_each_run(range, direction, inner, mixed);
}

template <class T>
void GaussSeidel<T>::relax_mixed(LocalIndex i, Offset begin, Offset end,
                                 const Vectors& vectors) const {
  const auto u = static_cast<std::size_t>(i);
  const T others = product_with_others(i, begin, end, vectors);
  vectors.X[u] += (vectors.B[u] - product(begin, end, vectors.X.data()) - others) * inverse_[u];
}

/// A row's entries above the diagonal meet the new values in the sweep already; those below follow.
template <class T>
void GaussSeidel<T>::backward_with_product(const Vectors& vectors, std::span<T> y) const {
  const T* const x = vectors.X.data();
  std::array<Range, parallel::max_threads> left;
  parallel::run(n_parts(), [&](int part) {
    left[static_cast<std::size_t>(part)] = backward_with_upper_product(part, vectors, y.data());
  });
  const mpi::Scope scope(A_.comm(), "krylov_product", mpi::no_level);
  matrix::add_ghost_product(T{1}, A_, std::span<const T>(vectors.X), y, [&] {
    const Csr<T>& on = A_.on();
    parallel::run(n_parts(), [&](int part) {
      rest_of_product(left[static_cast<std::size_t>(part)], x, y.data());
    });
    for (const LocalIndex i : frozen_) {
      y[static_cast<std::size_t>(i)] = product(on.begin(i), on.end(i), x);
    }
  });
}

/// Returns the rows where y lacks L x.
template <class T>
auto GaussSeidel<T>::backward_with_upper_product(int part, const Vectors& vectors, T* y) const
    -> Range {
  const T* const b = vectors.B.data();
  T* const x = vectors.X.data();
  const auto ahead = rows_->ahead(first_row(part), end_row(part));
  const auto inner = [&](LocalIndex first, LocalIndex last) {
    rows_->backward_with_upper(first, last, ahead, b, x, y);
  };
  const auto mixed = [&](LocalIndex i, Offset begin, Offset end) {
    relax_mixed(i, begin, end, vectors);
  };
  const auto sweep = [&](const Range& range) {
    this->for_each_run(range, Direction::backward, inner, mixed);
  };
  const auto lower = [&](LocalIndex first, LocalIndex last) {
    rows_->add_lower(first, last, ahead, x, y);
  };
  const auto follow = [&](const Range& range) {
    this->for_each_run(range, Direction::backward, lower, [](LocalIndex, Offset, Offset) {});
  };
  return this->sweep_and_follow(part, Direction::backward, sweep, follow);
}

/// Without what other ranks have to do with it.
template <class T>
void GaussSeidel<T>::rest_of_product(const Range& left, const T* x, T* y) const {
  const auto lower = [&](LocalIndex first, LocalIndex last) {
    rows_->add_lower(first, last, rows_->ahead(first, last), x, y);
  };
  const auto mixed = [&](LocalIndex i, Offset, Offset) {
    y[i] = product(A_.on().begin(i), A_.on().end(i), x);
  };
  this->follow_rest(left, lower, mixed);
}

/// What a sweep sees of others, for row i with [begin, end) at rows of its own thread.
template <class T>
T GaussSeidel<T>::product_with_others(LocalIndex i, Offset begin, Offset end,
                                      const Vectors& vectors) const {
  if (vectors.from_zero) return T{};
  const Csr<T>& on = A_.on();
  const Csr<T>& off = A_.off();
  const T* const old = vectors.old.data();
  const T sum = row_product(off.cols.data(), off.vals.data(), off.begin(i), off.end(i),
                            vectors.ghosts.data());
  return sum + row_product(on.cols.data(), on.vals.data(), on.begin(i), begin, old) +
         row_product(on.cols.data(), on.vals.data(), end, on.end(i), old);
}

/// Without pains for the memory: with several vectors a row is long.
template <class T>
void GaussSeidel<T>::sweep_rows_block(const Range& range, Direction direction,
                                      const Vectors& vectors) const {
  const Csr<T>& on = A_.on();
  const Csr<T>& off = A_.off();
  const auto w = static_cast<std::size_t>(vectors.width);
  const std::span<T> sums = this->scratch_of(range.part, vectors);
  const auto relax = [&](LocalIndex i, Offset begin, Offset end, auto is_mixed) {
    const auto u = static_cast<std::size_t>(i);
    std::fill(sums.begin(), sums.end(), T{});
    const auto add = [&](const Csr<T>& M, Offset first, Offset last, const T* X) {
      if (first < last) kernels::spmm_add_entries(M, first, last, X, w, sums.data());
    };
    add(on, begin, end, vectors.X.data());
    if (is_mixed && !vectors.from_zero) {
      add(off, off.begin(i), off.end(i), vectors.ghosts.data());
      add(on, on.begin(i), begin, vectors.old.data());
      add(on, end, on.end(i), vectors.old.data());
    }
    for (std::size_t c = 0; c < w; ++c) {
      vectors.X[u * w + c] += inverse_[u] * (vectors.B[u * w + c] - sums[c]);
    }
  };
  this->for_each_row(range, direction, relax);
}

template class GaussSeidel<float>;
template class GaussSeidel<double>;

std::span<const Field<GaussSeidelOptions>> gauss_seidel_fields() {
  static const std::vector<Field<GaussSeidelOptions>> fields = {
      field("sor_weight", &GaussSeidelOptions::sor_weight,
            "Weight of Gauss-Seidel sweeps, below 2; above 1 it is over-relaxation", 0.001, 1.999)
          .affecting(Affects::kernels),
      sweep_order_field(&GaussSeidelOptions::sweep_order),
  };
  return fields;
}

SweepOrder* gauss_seidel_order(Choice<SmootherMethod>& smoother) {
  return &smoother.options<GaussSeidelOptions>().sweep_order;
}

SweepExchanges gauss_seidel_exchanges(const Choice<SmootherMethod>& smoother) {
  switch (smoother.options<GaussSeidelOptions>().sweep_order) {
    case SweepOrder::alternating:
      return {2, 1, 2};
    case SweepOrder::symmetric:
      return {1, 0, 2};
    case SweepOrder::backward:
      return {1, 1, 1};
    default:
      return {1, 0, 1};
  }
}

template <class T>
std::unique_ptr<const Relaxation<T>> make_gauss_seidel(const matrix::DistMatrix<T>& A,
                                                       const Choice<SmootherMethod>& smoother,
                                                       const MatrixFacts& facts) {
  const auto& options = smoother.options<GaussSeidelOptions>();
  const CouplingSums<T> couplings(A, facts.scales);
  const CouplingSums<T>* const l1 = smoother->is_l1() ? &couplings : nullptr;
  if (goes_by_points(options.sweep_order)) {
    const bool both_ways = options.sweep_order == SweepOrder::coarse_fine_symmetric;
    return std::make_unique<CoarseFineGaussSeidel<T>>(A, facts.coarse_rows, options.sor_weight, l1,
                                                      both_ways);
  }
  if (A.blocks() != nullptr) {
    const PointSolve solve =
        smoother->blocks == BlockUse::always ? PointSolve::together : PointSolve::one_by_one;
    return std::make_unique<BlockGaussSeidel<T>>(A, options.sor_weight, l1, solve);
  }
  return std::make_unique<GaussSeidel<T>>(A, options.sor_weight, l1, facts);
}

template std::unique_ptr<const Relaxation<float>> make_gauss_seidel(
    const matrix::DistMatrix<float>&, const Choice<SmootherMethod>&, const MatrixFacts&);
template std::unique_ptr<const Relaxation<double>> make_gauss_seidel(
    const matrix::DistMatrix<double>&, const Choice<SmootherMethod>&, const MatrixFacts&);

const SmootherMethod& l1_gauss_seidel_method() {
  static const SmootherMethod method = {
      {"l1_gauss_seidel",
       "hybrid Gauss-Seidel with l1 terms between ranks, which converges for every symmetric "
       "positive definite matrix",
       "Baker, Falgout, Kolev, Yang 2011", own_options(gauss_seidel_fields)},
      {
          .l1_terms = L1Terms::between_parts,
          .is_safe_where_indefinite = true,
          .blocks = BlockUse::where_full,
          .needs_spectral_radius = false,
          .is_hybrid = true,
          .safe_form = "",
          .order = gauss_seidel_order,
          .exchanges = gauss_seidel_exchanges,
          .work = gauss_seidel_work,
          .in_double = make_gauss_seidel<double>,
          .in_float = make_gauss_seidel<float>,
          .knows_coarse_points = true,
          .can_save_product = true,
      }};
  return method;
}

const SmootherMethod& gauss_seidel_method() {
  static const SmootherMethod method = {
      {"gauss_seidel", "hybrid Gauss-Seidel and SOR: Jacobi between ranks",
       "Saad 2003, section 4.1", own_options(gauss_seidel_fields)},
      {
          .l1_terms = L1Terms::none,
          .is_safe_where_indefinite = false,
          .blocks = BlockUse::where_full,
          .needs_spectral_radius = false,
          .is_hybrid = true,
          .safe_form = "l1_gauss_seidel",
          .order = gauss_seidel_order,
          .exchanges = gauss_seidel_exchanges,
          .work = gauss_seidel_work,
          .in_double = make_gauss_seidel<double>,
          .in_float = make_gauss_seidel<float>,
          .knows_coarse_points = true,
          .can_save_product = true,
      }};
  return method;
}

}  // namespace nodewise::amg::relax
