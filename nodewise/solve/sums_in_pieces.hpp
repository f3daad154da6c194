// Loops over the rows of vectors and blocks of them on threads, and sums that do not depend on
// these.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "nodewise/base/parallel.hpp"

namespace nodewise::solve {

/// Calls f(begin, end) for ranges of n rows, each of which is work for `width`.
template <class F>
void for_ranges(std::size_t n, std::size_t width, F&& f) {
  const int parts = parallel::parts_of(n * width);
  parallel::run(parts, [&](int part) {
    f(parallel::equal_part(n, parts, part), parallel::equal_part(n, parts, part + 1));
  });
}

namespace detail {

constexpr std::size_t most_partial_sums = 2048;

/// Returns the number of pieces that sums over rows are made in: a function of the sizes alone.
inline std::size_t n_pieces(std::size_t n, std::size_t width, std::size_t n_sums) {
  constexpr std::size_t most_pieces = 32;
  constexpr std::size_t least_work_of_a_piece = 8192;
  const std::size_t fit = most_partial_sums / std::max<std::size_t>(n_sums, 1);
  return std::max<std::size_t>(std::min({most_pieces, fit, n * width / least_work_of_a_piece}), 1);
}

}  // namespace detail

/// sums = those over n rows of what f(begin, end, sums) adds for rows begin .. end. They are made
/// in pieces, and these added in their order, in which the number of threads has no part: it never
/// changes the result.
template <class F>
void sum_in_pieces(std::size_t n, std::size_t width, std::span<double> sums, F&& f) {
  std::fill(sums.begin(), sums.end(), 0.0);
  const std::size_t pieces = detail::n_pieces(n, width, sums.size());
  if (pieces == 1) return f(std::size_t{0}, n, sums);
  std::array<double, detail::most_partial_sums> partial;
  const auto of_piece = [&](std::size_t piece) {
    return std::span(partial).subspan(piece * sums.size(), sums.size());
  };
  const int all = static_cast<int>(pieces);
  const int parts = std::min(parallel::parts_of(n * width), all);
  parallel::run(parts, [&](int part) {
    for (int piece = all * part / parts; piece < all * (part + 1) / parts; ++piece) {
      const std::span<double> mine = of_piece(static_cast<std::size_t>(piece));
      std::fill(mine.begin(), mine.end(), 0.0);
      f(parallel::equal_part(n, all, piece), parallel::equal_part(n, all, piece + 1), mine);
    }
  });
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::span<const double> mine = of_piece(piece);
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += mine[k];
  }
}

}  // namespace nodewise::solve
