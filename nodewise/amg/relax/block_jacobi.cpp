#include "nodewise/amg/relax/block_jacobi.hpp"

#include <algorithm>
#include <vector>

#include "nodewise/amg/relax/block_inverse.hpp"
#include "nodewise/amg/relax/block_l1.hpp"
#include "nodewise/matrix/operations.hpp"

namespace nodewise::amg::relax {

namespace {

/// x = M r or x += M r, with a block of M for each point.
template <bool add, class T>
void multiply_by_blocks(int block, std::span<const T> M, std::span<const T> r, std::span<T> x) {
  kernels::with_block_size(block, [&](auto block_size) {
    constexpr int B = decltype(block_size)::value;
    for (std::size_t i = 0; i < x.size(); i += B) {
      std::array<T, B> sum{};
      kernels::add_block_product<B>(M.data() + i * B, r.data() + i, sum);
      for (std::size_t k = 0; k < B; ++k) x[i + k] = add ? x[i + k] + sum[k] : sum[k];
    }
  });
}

}  // namespace

template <class T>
BlockJacobi<T>::BlockJacobi(const matrix::DistMatrix<T>& A, double weight, bool l1)
    : Relaxation<T>(A),
      inverse_(inverse_diagonal_blocks<T>(A, weight,
                                          l1 ? sums_outside_blocks(A) : std::vector<double>())),
      scratch_(static_cast<std::size_t>(A.n_local())) {}

template <class T>
std::size_t BlockJacobi<T>::memory_bytes() const {
  return (inverse_.size() + scratch_.size()) * sizeof(T);
}

template <class T>
void BlockJacobi<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  multiply_by_blocks<false, T>(A_.blocks()->block(), inverse_, b, x);
}

template <class T>
void BlockJacobi<T>::sweep(Direction, std::span<const T> b, std::span<T> x) const {
  matrix::residual(A_, std::span<const T>(x), b, std::span<T>(scratch_));
  multiply_by_blocks<true, T>(A_.blocks()->block(), inverse_, scratch_, x);
}

template class BlockJacobi<float>;
template class BlockJacobi<double>;

}  // namespace nodewise::amg::relax
