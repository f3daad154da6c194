#include "nodewise/solve/vector_ops.hpp"

#include <algorithm>
#include <cmath>

#include "nodewise/base/parallel.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/sums_in_pieces.hpp"

namespace nodewise::solve {

namespace {

// Independent sums let the compiler use vector registers without reordering additions itself.
constexpr std::size_t n_lanes = 8;
using Lanes = std::array<double, n_lanes>;

double total(const Lanes& s) {
  return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

/// Sums term(i) over begin <= i < end in n_lanes interleaved sums.
template <class Term>
double sum_range(std::size_t begin, std::size_t end, Term term) {
  Lanes sums{};
  const std::size_t whole = end - (end - begin) % n_lanes;
  for (std::size_t i = begin; i < whole; i += n_lanes) {
    for (std::size_t k = 0; k < n_lanes; ++k) sums[k] += term(i + k);
  }
  for (std::size_t i = whole; i < end; ++i) sums[i - whole] += term(i);
  return total(sums);
}

template <class Term>
double sum_terms(std::size_t n, Term term) {
  double sum = 0;
  sum_in_pieces(n, 1, std::span(&sum, 1),
                [&](std::size_t begin, std::size_t end, std::span<double> into) {
                  into[0] = sum_range(begin, end, term);
                });
  return sum;
}

// Entries of a block of w and of the whole basis that stay in the cache together.
constexpr std::size_t block_length = 512;

template <class T>
void add_dots(std::span<const Array<T>> basis, std::size_t first, std::span<const T> w_block,
              std::span<double> dots) {
  for (std::size_t j = 0; j < basis.size(); ++j) {
    dots[j] += dot_local(std::span<const T>(basis[j]).subspan(first, w_block.size()), w_block);
  }
  dots[basis.size()] += dot_local(w_block, w_block);
}

template <class T>
void add_multiples(std::span<const Array<T>> basis, std::span<const double> coefficients,
                   double sign, std::size_t first, std::span<T> block) {
  for (std::size_t j = 0; j < basis.size(); ++j) {
    axpy(sign * coefficients[j], std::span<const T>(basis[j]).subspan(first, block.size()), block);
  }
}

/// Calls work(first, block) for the blocks of w between begin and end.
template <class T, class Work>
void for_blocks(std::span<T> w, std::size_t begin, std::size_t end, Work work) {
  for (std::size_t first = begin; first < end; first += block_length) {
    work(first, w.subspan(first, std::min(block_length, end - first)));
  }
}

/// The sums of u v and of v v, where pair(i) is u and v, over 0 <= i < n.
template <class Pair>
std::array<double, 2> sum_pairs(std::size_t n, Pair pair) {
  std::array<double, 2> sums;
  sum_in_pieces(n, 1, std::span<double>(sums),
                [=](std::size_t begin, std::size_t end, std::span<double> into) {
                  Lanes dots{}, squares{};
                  const auto add = [&](std::size_t lane, std::size_t i) {
                    const auto [u, v] = pair(i);
                    const double value = static_cast<double>(v);
                    dots[lane] += static_cast<double>(u) * value;
                    squares[lane] += value * value;
                  };
                  const std::size_t whole = end - (end - begin) % n_lanes;
                  for (std::size_t i = begin; i < whole; i += n_lanes) {
                    for (std::size_t k = 0; k < n_lanes; ++k) add(k, i + k);
                  }
                  for (std::size_t i = whole; i < end; ++i) add(i - whole, i);
                  into[0] = total(dots);
                  into[1] = total(squares);
                });
  return sums;
}

}  // namespace

template <class T>
double dot_local(std::span<const T> a, std::span<const T> b) {
  const T* const u = a.data();
  const T* const v = b.data();
  return sum_terms(a.size(), [=](std::size_t i) {
    return static_cast<double>(u[i]) * static_cast<double>(v[i]);
  });
}

template <class T>
std::array<double, 2> dot_and_square_local(std::span<const T> a, std::span<const T> b) {
  return sum_pairs(a.size(), [u = a.data(), v = b.data()](std::size_t i) {
    return std::array<T, 2>{u[i], v[i]};
  });
}

template <class T>
double subtract(std::span<const T> b, std::span<const T> q, std::span<T> r) {
  return sum_terms(b.size(), [b = b.data(), q = q.data(), r = r.data()](std::size_t i) {
    const T value = b[i] - q[i];
    r[i] = value;
    return static_cast<double>(value) * static_cast<double>(value);
  });
}

template <class T>
double update(double alpha, std::span<const T> p, std::span<const T> q, std::span<T> x,
              std::span<T> r) {
  const T a = static_cast<T>(alpha);
  const T* __restrict pp = p.data();
  const T* __restrict qp = q.data();
  T* __restrict xp = x.data();
  T* __restrict rp = r.data();
  return sum_terms(p.size(), [=](std::size_t i) {
    xp[i] += a * pp[i];
    const T value = rp[i] - a * qp[i];
    rp[i] = value;
    return static_cast<double>(value) * static_cast<double>(value);
  });
}

template <class T>
void axpy(double alpha, std::span<const T> x, std::span<T> y) {
  const T a = static_cast<T>(alpha);
  const T* __restrict xp = x.data();
  T* __restrict yp = y.data();
  parallel::for_range(x.size(), [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) yp[i] += a * xp[i];
  });
}

template <class T>
void xpby(std::span<const T> z, double beta, std::span<T> p) {
  if (beta == 0) {  // p may still be unset
    if (z.data() != p.data()) std::copy(z.begin(), z.end(), p.begin());
    return;
  }
  const T b = static_cast<T>(beta);
  const T* __restrict zp = z.data();
  T* __restrict pp = p.data();
  parallel::for_range(z.size(), [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) pp[i] = zp[i] + b * pp[i];
  });
}

template <class T>
std::array<double, 2> xpby_both(std::span<const T> z, std::span<const T> w, double beta,
                                std::span<T> p, std::span<T> q) {
  if (beta == 0) {  // p and q may still be unset
    std::copy(z.begin(), z.end(), p.begin());
    std::copy(w.begin(), w.end(), q.begin());
    return dot_and_square_local<T>(p, q);
  }
  const T b = static_cast<T>(beta);
  const T* __restrict zp = z.data();
  const T* __restrict wp = w.data();
  T* __restrict pp = p.data();
  T* __restrict qp = q.data();
  return sum_pairs(z.size(), [=](std::size_t i) {
    pp[i] = zp[i] + b * pp[i];
    qp[i] = wp[i] + b * qp[i];
    return std::array<T, 2>{pp[i], qp[i]};
  });
}

template <class T>
void scale(double alpha, std::span<T> x) {
  parallel::for_range(x.size(), [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      x[i] = static_cast<T>(alpha * static_cast<double>(x[i]));
    }
  });
}

template <class T>
std::size_t count_not_finite(std::span<const T> x) {
  return static_cast<std::size_t>(
      std::count_if(x.begin(), x.end(), [](T value) { return !std::isfinite(value); }));
}

template <class T>
double max_abs(std::span<const T> x) {
  const T* const values = x.data();
  return parallel::max(x.size(), [=](std::size_t begin, std::size_t end) {
    std::array<T, n_lanes> largest{};
    const auto look = [&](std::size_t lane, T value) {
      const T modulus = std::abs(value);
      largest[lane] = modulus > largest[lane] ? modulus : largest[lane];
    };
    const std::size_t whole = end - (end - begin) % n_lanes;
    for (std::size_t i = begin; i < whole; i += n_lanes) {
      for (std::size_t k = 0; k < n_lanes; ++k) look(k, values[i + k]);
    }
    for (std::size_t i = whole; i < end; ++i) look(i - whole, values[i]);
    return static_cast<double>(*std::max_element(largest.begin(), largest.end()));
  });
}

template <class T>
void dots_with_basis(std::span<const Array<T>> basis, std::span<const T> w,
                     std::span<double> dots) {
  sum_in_pieces(w.size(), dots.size(), dots,
                [&](std::size_t begin, std::size_t end, std::span<double> sums) {
                  for_blocks(w, begin, end, [&](std::size_t first, std::span<const T> block) {
                    add_dots<T>(basis, first, block, sums);
                  });
                });
}

template <class T>
void project_and_dot(std::span<const Array<T>> basis, std::span<const double> coefficients,
                     std::span<T> w, std::span<double> dots) {
  sum_in_pieces(w.size(), dots.size(), dots,
                [&](std::size_t begin, std::size_t end, std::span<double> sums) {
                  for_blocks(w, begin, end, [&](std::size_t first, std::span<T> block) {
                    add_multiples<T>(basis, coefficients, -1.0, first, block);
                    add_dots<T>(basis, first, block, sums);
                  });
                });
}

template <class T>
void combine(std::span<const Array<T>> basis, std::span<const double> coefficients, double sign,
             double factor, std::span<T> y) {
  for_ranges(y.size(), basis.size() + 1, [&](std::size_t begin, std::size_t end) {
    for_blocks(y, begin, end, [&](std::size_t first, std::span<T> block) {
      add_multiples<T>(basis, coefficients, sign, first, block);
      if (factor != 1.0) scale(factor, block);
    });
  });
}

void sum_parts(const mpi::Comm& comm, std::span<double> values) {
  const mpi::Scope scope(comm, "dot_products");
  mpi::sum_in_place(comm, values);
}

#define NODEWISE_INSTANTIATE(T)                                                                    \
  template double dot_local(std::span<const T>, std::span<const T>);                               \
  template std::array<double, 2> dot_and_square_local(std::span<const T>, std::span<const T>);     \
  template double subtract(std::span<const T>, std::span<const T>, std::span<T>);                  \
  template double update(double, std::span<const T>, std::span<const T>, std::span<T>,             \
                         std::span<T>);                                                            \
  template void axpy(double, std::span<const T>, std::span<T>);                                    \
  template void xpby(std::span<const T>, double, std::span<T>);                                    \
  template std::array<double, 2> xpby_both(std::span<const T>, std::span<const T>, double,         \
                                           std::span<T>, std::span<T>);                            \
  template void scale(double, std::span<T>);                                                       \
  template std::size_t count_not_finite(std::span<const T>);                                       \
  template double max_abs(std::span<const T>);                                                     \
  template void dots_with_basis(std::span<const Array<T>>, std::span<const T>, std::span<double>); \
  template void project_and_dot(std::span<const Array<T>>, std::span<const double>, std::span<T>,  \
                                std::span<double>);                                                \
  template void combine(std::span<const Array<T>>, std::span<const double>, double, double,        \
                        std::span<T>);
NODEWISE_INSTANTIATE(double)
NODEWISE_INSTANTIATE(float)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::solve
