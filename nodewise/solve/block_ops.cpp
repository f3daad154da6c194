#include "nodewise/solve/block_ops.hpp"

#include <algorithm>
#include <array>

namespace nodewise::solve {

namespace {

template <class T>
std::size_t rows(std::span<T> X, std::size_t width) {
  return width == 0 ? 0 : X.size() / width;
}

}  // namespace

template <class T>
void get_column(std::span<const T> X, std::size_t width, std::size_t c, std::span<T> x) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = X[i * width + c];
}

template <class T>
void set_column(std::span<const T> x, std::size_t width, std::size_t c, std::span<T> X) {
  for (std::size_t i = 0; i < x.size(); ++i) X[i * width + c] = x[i];
}

template <class T>
void add_column(double alpha, std::span<const T> X, std::size_t width, std::size_t c,
                std::span<T> x) {
  const T a = static_cast<T>(alpha);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += a * X[i * width + c];
}

template <class T>
void dot_columns(std::span<const T> X, std::span<const T> Y, std::span<double> dots) {
  const std::size_t w = dots.size();
  std::fill(dots.begin(), dots.end(), 0.0);
  for (std::size_t i = 0; i < rows(X, w); ++i) {
    for (std::size_t c = 0; c < w; ++c) {
      dots[c] += static_cast<double>(X[i * w + c]) * static_cast<double>(Y[i * w + c]);
    }
  }
}

template <class T>
void xpby_columns(std::span<const T> Z, std::span<const double> beta, std::span<T> P) {
  const std::size_t w = beta.size();
  for (std::size_t i = 0; i < rows(Z, w); ++i) {
    for (std::size_t c = 0; c < w; ++c) {
      const T old = beta[c] == 0 ? T{} : static_cast<T>(beta[c]) * P[i * w + c];
      P[i * w + c] = Z[i * w + c] + old;
    }
  }
}

template <class T>
void update_columns(std::span<const double> alpha, std::span<const T> Q, std::span<T> R,
                    std::span<double> rr) {
  const std::size_t w = alpha.size();
  std::fill(rr.begin(), rr.end(), 0.0);
  for (std::size_t i = 0; i < rows(R, w); ++i) {
    for (std::size_t c = 0; c < w; ++c) {
      const T value = R[i * w + c] - static_cast<T>(alpha[c]) * Q[i * w + c];
      R[i * w + c] = value;
      rr[c] += static_cast<double>(value) * static_cast<double>(value);
    }
  }
}

template <class T>
void gram(std::span<const T> X, std::span<const T> Y, std::size_t width, std::span<double> gram) {
  std::fill(gram.begin(), gram.end(), 0.0);
  for (std::size_t i = 0; i < rows(X, width); ++i) {
    for (std::size_t a = 0; a < width; ++a) {
      const auto x = static_cast<double>(X[i * width + a]);
      for (std::size_t b = 0; b < width; ++b) {
        gram[a * width + b] += x * static_cast<double>(Y[i * width + b]);
      }
    }
  }
}

template <class T>
void multiply_columns(std::span<const double> S, std::size_t width, std::span<T> X) {
  std::array<double, max_block_width> row{};
  for (std::size_t i = 0; i < rows(X, width); ++i) {
    std::fill_n(row.begin(), width, 0.0);
    for (std::size_t a = 0; a < width; ++a) {
      const auto x = static_cast<double>(X[i * width + a]);
      for (std::size_t b = 0; b < width; ++b) row[b] += x * S[a * width + b];
    }
    for (std::size_t b = 0; b < width; ++b) X[i * width + b] = static_cast<T>(row[b]);
  }
}

template <class T>
void subtract_product(std::span<const T> X, std::span<const double> S, std::size_t width,
                      std::span<T> Y) {
  for (std::size_t i = 0; i < rows(X, width); ++i) {
    for (std::size_t b = 0; b < width; ++b) {
      double sum = 0;
      for (std::size_t a = 0; a < width; ++a) {
        sum += static_cast<double>(X[i * width + a]) * S[a * width + b];
      }
      Y[i * width + b] -= static_cast<T>(sum);
    }
  }
}

template <class T>
void add_combination(std::span<const T> X, std::span<const double> s, std::span<T> y) {
  const std::size_t w = s.size();
  for (std::size_t i = 0; i < y.size(); ++i) {
    double sum = 0;
    for (std::size_t c = 0; c < w; ++c) sum += static_cast<double>(X[i * w + c]) * s[c];
    y[i] += static_cast<T>(sum);
  }
}

template <class T>
double sum_columns(std::span<const T> X, std::size_t width, std::span<T> y) {
  double yy = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    double sum = 0;
    for (std::size_t c = 0; c < width; ++c) sum += static_cast<double>(X[i * width + c]);
    y[i] = static_cast<T>(sum);
    yy += sum * sum;
  }
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
