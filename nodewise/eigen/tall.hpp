// Operations on this rank's part of tall blocks of any widths: vectors side by side, row-major.
// Small matrices are row-major, too. Sums are the same on any number of threads. All local but for
// apply_columns().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nodewise/comm/layout.hpp"
#include "nodewise/solve/operator.hpp"

namespace nodewise::eigen {

/// `width` vectors of n rows.
struct ConstTall {
  std::span<const double> values;
  std::size_t width = 0;
  std::size_t rows() const { return width == 0 ? 0 : values.size() / width; }
};

/// C[a * Y.width + b] = X_a . Y_b, this rank's part.
void gram_local(ConstTall X, ConstTall Y, std::span<double> C);

/// Y += sign X C, with C of X.width x width numbers.
void add_product(ConstTall X, std::span<const double> C, double sign, std::size_t width,
                 std::span<double> Y);

/// sums[c] = the part of the square of the norm of X_c.
void squares_local(ConstTall X, std::span<double> sums);

/// Random numbers hashed from the global row, the column and the seed, in [-1, 1): the same on any
/// number of ranks.
void fill_random(const comm::Layout& rows, std::uint64_t seed, std::size_t width,
                 std::span<double> X);

/// Collective. Y = A X in blocks of at most solve::max_block_width columns, each one exchange;
/// returns how many. `work` has room for two vectors.
int apply_columns(const solve::Operator<double>& A, ConstTall X, std::span<double> Y,
                  std::span<double> work);

}  // namespace nodewise::eigen
