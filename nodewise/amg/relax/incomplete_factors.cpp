#include "nodewise/amg/relax/incomplete_factors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "nodewise/amg/relax/block_steps.hpp"
#include "nodewise/amg/relax/fill_pattern.hpp"
#include "nodewise/amg/relax/floored_inverse.hpp"
#include "nodewise/amg/relax/threshold_row.hpp"

namespace nodewise::amg::relax {

namespace {

using kernels::Bsr;

/// What pivots, whose rows have entries of about one, are not smaller than.
constexpr double pivot_floor = 1e-4;
constexpr Offset no_place = -1;

/// Calls f(std::integral_constant<int, block>{}), also for blocks of one row.
template <class F>
void with_block(int block, F&& f) {
  if (block == 1) return f(std::integral_constant<int, 1>{});
  kernels::with_block_size(block, std::forward<F>(f));
}

kernels::Csr<double> pattern_of(const Bsr<double>& A) {
  kernels::Csr<double> pattern;
  pattern.n_rows = A.n_rows;
  pattern.n_cols = A.n_cols;
  pattern.row_ptr = A.row_ptr;
  pattern.cols = A.cols;
  return pattern;
}

std::vector<Offset> ends_of_diagonals(const Bsr<double>& A) {
  std::vector<Offset> ends;
  ends.reserve(static_cast<std::size_t>(A.n_rows));
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    const auto begin = A.cols.begin() + A.begin(i), end = A.cols.begin() + A.end(i);
    ends.push_back(A.begin(i) + (std::lower_bound(begin, end, i) - begin) + 1);
  }
  return ends;
}

/// Zeros where it is not there.
template <int B>
void copy_diagonal(const Bsr<double>& A, LocalIndex i, double* to) {
  const auto begin = A.cols.begin() + A.begin(i), end = A.cols.begin() + A.end(i);
  const auto place = std::lower_bound(begin, end, i);
  if (place == end || *place != i) {
    std::fill_n(to, B * B, 0.0);
  } else {
    std::copy_n(A.vals.data() + (place - A.cols.begin()) * (B * B), B * B, to);
  }
}

}  // namespace

IncompleteFactors::IncompleteFactors(const Bsr<double>& A, const FillRule& rule) : rule_(rule) {
  factors_.block = A.block;
  factors_.n_rows = factors_.n_cols = A.n_rows;
  if (rule_.drop == 0) {
    kernels::Csr<double> pattern = fill_pattern(pattern_of(A), rule_.levels);
    factors_.row_ptr = std::move(pattern.row_ptr);
    factors_.cols = std::move(pattern.cols);
    upper_ = ends_of_diagonals(factors_);
    find_levels();
  }
  factorise(A);
}

void IncompleteFactors::find_levels() {
  const kernels::Csr<double> pattern = pattern_of(factors_);
  below_.emplace(pattern, Triangle::lower);
  above_.emplace(pattern, Triangle::upper);
}

void IncompleteFactors::factorise(const Bsr<double>& A) {
  inverse_.resize(static_cast<std::size_t>(A.n_rows) * A.block_entries());
  is_changed_.assign(static_cast<std::size_t>(A.n_rows), 0);
  with_block(A.block, [&](auto size) {
    constexpr int B = decltype(size)::value;
    if (rule_.drop == 0) {
      factorise_within_pattern<B>(A);
    } else {
      factorise_by_size<B>(A);
    }
  });
  if (rule_.drop != 0) find_levels();
}

template <int B>
void IncompleteFactors::factorise_within_pattern(const Bsr<double>& A) {
  factors_.vals.resize(factors_.cols.size() * B * B);
  const std::vector<Offset> nowhere(static_cast<std::size_t>(A.n_rows), no_place);
  const std::size_t parts =
      below_->n_levels() > 0 ? static_cast<std::size_t>(parallel::threads()) : 1;
  std::vector<std::vector<Offset>> places(parts, nowhere);
  below_->for_each([&](LocalIndex i, int part) {
    factorise_row<B>(A, i, places[static_cast<std::size_t>(part)]);
    end_row<B>(A, i, factors_.begin(i), factors_.end(i));
  });
}

/// In the IKJ form: a row is reduced by those rows above it that it has entries for. `place` is
/// room for the places of the row's entries by column, and left as it was.
template <int B>
void IncompleteFactors::factorise_row(const Bsr<double>& A, LocalIndex i, std::span<Offset> place) {
  constexpr Offset size = B * B;
  const LocalIndex* const cols = std::as_const(factors_.cols).data();
  double* const vals = factors_.vals.data();
  const Offset begin = factors_.begin(i), end = factors_.end(i);
  for (Offset p = begin; p < end; ++p) place[static_cast<std::size_t>(cols[p])] = p;
  std::fill(vals + begin * size, vals + end * size, 0.0);
  for (Offset p = A.begin(i); p < A.end(i); ++p) {
    const auto j = static_cast<std::size_t>(A.cols[static_cast<std::size_t>(p)]);
    std::copy_n(A.vals.data() + p * size, size, vals + place[j] * size);
  }
  for (Offset p = begin; cols[p] < i; ++p) {
    const auto k = static_cast<std::size_t>(cols[p]);
    multiply_from_right<B>(vals + p * size, inverse_.data() + k * size);
    for (Offset q = upper_[k]; q < factors_.end(cols[p]); ++q) {
      const Offset at = place[static_cast<std::size_t>(cols[q])];
      if (at != no_place) subtract_product<B>(vals + p * size, vals + q * size, vals + at * size);
    }
  }
  for (Offset p = begin; p < end; ++p) place[static_cast<std::size_t>(cols[p])] = no_place;
}

template <int B>
void IncompleteFactors::factorise_by_size(const Bsr<double>& A) {
  Array<Offset> row_ptr = {0};
  Array<LocalIndex> cols;
  Array<double>& vals = factors_.vals;
  vals.clear();
  upper_.clear();
  ThresholdRow<B> row(A.n_rows, rule_.drop, rule_.fill);
  const auto for_upper = [&](LocalIndex k, const auto& subtract) {
    const auto u = static_cast<std::size_t>(k);
    for (auto q = static_cast<std::size_t>(upper_[u]); std::cmp_less(q, row_ptr[u + 1]); ++q) {
      subtract(cols[q], vals.data() + q * B * B);
    }
  };
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    row.begin(A, i);
    row.eliminate(inverse_, for_upper);
    upper_.push_back(row.append_to(cols, vals));
    const Offset begin = row_ptr.back();
    row_ptr.push_back(static_cast<Offset>(cols.size()));
    end_row<B>(A, i, begin, row_ptr.back());
  }
  factors_.row_ptr = std::move(row_ptr);
  factors_.cols = std::move(cols);
}

/// Inverts the pivot of the row whose entries are at begin .. end.
template <int B>
void IncompleteFactors::end_row(const Bsr<double>& A, LocalIndex i, Offset begin, Offset end) {
  constexpr Offset size = B * B;
  const auto u = static_cast<std::size_t>(i);
  double* const vals = factors_.vals.data();
  double* const pivot = inverse_.data() + i * size;
  const auto is_finite = [](const double* from, const double* to) {
    return std::all_of(from, to, [](double value) { return std::isfinite(value); });
  };
  if (is_finite(vals + begin * size, vals + end * size)) {
    std::copy_n(vals + (upper_[u] - 1) * size, size, pivot);
  } else {
    std::fill(vals + begin * size, vals + end * size, 0.0);
    copy_diagonal<B>(A, i, pivot);
    is_changed_[u] = 1;
  }
  if (invert_floored({pivot, B * B}, B, pivot_floor)) is_changed_[u] = 1;
}

template <int B>
void IncompleteFactors::solve_one(double* x) const {
  const auto row_of = [&](LocalIndex i) { return x + Offset{i} * B; };
  below_->for_each([&](LocalIndex i, int) {
    std::array<double, B> sum{};
    kernels::add_blocks_product<B>(factors_, factors_.begin(i),
                                   upper_[static_cast<std::size_t>(i)] - 1, x, sum);
    for (std::size_t r = 0; r < B; ++r) row_of(i)[r] -= sum[r];
  });
  above_->for_each([&](LocalIndex i, int) {
    std::array<double, B> sum{}, right, result{};
    kernels::add_blocks_product<B>(factors_, upper_[static_cast<std::size_t>(i)], factors_.end(i),
                                   x, sum);
    for (std::size_t r = 0; r < B; ++r) right[r] = row_of(i)[r] - sum[r];
    kernels::add_block_product<B>(inverse_.data() + Offset{i} * (B * B), right.data(), result);
    std::copy_n(result.data(), B, row_of(i));
  });
}

/// The columns in groups, so that their sums stay in registers.
template <int B, int W>
void IncompleteFactors::solve_group(double* X, std::size_t width) const {
  using Sums = std::array<std::array<double, W>, B>;
  const auto row_of = [&](LocalIndex i) { return X + static_cast<std::size_t>(i) * B * width; };
  const auto less = [&](LocalIndex i, Offset begin, Offset end) {
    Sums sums{};
    kernels::add_blocks_product<B, W>(factors_, begin, end, static_cast<const double*>(X), width,
                                      sums);
    for (std::size_t r = 0; r < B; ++r) {
      for (std::size_t c = 0; c < W; ++c) sums[r][c] = row_of(i)[r * width + c] - sums[r][c];
    }
    return sums;
  };
  below_->for_each([&](LocalIndex i, int) {
    const Sums rest = less(i, factors_.begin(i), upper_[static_cast<std::size_t>(i)] - 1);
    for (std::size_t r = 0; r < B; ++r) {
      std::copy_n(rest[r].data(), W, row_of(i) + r * width);
    }
  });
  above_->for_each([&](LocalIndex i, int) {
    const Sums rest = less(i, upper_[static_cast<std::size_t>(i)], factors_.end(i));
    const double* const inverse = inverse_.data() + Offset{i} * (B * B);
    for (std::size_t r = 0; r < B; ++r) {
      for (std::size_t c = 0; c < W; ++c) {
        double sum = 0;
        for (std::size_t k = 0; k < B; ++k) sum += inverse[r * B + k] * rest[k][c];
        row_of(i)[r * width + c] = sum;
      }
    }
  });
}

void IncompleteFactors::solve(std::span<double> X, int width) const {
  constexpr int group = 4;
  if (X.empty()) return;
  with_block(factors_.block, [&](auto size) {
    constexpr int B = decltype(size)::value;
    if (width == 1) return solve_one<B>(X.data());
    int c = 0;
    const auto w = static_cast<std::size_t>(width);
    for (; c + group <= width; c += group) solve_group<B, group>(X.data() + c, w);
    for (; c < width; ++c) solve_group<B, 1>(X.data() + c, w);
  });
}

Offset IncompleteFactors::n_entries() const {
  return static_cast<Offset>(factors_.vals.size());
}

LocalIndex IncompleteFactors::n_changed() const {
  return static_cast<LocalIndex>(std::count(is_changed_.begin(), is_changed_.end(), 1));
}

}  // namespace nodewise::amg::relax
