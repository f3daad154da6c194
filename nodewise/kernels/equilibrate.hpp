// Scaling small dense matrices.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace nodewise::kernels {

/// Local. Factors of the rows and columns of a square matrix that bring the largest modulus in each
/// near one: Ruiz, "A scaling algorithm to equilibrate both rows and columns norms in matrices",
/// 2001. The same for rows and columns where the moduli are symmetric; 1 where all are zero.
/// `modulus(i, j)` is that of an entry.
template <class Modulus>
std::pair<std::vector<double>, std::vector<double>> equilibrating_factors(std::ptrdiff_t n,
                                                                          const Modulus& modulus) {
  constexpr int rounds = 12;  // each takes the square root of what is left to do
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> rows(size, 1.0), cols(size, 1.0);
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> in_row(size, 0.0), in_col(size, 0.0);
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t i = 0; i < size; ++i) {
        const double scaled = rows[i] * modulus(i, j) * cols[j];
        in_row[i] = std::max(in_row[i], scaled);
        in_col[j] = std::max(in_col[j], scaled);
      }
    }
    for (std::size_t i = 0; i < size; ++i) {
      if (in_row[i] > 0) rows[i] /= std::sqrt(in_row[i]);
      if (in_col[i] > 0) cols[i] /= std::sqrt(in_col[i]);
    }
  }
  return {std::move(rows), std::move(cols)};
}

}  // namespace nodewise::kernels
