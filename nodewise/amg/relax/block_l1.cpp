#include "nodewise/amg/relax/block_l1.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "nodewise/amg/relax/block_inverse.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/csr_ops.hpp"

namespace nodewise::amg::relax {

namespace {

/// By Cholesky's factorization; only the lower triangle, by rows, is read. Eigen's takes a second
/// to compile for each size.
template <std::size_t B>
bool is_positive_definite(std::array<double, B * B> A) {
  for (std::size_t k = 0; k < B; ++k) {
    for (std::size_t i = k; i < B; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < k; ++j) sum += A[i * B + j] * A[k * B + j];
      A[i * B + k] -= sum;
      if (i > k) A[i * B + k] /= A[k * B + k];
      if (i == k && A[k * B + k] <= 0) return false;
      if (i == k) A[k * B + k] = std::sqrt(A[k * B + k]);
    }
  }
  return true;
}

/// Whether `share` times a block less 3/2 `sums` on its diagonal is positive definite, its sign
/// being that of its first entry.
template <std::size_t B>
bool outweighs(const std::array<double, B * B>& values, const std::array<double, B>& sums,
               double share) {
  const double half = std::copysign(share / 2, values[0]);
  std::array<double, B * B> rest;
  for (std::size_t r = 0; r < B; ++r) {
    for (std::size_t c = 0; c < B; ++c) {
      rest[r * B + c] = half * (values[r * B + c] + values[c * B + r]);
    }
    rest[r * B + r] -= 1.5 * sums[r];
  }
  return is_positive_definite<B>(rest);
}

/// The sum of row i, without the columns first .. last of this rank.
template <class T>
double sum_outside(const matrix::DistMatrix<T>& A, const CouplingSums<T>& couplings, LocalIndex i,
                   T diagonal, LocalIndex first, LocalIndex last) {
  const kernels::Csr<T>& on = A.on();
  const auto place_of = [&](LocalIndex column) {
    const auto begin = on.cols.begin() + on.begin(i);
    return on.begin(i) + (std::lower_bound(begin, on.cols.begin() + on.end(i), column) - begin);
  };
  return static_cast<double>(couplings.off(i, diagonal) +
                             couplings.on(i, diagonal, on.begin(i), place_of(first)) +
                             couplings.on(i, diagonal, place_of(last), on.end(i)));
}

}  // namespace

template <class T>
std::vector<double> sums_outside_blocks(const matrix::DistMatrix<T>& A,
                                        const CouplingSums<T>& couplings) {
  const LocalIndex b = A.blocks()->block();
  std::vector<double> sums;
  sums.reserve(static_cast<std::size_t>(A.n_local()));
  LocalIndex place = 0;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const T diagonal = kernels::diagonal_entry(A.on(), i, place);
    const LocalIndex first = i / b * b;
    sums.push_back(sum_outside(A, couplings, i, diagonal, first, first + b));
  }
  return sums;
}

namespace {

/// weight / 2 times what couples each row to other ranks and parts, after `truncate`
/// has set those to zero that are not needed: it is called with the diagonal block and the whole
/// sums of each point that has any.
template <class T, class F>
std::vector<double> half_sums(const matrix::DistMatrix<T>& A, const CouplingSums<T>& couplings,
                              std::span<const LocalIndex> parts, double weight, F&& truncate) {
  const kernels::Bsr<T>& on = A.blocks()->on();
  const std::vector<Offset> places = diagonal_places(on);
  std::vector<double> halves(static_cast<std::size_t>(A.n_local()), 0.0);
  const auto n_parts = narrow<int>(std::ssize(parts) - 1, "parts:");
  kernels::with_block_size(on.block, [&](auto block_size) {
    constexpr int B = decltype(block_size)::value;
    parallel::run(n_parts, [&](int part) {
      const LocalIndex first = parts[static_cast<std::size_t>(part)];
      const LocalIndex last = parts[static_cast<std::size_t>(part) + 1];
      for (LocalIndex i = first; i < last; ++i) {
        const auto point = static_cast<std::size_t>(i);
        const auto block = diagonal_block<B>(on, i, places[point]);
        std::array<double, B> sums{};
        for (int r = 0; r < B; ++r) {
          const auto row = static_cast<std::size_t>(r);
          sums[row] = sum_outside(A, couplings, i * B + r, static_cast<T>(block[row * B + row]),
                                  first * B, last * B);
        }
        if (std::all_of(sums.begin(), sums.end(), [](double sum) { return sum == 0; })) continue;
        truncate(block, sums);
        std::transform(sums.begin(), sums.end(), halves.data() + point * B,
                       [weight](double sum) { return weight * (sum / 2); });
      }
    });
  });
  return halves;
}

}  // namespace

template <class T>
std::vector<double> truncated_half_sums(const matrix::DistMatrix<T>& A,
                                        const CouplingSums<T>& couplings,
                                        std::span<const LocalIndex> parts, double weight) {
  const double share = 2 / weight - 1;
  return half_sums(A, couplings, parts, weight, [share](const auto& block, auto& sums) {
    if (outweighs(block, sums, share)) sums.fill(0);
  });
}

template <class T>
std::vector<double> truncated_half_sums_of_rows(const matrix::DistMatrix<T>& A,
                                                const CouplingSums<T>& couplings,
                                                std::span<const LocalIndex> parts, double weight) {
  const double share = 2 / weight - 1;
  return half_sums(A, couplings, parts, weight, [share](const auto& block, auto& sums) {
    for (std::size_t r = 0; r < sums.size(); ++r) {
      if (sums[r] / 2 <= share * std::abs(block[r * sums.size() + r]) / 3) sums[r] = 0;
    }
  });
}

#define NODEWISE_INSTANTIATE(T)                                                                   \
  template std::vector<double> sums_outside_blocks(const matrix::DistMatrix<T>&,                  \
                                                   const CouplingSums<T>&);                       \
  template std::vector<double> truncated_half_sums(                                               \
      const matrix::DistMatrix<T>&, const CouplingSums<T>&, std::span<const LocalIndex>, double); \
  template std::vector<double> truncated_half_sums_of_rows(                                       \
      const matrix::DistMatrix<T>&, const CouplingSums<T>&, std::span<const LocalIndex>, double);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::relax
