#include "nodewise/solve/block_ops.hpp"

#include <algorithm>
#include <array>

#include "nodewise/solve/sums_in_pieces.hpp"

namespace nodewise::solve {

namespace {

template <class T>
std::size_t rows(std::span<T> X, std::size_t width) {
  return width == 0 ? 0 : X.size() / width;
}

/// Adds term(place) of every entry to the sum of its column.
template <class Term>
void sum_columns_of(std::size_t n, std::span<double> sums, Term term) {
  const std::size_t w = sums.size();
  sum_in_pieces(n, w, sums, [=](std::size_t begin, std::size_t end, std::span<double> into) {
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
  for_ranges(x.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) x[i] = X[i * width + c];
  });
}

template <class T>
void set_column(std::span<const T> x, std::size_t width, std::size_t c, std::span<T> X) {
  for_ranges(x.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) X[i * width + c] = x[i];
  });
}

template <class T>
void add_column(double alpha, std::span<const T> X, std::size_t width, std::size_t c,
                std::span<T> x) {
  const T a = static_cast<T>(alpha);
  for_ranges(x.size(), 1, [&](std::size_t begin, std::size_t end) {
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
void dot_with_columns(std::span<const T> x, std::span<const T> Y, std::span<double> dots) {
  const std::size_t w = dots.size();
  sum_in_pieces(x.size(), w, dots, [&](std::size_t begin, std::size_t end, std::span<double> into) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto value = static_cast<double>(x[i]);
      for (std::size_t c = 0; c < w; ++c) into[c] += value * static_cast<double>(Y[i * w + c]);
    }
  });
}

template <class T>
void xpby_columns(std::span<const T> Z, std::span<const double> beta, std::span<T> P) {
  const std::size_t w = beta.size();
  for_ranges(rows(Z, w), w, [&](std::size_t begin, std::size_t end) {
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
  sum_in_pieces(rows(X, width), width * width, gram, add);
}

template <class T>
void multiply_columns(std::span<const double> S, std::size_t width, std::span<T> X) {
  for_ranges(rows(X, width), width * width, [&](std::size_t begin, std::size_t end) {
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
  for_ranges(rows(X, width), width * width, [&](std::size_t begin, std::size_t end) {
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
  for_ranges(y.size(), w, [&](std::size_t begin, std::size_t end) {
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
  sum_in_pieces(y.size(), width, std::span(&yy, 1), add);
  return yy;
}

#define NODEWISE_INSTANTIATE(T)                                                                 \
  template void get_column(std::span<const T>, std::size_t, std::size_t, std::span<T>);         \
  template void set_column(std::span<const T>, std::size_t, std::size_t, std::span<T>);         \
  template void add_column(double, std::span<const T>, std::size_t, std::size_t, std::span<T>); \
  template void dot_columns(std::span<const T>, std::span<const T>, std::span<double>);         \
  template void dot_with_columns(std::span<const T>, std::span<const T>, std::span<double>);    \
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
