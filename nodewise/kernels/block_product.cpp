#include "nodewise/kernels/block_product.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "nodewise/kernels/point_sums.hpp"
#include "nodewise/kernels/row_marks.hpp"
#include "nodewise/kernels/row_parts.hpp"

namespace nodewise::kernels {

namespace {

bool has_product_for(int block, int unknowns) {
  if (block == unknowns) return block >= min_block && block <= max_block;
  return (block == 2 && unknowns == 3) || (block == 3 && unknowns == 6);
}

}  // namespace

template <class T>
bool comes_in_blocks(int unknowns, int block, const Csr<T>& part) {
  return has_product_for(block, unknowns) && has_rows_in_points(block, part) &&
         has_columns_in_points(unknowns, &part, 0, block);
}

template <class T>
bool comes_in_blocks(int unknowns, const BlockRows<T>& A, const ExtendedRows<T>& P) {
  if (!has_product_for(A.block(), unknowns) || P.n_cols % unknowns != 0) return false;
  const LocalIndex n_ghost = P.ghost != nullptr ? P.ghost->n_rows : 0;
  if (P.on->n_rows != A.on->n_cols * A.block()) return false;
  if (n_ghost != (A.n_cols() - A.on->n_cols) * A.block()) return false;
  const auto in_blocks = [&](const Csr<T>* part, LocalIndex shift) {
    return part == nullptr || (has_rows_in_points(A.block(), *part) &&
                               has_columns_in_points(unknowns, part, shift, A.block()));
  };
  return in_blocks(P.on, 0) && in_blocks(P.off, P.off_shift) && in_blocks(P.ghost, 0);
}

namespace {

/// Calls f(column point, block) for the blocks of point q of P, whose first rows lie K behind each
/// other and whose further rows `stride`.
template <int B, int K, class T, class F>
inline void for_each_block(const ExtendedRows<T>& P, LocalIndex q, F&& f) {
  P.for_each_piece(q * B, [&](const LocalIndex* cols, const T* vals, Offset n, LocalIndex shift) {
    for (Offset k = 0; k < n; k += K) f((cols[k] + shift) / K, vals + k, n);
  });
}

/// sum += the sum of factors[m step] times row m of a block of P, m < B: B K terms at once.
template <int B, int K, class T>
inline void add_rows(T* sum, const T* factors, std::size_t step, const T* block, Offset stride) {
  std::array<T, K> row;
  std::copy_n(sum, K, row.begin());
  for (std::size_t m = 0; m < B; ++m) {
    add_multiple<K>(row.data(), block + static_cast<Offset>(m) * stride, factors[m * step]);
  }
  std::copy_n(row.begin(), K, sum);
}

/// The blocks of a part of P by columns.
template <int B, int K, class T>
class Transposed {
 public:
  explicit Transposed(const Csr<T>& part)
      : part_(part), ptr_(static_cast<std::size_t>(part.n_cols / K) + 1, 0) {
    for_each_place([&](std::size_t J, LocalIndex, Offset) { ++ptr_[J + 1]; });
    for (std::size_t J = 1; J < ptr_.size(); ++J) ptr_[J] += ptr_[J - 1];
    places_.resize(static_cast<std::size_t>(ptr_.back()));
    std::vector<Offset> next(ptr_.begin(), ptr_.end() - 1);
    for_each_place([&](std::size_t J, LocalIndex p, Offset place) {
      places_[static_cast<std::size_t>(next[J]++)] = {p, place};
    });
  }

  std::span<const Offset> ptr() const { return ptr_; }

  /// Calls f(p, the block of row point p), its rows one behind the other, for column point I.
  template <class F>
  void for_each_row(LocalIndex I, F&& f) const {
    const auto J = static_cast<std::size_t>(I);
    for (Offset k = ptr_[J]; k < ptr_[J + 1]; ++k) {
      const Place& place = places_[static_cast<std::size_t>(k)];
      const LocalIndex row = place.point * B;
      const Offset stride = part_.length(row);
      std::array<T, std::size_t{B} * K> block;
      for (int r = 0; r < B; ++r) {
        std::copy_n(part_.vals.data() + place.first + r * stride, K, block.data() + r * K);
      }
      f(place.point, block);
    }
  }

 private:
  struct Place {
    LocalIndex point;
    Offset first;
  };

  template <class F>
  void for_each_place(F&& f) const {
    const LocalIndex n_points = part_.n_rows / B;
    for (LocalIndex p = 0; p < n_points; ++p) {
      for (Offset k = part_.begin(p * B); k < part_.end(p * B); k += K) {
        f(static_cast<std::size_t>(part_.cols[static_cast<std::size_t>(k)] / K), p, k);
      }
    }
  }

  const Csr<T>& part_;
  std::vector<Offset> ptr_;
  std::vector<Place> places_;
};

/// The rows of part^T A that belong to a point, one point at a time: for each block column of A the
/// B x K values of A^T part.
template <int B, int K, class T>
class LeftBlocks {
 public:
  LeftBlocks(const Transposed<B, K, T>& L, const BlockRows<T>& A)
      : L_(L),
        A_(A),
        marks_(A.n_cols()),
        cols_(static_cast<std::size_t>(A.n_cols())),
        vals_(cols_.size() * size) {}

  void load(LocalIndex I) {
    auto row = marks_.open();
    L_.for_each_row(I, [&](LocalIndex p, const std::array<T, size>& l) {
      A_.for_each_piece(p, [&](const LocalIndex* qs, const T* as, Offset n, LocalIndex shift) {
        for (Offset k = 0; k < n; ++k) {
          add(place_of(row, qs[k] + shift), as + k * (B * B), l);
        }
      });
    });
    marks_.close(row);
  }

  /// Adds the rows times P: sums.block(J) are the K x K values of point J of the result.
  template <class Sums>
  void multiply(const ExtendedRows<T>& P, Sums& sums) const {
    for (LocalIndex p = 0; p < marks_.length(); ++p) {
      const T* const left = vals_.data() + static_cast<std::size_t>(p) * size;
      for_each_block<B, K>(P, cols_[static_cast<std::size_t>(p)],
                           [&](LocalIndex J, const T* block, Offset stride) {
                             T* const sum = sums.block(J);
                             for (int k = 0; k < K; ++k) {
                               add_rows<B, K>(sum + k * K, left + k, K, block, stride);
                             }
                           });
    }
  }

 private:
  static constexpr std::size_t size = std::size_t{B} * K;

  T* place_of(RowMarks::Open& row, LocalIndex q) {
    bool is_new = false;
    const LocalIndex place = row.place(q, is_new);
    T* const sum = vals_.data() + static_cast<std::size_t>(place) * size;
    if (is_new) {
      cols_[static_cast<std::size_t>(place)] = q;
      std::fill_n(sum, size, nothing<T>);
    }
    return sum;
  }

  static void add(T* sum, const T* a, const std::array<T, size>& l) {
    for (int c = 0; c < B; ++c) add_rows<B, K>(sum + c * K, a + c, B, l.data(), K);
  }

  const Transposed<B, K, T>& L_;
  const BlockRows<T>& A_;
  RowMarks marks_;
  Array<LocalIndex> cols_;  // room for a full row, which costs nothing before it is written to
  Array<T> vals_;
};

/// Adds the rows of P + F A P of a point of B rows.
template <int B, int K, class T, class Sums>
void add_smoothed(const BlockRows<T>& A, const T* factors, const ExtendedRows<T>& P,
                  LocalIndex point, Sums& sums) {
  for_each_block<B, K>(P, point, [&](LocalIndex J, const T* block, Offset stride) {
    T* const sum = sums.block(J);
    for (int r = 0; r < B; ++r) add_multiple<K>(sum + r * K, block + r * stride, T{1});
  });
  A.for_each_piece(point, [&](const LocalIndex* qs, const T* as, Offset n, LocalIndex shift) {
    for (Offset k = 0; k < n; ++k) {
      std::array<T, std::size_t{B} * B> a;
      std::copy_n(as + k * (B * B), B * B, a.begin());
      for (std::size_t p = 0; p < a.size(); ++p) a[p] *= factors[p / B];
      for_each_block<B, K>(P, qs[k] + shift, [&](LocalIndex J, const T* block, Offset stride) {
        T* const sum = sums.block(J);
        for (int r = 0; r < B; ++r) {
          add_rows<B, K>(sum + r * K, a.data() + r * B, 1, block, stride);
        }
      });
    }
  });
}

/// Calls f with the two sizes as types.
template <class F>
decltype(auto) with_sizes(int block, int unknowns, F&& f) {
  if (block == 2 && unknowns == 3) {
    return f(std::integral_constant<int, 2>{}, std::integral_constant<int, 3>{});
  }
  if (block == 3 && unknowns == 6) {
    return f(std::integral_constant<int, 3>{}, std::integral_constant<int, 6>{});
  }
  return with_block_size(block, [&](auto size) { return f(size, size); });
}

}  // namespace

template <class T>
Csr<T> block_smoothed_rows(int unknowns, const BlockRows<T>& A, std::span<const T> factors,
                           const ExtendedRows<T>& P) {
  return with_sizes(A.block(), unknowns, [&](auto block, auto columns) {
    constexpr int B = decltype(block)::value;
    constexpr int K = decltype(columns)::value;
    const auto make = [&](LocalIndex point, GrowingSums<B, K, T>& sums) {
      add_smoothed<B, K>(A, factors.data() + static_cast<Offset>(point) * B, P, point, sums);
    };
    return rows_in_parts<T>(A.on->row_ptr, [&](LocalIndex begin, LocalIndex end) {
      return PointRows<B, K, T, decltype(make)>(begin, end, P.n_cols, make).run();
    });
  });
}

template <class T>
Csr<T> block_triple_product(int unknowns, const Csr<T>& part, const BlockRows<T>& A,
                            const ExtendedRows<T>& P) {
  return with_sizes(A.block(), unknowns, [&](auto block, auto columns) {
    constexpr int B = decltype(block)::value;
    constexpr int K = decltype(columns)::value;
    const Transposed<B, K, T> L(part);
    return rows_in_parts<T>(L.ptr(), [&](LocalIndex begin, LocalIndex end) {
      LeftBlocks<B, K, T> left(L, A);
      const auto make = [&](LocalIndex point, GrowingSums<K, K, T>& sums) {
        left.load(point);
        left.multiply(P, sums);
      };
      return PointRows<K, K, T, decltype(make)>(begin, end, P.n_cols, make).run();
    });
  });
}

template <class T>
void block_triple_product_values(int unknowns, const Csr<T>& part, const BlockRows<T>& A,
                                 const ExtendedRows<T>& P, const KnownRows<T>& known, T* on_vals,
                                 T* off_vals) {
  with_sizes(A.block(), unknowns, [&](auto block, auto columns) {
    constexpr int B = decltype(block)::value;
    constexpr int K = decltype(columns)::value;
    const Transposed<B, K, T> L(part);
    parallel::for_rows(L.ptr(), [&](LocalIndex begin, LocalIndex end) {
      LeftBlocks<B, K, T> left(L, A);
      KnownSums<K, T> sums(known, P.n_cols);
      for (LocalIndex point = begin; point < end; ++point) {
        left.load(point);
        sums.open(point);
        left.multiply(P, sums);
        sums.write(point, on_vals, off_vals);
      }
    });
  });
}

#define NODEWISE_INSTANTIATE(T)                                                      \
  template bool comes_in_blocks(int, const BlockRows<T>&, const ExtendedRows<T>&);   \
  template bool comes_in_blocks(int, int, const Csr<T>&);                            \
  template Csr<T> block_smoothed_rows(int, const BlockRows<T>&, std::span<const T>,  \
                                      const ExtendedRows<T>&);                       \
  template Csr<T> block_triple_product(int, const Csr<T>&, const BlockRows<T>&,      \
                                       const ExtendedRows<T>&);                      \
  template void block_triple_product_values(int, const Csr<T>&, const BlockRows<T>&, \
                                            const ExtendedRows<T>&, const KnownRows<T>&, T*, T*);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::kernels
