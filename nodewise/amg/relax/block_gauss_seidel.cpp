#include "nodewise/amg/relax/block_gauss_seidel.hpp"

#include <algorithm>
#include <array>

#include "nodewise/amg/relax/block_inverse.hpp"
#include "nodewise/amg/relax/block_l1.hpp"
#include "nodewise/amg/relax/gauss_seidel.hpp"
#include "nodewise/amg/relax/sweep_work.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg::relax {

namespace {

using kernels::Bsr;

/// b less the blocks begin .. end times x, all of one point.
template <int B, class T>
std::array<T, B> less_product(const T* b, const Bsr<T>& A, Offset begin, Offset end, const T* x) {
  std::array<T, B> sum{};
  kernels::add_blocks_product<B>(A, begin, end, x, sum);
  for (std::size_t k = 0; k < B; ++k) sum[k] = b[k] - sum[k];
  return sum;
}

/// The same within a loop through rows, see stream_blocks_product().
template <int B, kernels::Way way = kernels::Way::upwards, class T>
std::array<T, B> less_stream(const T* b, const Bsr<T>& A, Offset begin, Offset end, Offset fetch,
                             const T* x) {
  std::array<T, B> sum{};
  kernels::stream_blocks_product<B, way>(A, begin, end, fetch, x, sum);
  for (std::size_t k = 0; k < B; ++k) sum[k] = b[k] - sum[k];
  return sum;
}

/// As many as hold blocks_ahead.
template <class T>
LocalIndex rows_ahead(const Bsr<T>& A) {
  return kernels::with_block_size(A.block, [&](auto block) {
    const Offset blocks = kernels::blocks_ahead<decltype(block)::value, T>;
    return static_cast<LocalIndex>(1 + blocks * A.n_rows / std::max<Offset>(A.n_blocks(), 1));
  });
}

/// R -= the blocks begin .. end times X, W columns of both, which lie `width` apart.
template <int B, std::size_t W, class T>
void subtract_columns(const Bsr<T>& A, Offset begin, Offset end, const T* X, T* R,
                      std::size_t width) {
  std::array<std::array<T, W>, B> sums{};
  kernels::add_blocks_product<B, W>(A, begin, end, X, width, sums);
  for (std::size_t r = 0; r < B; ++r) {
    for (std::size_t c = 0; c < W; ++c) R[r * width + c] -= sums[r][c];
  }
}

/// The same of all columns.
template <int B, class T>
void subtract_product(const Bsr<T>& A, Offset begin, Offset end, std::span<const T> X,
                      std::span<T> R, std::size_t width) {
  if (begin == end) return;  // X may have no rows, and no address
  std::size_t c = 0;
  for (; c + 4 <= width; c += 4) {
    subtract_columns<B, 4>(A, begin, end, X.data() + c, R.data() + c, width);
  }
  for (; c < width; ++c) {
    subtract_columns<B, 1>(A, begin, end, X.data() + c, R.data() + c, width);
  }
}

template <class T>
Array<T> inverses_of(const matrix::DistMatrix<T>& A, double weight, const CouplingSums<T>* l1,
                     PointSolve solve, std::span<const LocalIndex> parts) {
  if (solve == PointSolve::one_by_one) {
    return inverse_diagonal_triangles<T>(
        A, weight, l1 ? truncated_half_sums_of_rows(A, *l1, parts, weight) : std::vector<double>());
  }
  return inverse_diagonal_blocks<T>(
      A, weight, l1 ? truncated_half_sums(A, *l1, parts, weight) : std::vector<double>());
}

}  // namespace

template <class T>
BlockGaussSeidel<T>::BlockGaussSeidel(const matrix::DistMatrix<T>& A, double weight,
                                      const CouplingSums<T>* l1, PointSolve solve)
    : HybridSweeps<T>(A, {A.blocks()->on().row_ptr, A.blocks()->on().cols,
                          A.blocks()->off().row_ptr, A.blocks()->exchange(), A.blocks()->block()}),
      solve_(solve),
      inverse_(inverses_of(A, weight, l1, solve, this->parts())),
      diagonal_(diagonal_places(A.blocks()->on())),
      ahead_(rows_ahead(A.blocks()->on())) {
  this->plan_passes(Direction::forward);
}

template <class T>
std::size_t BlockGaussSeidel<T>::memory_bytes() const {
  return HybridSweeps<T>::memory_bytes() + inverse_.size() * sizeof(T) +
         diagonal_.size() * sizeof(Offset);
}

template <class T>
LocalIndex BlockGaussSeidel<T>::later(LocalIndex i, Direction direction) const {
  return direction == Direction::forward ? i + std::min(ahead_, A_.blocks()->on().n_rows - 1 - i)
                                         : i - std::min(ahead_, i);
}

/// M's diagonal block of point i in a direction, inverted, times r.
template <class T>
template <int B>
std::array<T, B> BlockGaussSeidel<T>::solve_point(LocalIndex i, Direction direction,
                                                  const T* r) const {
  const T* const inverse = inverse_.data() + static_cast<std::size_t>(i) * B * B;
  std::array<T, B> x{};
  if (solve_ == PointSolve::together) {
    kernels::add_block_product<B>(inverse, r, x);
  } else if (direction == Direction::forward) {
    for (std::size_t k = 0; k < B; ++k) {
      for (std::size_t c = 0; c <= k; ++c) x[k] += inverse[k * B + c] * r[c];
    }
  } else {
    for (std::size_t k = 0; k < B; ++k) {
      for (std::size_t c = k; c < B; ++c) x[k] += inverse[k * B + c] * r[c];
    }
  }
  return x;
}

/// The forward sweep from x = 0, and where r is not null what the blocks up to the diagonal leave
/// of b.
template <class T>
template <int B>
void BlockGaussSeidel<T>::sweep_from_zero(const Range& range, const T* b, T* x, T* r) const {
  const Bsr<T>& on = A_.blocks()->on();
  const auto relax = [&](LocalIndex i, Offset begin, Offset, auto) {
    const auto at = static_cast<std::size_t>(i) * B;
    const Offset place = diagonal_[static_cast<std::size_t>(i)];
    const Offset fetch = on.begin(later(i, Direction::forward));
    const auto left = less_stream<B>(b + at, on, begin, place, fetch, x);
    const auto solved = solve_point<B>(i, Direction::forward, left.data());
    std::copy(solved.begin(), solved.end(), x + at);
    if (r == nullptr) return;
    const Offset behind = has_diagonal(on, i, place) ? place + 1 : place;
    const auto residual = less_product<B>(left.data(), on, place, behind, x);
    std::copy(residual.begin(), residual.end(), r + at);
  };
  this->for_each_row(range, Direction::forward, relax);
}

/// r -= the blocks above the diagonal in the rows from first to last, times x.
template <class T>
template <int B>
void BlockGaussSeidel<T>::subtract_above(LocalIndex first, LocalIndex last, const T* x,
                                         T* r) const {
  const Bsr<T>& on = A_.blocks()->on();
  for (LocalIndex i = first; i < last; ++i) {
    const auto at = static_cast<std::size_t>(i) * B;
    const Offset place = diagonal_[static_cast<std::size_t>(i)];
    const Offset behind = has_diagonal(on, i, place) ? place + 1 : place;
    const Offset fetch = diagonal_[static_cast<std::size_t>(later(i, Direction::forward))] + 1;
    const auto left = less_stream<B>(r + at, on, behind, on.end(i), fetch, x);
    std::copy(left.begin(), left.end(), r + at);
  }
}

/// Returns the rows whose r has still to lose the blocks above the diagonal.
template <class T>
template <int B>
auto BlockGaussSeidel<T>::sweep_from_zero_with_residual(int part, const T* b, T* x, T* r) const
    -> Range {
  const auto sweep = [&](const Range& range) { sweep_from_zero<B>(range, b, x, r); };
  const auto above = [&](LocalIndex first, LocalIndex last) {
    subtract_above<B>(first, last, x, r);
  };
  const auto follow = [&](const Range& range) {
    this->for_each_run(range, Direction::forward, above, [](LocalIndex, Offset, Offset) {});
  };
  return this->sweep_and_follow(part, Direction::forward, sweep, follow);
}

/// r -= the blocks of this rank that have been left out so far, times x.
template <class T>
template <int B>
void BlockGaussSeidel<T>::rest_of_residual(const Range& left, const T* x, T* r) const {
  const Bsr<T>& on = A_.blocks()->on();
  const auto above = [&](LocalIndex first, LocalIndex last) {
    subtract_above<B>(first, last, x, r);
  };
  const auto mixed = [&](LocalIndex i, Offset begin, Offset) {
    above(i, i + 1);
    T* const of_row = r + static_cast<std::size_t>(i) * B;
    const auto rest = less_product<B>(of_row, on, on.begin(i), begin, x);
    std::copy(rest.begin(), rest.end(), of_row);
  };
  this->follow_rest(left, above, mixed);
}

template <class T>
void BlockGaussSeidel<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  kernels::with_block_size(A_.blocks()->block(), [&](auto block) {
    constexpr int B = decltype(block)::value;
    parallel::run(n_parts(), [&](int part) {
      sweep_from_zero<B>(this->all_of(part), b.data(), x.data(), nullptr);
    });
  });
}

/// After a sweep from zero b - (D + L) x is at hand, row by row, so that only the upper half of the
/// matrix is left to be read: for most rows while it is in a cache.
template <class T>
void BlockGaussSeidel<T>::first_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                                    std::span<T> r) const {
  const matrix::BlockMatrix<T>& A = *A_.blocks();
  kernels::with_block_size(A.block(), [&](auto block) {
    constexpr int B = decltype(block)::value;
    std::array<Range, parallel::max_threads> left;
    parallel::run(n_parts(), [&](int part) {
      left[static_cast<std::size_t>(part)] =
          sweep_from_zero_with_residual<B>(part, b.data(), x.data(), r.data());
    });
    const mpi::Scope scope(A_.comm(), "residual");
    matrix::add_ghost_blocks_product(T{-1}, A, std::span<const T>(x), r, 1, [&] {
      parallel::run(n_parts(), [&](int part) {
        rest_of_residual<B>(left[static_cast<std::size_t>(part)], x.data(), r.data());
      });
    });
  });
}

template <class T>
void BlockGaussSeidel<T>::sweep_rows(const Range& range, Direction direction,
                                     const Vectors& vectors) const {
  kernels::with_block_size(A_.blocks()->block(), [&](auto block) {
    constexpr int B = decltype(block)::value;
    if (vectors.width == 1) {
      sweep_points<B>(range, direction, vectors);
    } else {
      sweep_points_block<B>(range, direction, vectors);
    }
  });
}

template <class T>
template <int B>
void BlockGaussSeidel<T>::sweep_points(const Range& range, Direction direction,
                                       const Vectors& vectors) const {
  const Bsr<T>& on = A_.blocks()->on();
  const Bsr<T>& off = A_.blocks()->off();
  const T* const old = vectors.old.data();
  T* const x = vectors.X.data();
  const auto relax = [&](LocalIndex i, Offset begin, Offset end, auto is_mixed) {
    const auto at = static_cast<std::size_t>(i) * B;
    const T* const b = vectors.B.data() + at;
    const LocalIndex next = later(i, direction);
    auto r = direction == Direction::forward
                 ? less_stream<B>(b, on, begin, end, on.begin(next), x)
                 : less_stream<B, kernels::Way::downwards>(b, on, begin, end,
                                                           on.end(next) - (end - begin), x);
    if (is_mixed && !vectors.from_zero) {
      r = less_product<B>(r.data(), off, off.begin(i), off.end(i), vectors.ghosts.data());
      r = less_product<B>(r.data(), on, on.begin(i), begin, old);
      r = less_product<B>(r.data(), on, end, on.end(i), old);
    }
    const auto step = solve_point<B>(i, direction, r.data());
    for (std::size_t k = 0; k < B; ++k) x[at + k] += step[k];
  };
  this->for_each_row(range, direction, relax);
}

template <class T>
template <int B>
void BlockGaussSeidel<T>::sweep_points_block(const Range& range, Direction direction,
                                             const Vectors& vectors) const {
  const Bsr<T>& on = A_.blocks()->on();
  const Bsr<T>& off = A_.blocks()->off();
  const auto w = static_cast<std::size_t>(vectors.width);
  const std::span<T> R = this->scratch_of(range.part, vectors);
  const bool is_lower = solve_ == PointSolve::one_by_one && direction == Direction::forward;
  const bool is_upper = solve_ == PointSolve::one_by_one && direction == Direction::backward;
  const auto relax = [&](LocalIndex i, Offset begin, Offset end, auto is_mixed) {
    const std::size_t at = static_cast<std::size_t>(i) * B;
    std::copy_n(vectors.B.data() + at * w, B * w, R.data());
    subtract_product<B, T>(on, begin, end, vectors.X, R, w);
    if (is_mixed && !vectors.from_zero) {
      subtract_product<B, T>(off, off.begin(i), off.end(i), vectors.ghosts, R, w);
      subtract_product<B, T>(on, on.begin(i), begin, vectors.old, R, w);
      subtract_product<B, T>(on, end, on.end(i), vectors.old, R, w);
    }
    for (std::size_t r = 0; r < B; ++r) {
      for (std::size_t k = is_upper ? r : 0; k < (is_lower ? r + 1 : B); ++k) {
        const T m = inverse_[(at + r) * B + k];
        for (std::size_t c = 0; c < w; ++c) vectors.X[(at + r) * w + c] += m * R[k * w + c];
      }
    }
  };
  this->for_each_row(range, direction, relax);
}

template class BlockGaussSeidel<float>;
template class BlockGaussSeidel<double>;

const SmootherMethod& l1_block_gauss_seidel_method() {
  static const SmootherMethod method = {
      {"l1_block_gauss_seidel", "l1_gauss_seidel for all unknowns of a point at once",
       "Baker, Falgout, Kolev, Yang 2011", own_options(gauss_seidel_fields)},
      {
          .l1_terms = L1Terms::between_parts,
          .is_safe_where_indefinite = false,
          .blocks = BlockUse::always,
          .needs_spectral_radius = false,
          .is_hybrid = true,
          .safe_form = "",
          .order = gauss_seidel_order,
          .exchanges = gauss_seidel_exchanges,
          .work = gauss_seidel_work,
          .in_double = make_gauss_seidel<double>,
          .in_float = make_gauss_seidel<float>,
          .can_save_product = true,
      }};
  return method;
}

const SmootherMethod& block_gauss_seidel_method() {
  static const SmootherMethod method = {
      {"block_gauss_seidel", "Gauss-Seidel for all unknowns of a point at once",
       "Saad 2003, section 4.1.1", own_options(gauss_seidel_fields)},
      {
          .l1_terms = L1Terms::none,
          .is_safe_where_indefinite = false,
          .blocks = BlockUse::always,
          .needs_spectral_radius = false,
          .is_hybrid = true,
          .safe_form = "l1_block_gauss_seidel",
          .order = gauss_seidel_order,
          .exchanges = gauss_seidel_exchanges,
          .work = gauss_seidel_work,
          .in_double = make_gauss_seidel<double>,
          .in_float = make_gauss_seidel<float>,
          .can_save_product = true,
      }};
  return method;
}

}  // namespace nodewise::amg::relax
