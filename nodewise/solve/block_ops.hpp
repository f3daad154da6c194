// Operations on this rank's part of blocks: `width` vectors side by side, row-major. Sums are
// accumulated in double; what they are of all ranks comes from sum_parts(). All local.
#pragma once

#include <cstddef>
#include <span>

namespace nodewise::solve {

/// The most columns of a block.
inline constexpr std::size_t max_block_width = 64;

/// Column c of X, contiguous in x, and back.
template <class T>
void get_column(std::span<const T> X, std::size_t width, std::size_t c, std::span<T> x);
template <class T>
void set_column(std::span<const T> x, std::size_t width, std::size_t c, std::span<T> X);

/// x += alpha X_c.
template <class T>
void add_column(double alpha, std::span<const T> X, std::size_t width, std::size_t c,
                std::span<T> x);

/// dots[c] = X_c . Y_c for each column c; the width is the length of dots.
template <class T>
void dot_columns(std::span<const T> X, std::span<const T> Y, std::span<double> dots);

/// dots[c] = x . Y_c, likewise.
template <class T>
void dot_with_columns(std::span<const T> x, std::span<const T> Y, std::span<double> dots);

/// P_c = Z_c + beta[c] P_c; a column of P whose beta is 0 is not read.
template <class T>
void xpby_columns(std::span<const T> Z, std::span<const double> beta, std::span<T> P);

/// R_c -= alpha[c] Q_c, and rr[c] = R_c . R_c.
template <class T>
void update_columns(std::span<const double> alpha, std::span<const T> Q, std::span<T> R,
                    std::span<double> rr);

/// gram[a * width + b] = X_a . Y_b.
template <class T>
void gram(std::span<const T> X, std::span<const T> Y, std::size_t width, std::span<double> gram);

/// X = X S with a width x width matrix S, row-major.
template <class T>
void multiply_columns(std::span<const double> S, std::size_t width, std::span<T> X);

/// Y -= X S, likewise.
template <class T>
void subtract_product(std::span<const T> X, std::span<const double> S, std::size_t width,
                      std::span<T> Y);

/// y += X s, with one number of s for each column.
template <class T>
void add_combination(std::span<const T> X, std::span<const double> s, std::span<T> y);

/// y = the sum of the columns of X; returns y . y.
template <class T>
double sum_columns(std::span<const T> X, std::size_t width, std::span<T> y);

}  // namespace nodewise::solve
