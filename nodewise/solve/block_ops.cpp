#include "nodewise/solve/block_ops.hpp"

#include <algorithm>
#include <array>

#include "nodewise/base/parallel.hpp"

namespace nodewise::solve {

namespace {

template <class T>
std::size_t rows(std::span<T> X, std::size_t width) {
  return width == 0 ? 0 : X.size() / width;
}

/// Calls f(begin, end) for ranges of n rows, each of which is work for `width`.
template <class F>
void for_rows(std::size_t n, std::size_t width, F&& f) {
  const int parts = parallel::parts_of(n * width);
  parallel::run(parts, [&](int part) {
    f(parallel::equal_part(n, parts, part), parallel::equal_part(n, parts, part + 1));
  });
}

constexpr std::size_t most_pieces = 32;
constexpr std::size_t most_partial_sums = 2048;
constexpr std::size_t least_work_of_a_piece = 8192;

/// How many pieces sums over rows are made in: a function of the sizes alone.
std::size_t n_pieces(std::size_t n, std::size_t width, std::size_t n_sums) {
  const std::size_t fit = most_partial_sums / std::max<std::size_t>(n_sums, 1);
  return std::max<std::size_t>(std::min({most_pieces, fit, n * width / least_work_of_a_piece}), 1);
}

/// sums = those over n rows of what f(begin, end, sums) adds for rows begin .. end. They are made
/// in pieces, and these added in their order, in which the number of threads has no part: it never
/// changes the result.
template <class F>
void sum_rows(std::size_t n, std::size_t width, std::span<double> sums, F&& f) {
  std::fill(sums.begin(), sums.end(), 0.0);
  const std::size_t pieces = n_pieces(n, width, sums.size());
  if (pieces == 1) return f(std::size_t{0}, n, sums);
  std::array<double, most_partial_sums> partial;
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

/// Adds term(place) of every entry to the sum of its column.
template <class Term>
void sum_columns_of(std::size_t n, std::span<double> sums, Term term) {
  const std::size_t w = sums.size();
  sum_rows(n, w, sums, [=](std::size_t begin, std::size_t end, std::span<double> into) {
    std::array<double, max_block_width> kept{};  // which nothing else can name
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t c = 0; c < w; ++c) kept[c] += term(i * w + c, c);
    }
    for (std::size_t c = 0; c < w; ++c) into[c] += kept[c];
  });
}

}  // namespace

template <class T>
void get_column(std::span<const T> X, std::size_t width, std::size_t c, std::span<T> x) {
  for_rows(x.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) x[i] = X[i * width + c];
  });
}

template <class T>
void set_column(std::span<const T> x, std::size_t width, std::size_t c, std::span<T> X) {
  for_rows(x.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) X[i * width + c] = x[i];
  });
}

template <class T>
void add_column(double alpha, std::span<const T> X, std::size_t width, std::size_t c,
                std::span<T> x) {
  const T a = static_cast<T>(alpha);
  for_rows(x.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) x[i] += a * X[i * width + c];
  });
}

template <class T>
void dot_columns(std::span<const T> X, std::span<const T> Y, std::span<double> dots) {
  const T* const x = X.data();
  const T* const y = Y.data();
  sum_columns_of(rows(X, dots.size()), dots, [=](std::size_t k, std::size_t) {
    return static_cast<double>(x[k]) * static_cast<double>(y[k]);
  });
}

template <class T>
void xpby_columns(std::span<const T> Z, std::span<const double> beta, std::span<T> P) {
  const std::size_t w = beta.size();
  for_rows(rows(Z, w), w, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t c = 0; c < w; ++c) {
        const T old = beta[c] == 0 ? T{} : static_cast<T>(beta[c]) * P[i * w + c];
        P[i * w + c] = Z[i * w + c] + old;
      }
    }
  });
}

template <class T>
void update_columns(std::span<const double> alpha, std::span<const T> Q, std::span<T> R,
                    std::span<double> rr) {
  const T* const q = Q.data();
  T* const r = R.data();
  const double* const a = alpha.data();
  sum_columns_of(rows(R, alpha.size()), rr, [=](std::size_t k, std::size_t c) {
    const T value = r[k] - static_cast<T>(a[c]) * q[k];
    r[k] = value;
    return static_cast<double>(value) * static_cast<double>(value);
  });
}

template <class T>
void gram(std::span<const T> X, std::span<const T> Y, std::size_t width, std::span<double> gram) {
  const auto add = [&](std::size_t begin, std::size_t end, std::span<double> sums) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t a = 0; a < width; ++a) {
        const auto x = static_cast<double>(X[i * width + a]);
        for (std::size_t b = 0; b < width; ++b) {
          sums[a * width + b] += x * static_cast<double>(Y[i * width + b]);
        }
      }
    }
  };
  sum_rows(rows(X, width), width * width, gram, add);
}

template <class T>
void multiply_columns(std::span<const double> S, std::size_t width, std::span<T> X) {
  for_rows(rows(X, width), width * width, [&](std::size_t begin, std::size_t end) {
    std::array<double, max_block_width> row{};
    for (std::size_t i = begin; i < end; ++i) {
      std::fill_n(row.begin(), width, 0.0);
      for (std::size_t a = 0; a < width; ++a) {
        const auto x = static_cast<double>(X[i * width + a]);
        for (std::size_t b = 0; b < width; ++b) row[b] += x * S[a * width + b];
      }
      for (std::size_t b = 0; b < width; ++b) X[i * width + b] = static_cast<T>(row[b]);
    }
  });
}

template <class T>
void subtract_product(std::span<const T> X, std::span<const double> S, std::size_t width,
                      std::span<T> Y) {
  for_rows(rows(X, width), width * width, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t b = 0; b < width; ++b) {
        double sum = 0;
        for (std::size_t a = 0; a < width; ++a) {
          sum += static_cast<double>(X[i * width + a]) * S[a * width + b];
        }
        Y[i * width + b] -= static_cast<T>(sum);
      }
    }
  });
}

template <class T>
void add_combination(std::span<const T> X, std::span<const double> s, std::span<T> y) {
  const std::size_t w = s.size();
  for_rows(y.size(), w, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double sum = 0;
      for (std::size_t c = 0; c < w; ++c) sum += static_cast<double>(X[i * w + c]) * s[c];
      y[i] += static_cast<T>(sum);
    }
  });
}

template <class T>
double sum_columns(std::span<const T> X, std::size_t width, std::span<T> y) {
  double yy = 0;
  const auto add = [&](std::size_t begin, std::size_t end, std::span<double> squares) {
    for (std::size_t i = begin; i < end; ++i) {
      double sum = 0;
      for (std::size_t c = 0; c < width; ++c) sum += static_cast<double>(X[i * width + c]);
      y[i] = static_cast<T>(sum);
      squares[0] += sum * sum;
    }
  };
  sum_rows(y.size(), width, std::span(&yy, 1), add);
  return yy;
}

#define NODEWISE_INSTANTIATE(T)                                                                 \
  template void get_column(std::span<const T>, std::size_t, std::size_t, std::span<T>);         \
  template void set_column(std::span<const T>, std::size_t, std::size_t, std::span<T>);         \
  template void add_column(double, std::span<const T>, std::size_t, std::size_t, std::span<T>); \
  template void dot_columns(std::span<const T>, std::span<const T>, std::span<double>);         \
  template void xpby_columns(std::span<const T>, std::span<const double>, std::span<T>);        \
  template void update_columns(std::span<const double>, std::span<const T>, std::span<T>,       \
                               std::span<double>);                                              \
  template void gram(std::span<const T>, std::span<const T>, std::size_t, std::span<double>);   \
  template void multiply_columns(std::span<const double>, std::size_t, std::span<T>);           \
  template void subtract_product(std::span<const T>, std::span<const double>, std::size_t,      \
                                 std::span<T>);                                                 \
  template void add_combination(std::span<const T>, std::span<const double>, std::span<T>);     \
  template double sum_columns(std::span<const T>, std::size_t, std::span<T>);
NODEWISE_INSTANTIATE(double)
NODEWISE_INSTANTIATE(float)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::solve
