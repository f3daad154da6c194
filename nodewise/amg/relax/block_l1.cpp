#include "nodewise/amg/relax/block_l1.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "nodewise/amg/relax/block_inverse.hpp"
#include "nodewise/amg/relax/row_norm.hpp"

namespace nodewise::amg::relax {

namespace {

/// Whether a block less 3/2 `sums` on its diagonal is positive definite, its sign being that of its
/// first entry.
template <int B>
bool outweighs(const std::array<double, B * B>& values, const double* sums) {
  using Block = Eigen::Matrix<double, B, B, Eigen::RowMajor>;
  const Eigen::Map<const Block> block(values.data());
  Block rest = std::copysign(0.5, block(0, 0)) * (block + block.transpose());
  for (int r = 0; r < B; ++r) rest(r, r) -= 1.5 * sums[r];
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

}  // namespace

template <class T>
std::vector<double> truncated_half_sums(const matrix::DistMatrix<T>& A,
                                        std::span<const LocalIndex> parts) {
  const kernels::Bsr<T>& on = A.blocks()->on();
  const std::vector<Offset> places = diagonal_places(on);
  std::vector<double> halves(static_cast<std::size_t>(A.n_local()), 0.0);
  kernels::with_block_size(on.block, [&](auto block_size) {
    constexpr int B = decltype(block_size)::value;
    for (std::size_t part = 0; part + 1 < parts.size(); ++part) {
      for (LocalIndex i = parts[part]; i < parts[part + 1]; ++i) {
        double sums[B];
        for (LocalIndex r = 0; r < B; ++r) {
          sums[r] = static_cast<double>(absolute_sum(A.off(), i * B + r));
          if (parts.size() > 2) {
            sums[r] +=
                absolute_sum_outside(A.on(), i * B + r, parts[part] * B, parts[part + 1] * B);
          }
        }
        const bool alone = std::all_of(sums, sums + B, [](double sum) { return sum == 0; });
        if (alone ||
            outweighs<B>(diagonal_block<B>(on, i, places[static_cast<std::size_t>(i)]), sums)) {
          continue;
        }
        for (LocalIndex r = 0; r < B; ++r) {
          halves[static_cast<std::size_t>(i) * B + static_cast<std::size_t>(r)] = sums[r] / 2;
        }
      }
    }
  });
  return halves;
}

#define NODEWISE_INSTANTIATE(T)                                                   \
  template std::vector<double> sums_outside_blocks(const matrix::DistMatrix<T>&); \
  template std::vector<double> truncated_half_sums(const matrix::DistMatrix<T>&,  \
                                                   std::span<const LocalIndex>);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::relax
