#include "nodewise/eigen/tall.hpp"

#include <algorithm>
#include <array>

#include "nodewise/base/array.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/block_ops.hpp"
#include "nodewise/solve/sums_in_pieces.hpp"

namespace nodewise::eigen {

namespace {

/// Columns of either block whose products are summed together: few enough sums that threads share.
constexpr std::size_t gram_tile = 8;

void gram_of_tile(ConstTall X, ConstTall Y, std::size_t a0, std::size_t b0, std::span<double> C) {
  const std::size_t na = std::min(gram_tile, X.width - a0);
  const std::size_t nb = std::min(gram_tile, Y.width - b0);
  std::array<double, gram_tile * gram_tile> sums;
  const auto add = [&](std::size_t begin, std::size_t end, std::span<double> into) {
    for (std::size_t i = begin; i < end; ++i) {
      const double* const x = X.values.data() + i * X.width + a0;
      const double* const y = Y.values.data() + i * Y.width + b0;
      for (std::size_t a = 0; a < na; ++a) {
        for (std::size_t b = 0; b < nb; ++b) into[a * nb + b] += x[a] * y[b];
      }
    }
  };
  solve::sum_in_pieces(X.rows(), na * nb, std::span(sums).first(na * nb), add);
  for (std::size_t a = 0; a < na; ++a) {
    for (std::size_t b = 0; b < nb; ++b) C[(a0 + a) * Y.width + b0 + b] = sums[a * nb + b];
  }
}

/// Copies columns [first, first + count) of X, and back.
void take_columns(ConstTall X, std::size_t first, std::size_t count, std::span<double> part) {
  solve::for_ranges(X.rows(), count, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::copy_n(X.values.data() + i * X.width + first, count, part.data() + i * count);
    }
  });
}
void put_columns(std::span<const double> part, std::size_t first, std::size_t count,
                 std::size_t width, std::span<double> Y) {
  solve::for_ranges(part.size() / count, count, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::copy_n(part.data() + i * count, count, Y.data() + i * width + first);
    }
  });
}

}  // namespace

void gram_local(ConstTall X, ConstTall Y, std::span<double> C) {
  for (std::size_t a = 0; a < X.width; a += gram_tile) {
    for (std::size_t b = 0; b < Y.width; b += gram_tile) gram_of_tile(X, Y, a, b, C);
  }
}

void add_product(ConstTall X, std::span<const double> C, double sign, std::size_t width,
                 std::span<double> Y) {
  if (width == 0) return;
  solve::for_ranges(X.rows(), X.width * width, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double* const y = Y.data() + i * width;
      for (std::size_t a = 0; a < X.width; ++a) {
        const double x = sign * X.values[i * X.width + a];
        const double* const c = C.data() + a * width;
        for (std::size_t b = 0; b < width; ++b) y[b] += x * c[b];
      }
    }
  });
}

void squares_local(ConstTall X, std::span<double> sums) {
  const auto add = [&](std::size_t begin, std::size_t end, std::span<double> into) {
    for (std::size_t i = begin; i < end; ++i) {
      const double* const x = X.values.data() + i * X.width;
      for (std::size_t c = 0; c < X.width; ++c) into[c] += x[c] * x[c];
    }
  };
  solve::sum_in_pieces(X.rows(), X.width, sums, add);
}

void fill_random(const comm::Layout& rows, std::uint64_t seed, std::size_t width,
                 std::span<double> X) {
  const auto n = static_cast<std::size_t>(rows.n_local());
  solve::for_ranges(n, width, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto key = static_cast<std::uint64_t>(rows.to_global(static_cast<LocalIndex>(i)));
      for (std::size_t c = 0; c < width; ++c) {
        X[i * width + c] = 2 * hash_uniform(key, hash64(seed, c)) - 1;
      }
    }
  });
}

int apply_columns(const solve::Operator<double>& A, ConstTall X, std::span<double> Y,
                  std::span<double> work) {
  constexpr std::size_t most = solve::max_block_width;
  if (X.width == 0) return 0;
  if (X.width <= most) {
    A.apply_block(X.values, Y, static_cast<int>(X.width), work);
    return 1;
  }
  Array<double> x, y;
  const std::size_t rows = static_cast<std::size_t>(A.layout().n_local());
  mpi::collectively(A.layout().comm(), [&] {
    x.resize(rows * most);
    y.resize(rows * most);
  });
  int calls = 0;
  for (std::size_t first = 0; first < X.width; first += most, ++calls) {
    const std::size_t count = std::min(most, X.width - first);
    const std::span<double> in = std::span(x).first(rows * count);
    const std::span<double> out = std::span(y).first(rows * count);
    take_columns(X, first, count, in);
    A.apply_block(in, out, static_cast<int>(count), work);
    put_columns(out, first, count, X.width, Y);
  }
  return calls;
}

}  // namespace nodewise::eigen
