#include "nodewise/amg/relax/block_l1.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "nodewise/amg/relax/block_inverse.hpp"
#include "nodewise/amg/relax/row_norm.hpp"
#include "nodewise/base/parallel.hpp"

namespace nodewise::amg::relax {

namespace {

/// Whether `share` times a block less 3/2 `sums` on its diagonal is positive definite, its sign
/// being that of its first entry.
template <std::size_t B>
bool outweighs(const std::array<double, B * B>& values, const std::array<double, B>& sums,
               double share) {
  constexpr auto n = static_cast<int>(B);
  using Block = Eigen::Matrix<double, n, n, Eigen::RowMajor>;
  const Eigen::Map<const Block> block(values.data());
  Block rest = std::copysign(share / 2, block(0, 0)) * (block + block.transpose());
  for (int r = 0; r < n; ++r) rest(r, r) -= 1.5 * sums[static_cast<std::size_t>(r)];
  return Eigen::LLT<Block>(rest).info() == Eigen::Success;
}

}  // namespace

template <class T>
std::vector<double> sums_outside_blocks(const matrix::DistMatrix<T>& A) {
  const kernels::Csr<T>& on = A.on();
  const LocalIndex b = A.blocks()->block();
  std::vector<double> sums;
  sums.reserve(static_cast<std::size_t>(A.n_local()));
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    double sum = static_cast<double>(absolute_sum(A.off(), i));
    for (Offset k = on.begin(i); k < on.end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      if (on.cols[p] / b != i / b) sum += std::abs(static_cast<double>(on.vals[p]));
    }
    sums.push_back(sum);
  }
  return sums;
}

namespace {

/// The moduli of a row's entries in columns before `begin` or from `end` on.
template <class T>
double absolute_sum_outside(const kernels::Csr<T>& A, LocalIndex row, LocalIndex begin,
                            LocalIndex end) {
  double sum = 0;
  for (Offset k = A.begin(row); k < A.end(row); ++k) {
    const auto p = static_cast<std::size_t>(k);
    if (A.cols[p] < begin || A.cols[p] >= end) sum += std::abs(static_cast<double>(A.vals[p]));
  }
  return sum;
}

/// weight / 2 times the moduli of what couples each row to other ranks and parts, after `truncate`
/// has set those to zero that are not needed: it is called with the diagonal block and the whole
/// moduli of each point that has any.
template <class T, class F>
std::vector<double> half_sums(const matrix::DistMatrix<T>& A, std::span<const LocalIndex> parts,
                              double weight, F&& truncate) {
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
        std::array<double, B> sums{};
        for (int r = 0; r < B; ++r) {
          double& sum = sums[static_cast<std::size_t>(r)];
          sum = static_cast<double>(absolute_sum(A.off(), i * B + r));
          if (n_parts > 1) sum += absolute_sum_outside(A.on(), i * B + r, first * B, last * B);
        }
        if (std::all_of(sums.begin(), sums.end(), [](double sum) { return sum == 0; })) continue;
        const auto point = static_cast<std::size_t>(i);
        truncate(diagonal_block<B>(on, i, places[point]), sums);
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
                                        std::span<const LocalIndex> parts, double weight) {
  const double share = 2 / weight - 1;
  return half_sums(A, parts, weight, [share](const auto& block, auto& sums) {
    if (outweighs(block, sums, share)) sums.fill(0);
  });
}

template <class T>
std::vector<double> truncated_half_sums_of_rows(const matrix::DistMatrix<T>& A,
                                                std::span<const LocalIndex> parts, double weight) {
  const double share = 2 / weight - 1;
  return half_sums(A, parts, weight, [share](const auto& block, auto& sums) {
    for (std::size_t r = 0; r < sums.size(); ++r) {
      if (sums[r] / 2 <= share * std::abs(block[r * sums.size() + r]) / 3) sums[r] = 0;
    }
  });
}

#define NODEWISE_INSTANTIATE(T)                                                          \
  template std::vector<double> sums_outside_blocks(const matrix::DistMatrix<T>&);        \
  template std::vector<double> truncated_half_sums(const matrix::DistMatrix<T>&,         \
                                                   std::span<const LocalIndex>, double); \
  template std::vector<double> truncated_half_sums_of_rows(const matrix::DistMatrix<T>&, \
                                                           std::span<const LocalIndex>, double);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::relax
