#include "nodewise/amg/relax/coarse_fine_gauss_seidel.hpp"

#include <algorithm>

#include "nodewise/amg/relax/hybrid_diagonal.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/row_product.hpp"
#include "nodewise/kernels/spmm.hpp"

namespace nodewise::amg::relax {

template <class T>
CoarseFineGaussSeidel<T>::CoarseFineGaussSeidel(const matrix::DistMatrix<T>& A,
                                                std::span<const LocalIndex> coarse_rows,
                                                double weight, const CouplingSums<T>* l1,
                                                bool both_ways)
    : HybridSweeps<T>(A, {A.on().row_ptr, A.on().cols, A.off().row_ptr, A.exchange(), 1, false}),
      inverse_(static_cast<std::size_t>(A.n_local())),
      is_coarse_(inverse_.size(), 0),
      both_ways_(both_ways) {
  for (const LocalIndex i : coarse_rows) is_coarse_[static_cast<std::size_t>(i)] = 1;
  const T w = static_cast<T>(weight);
  parallel::run(n_parts(), [&](int part) {
    LocalIndex place = 0;
    const auto prepare = [&](LocalIndex i, Offset begin, Offset end, auto is_mixed) {
      const T a = kernels::diagonal_entry(A.on(), i, place);
      T term{};
      if (is_mixed && l1) term = l1_term(outside_sum(*l1, A.on(), i, a, begin, end), a, w);
      inverse_[static_cast<std::size_t>(i)] = a == T{} ? T{} : w / (a + term);
    };
    this->for_each_row(this->all_of(part), Direction::forward, prepare);
  });
}

template <class T>
std::size_t CoarseFineGaussSeidel<T>::memory_bytes() const {
  return HybridSweeps<T>::memory_bytes() + inverse_.size() * sizeof(T) + is_coarse_.size();
}

template <class T>
void CoarseFineGaussSeidel<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  std::fill(x.begin(), x.end(), T{});
  this->run(Direction::forward, {b, x, {}, {}, 1, true, {}});
}

template <class T>
void CoarseFineGaussSeidel<T>::sweep_rows(const Range& range, Direction direction,
                                          const Vectors& vectors) const {
  T sum{};
  const std::span<T> sums =
      vectors.width == 1 ? std::span<T>(&sum, 1) : this->scratch_of(range.part, vectors);
  const bool forward = direction == Direction::forward;
  const auto pass = [&](bool coarse, Direction way) {
    this->for_each_row(range, way, [&](LocalIndex i, Offset begin, Offset end, auto is_mixed) {
      const bool is_coarse = is_coarse_[static_cast<std::size_t>(i)] != 0;
      if (is_coarse == coarse) relax(i, begin, end, is_mixed, vectors, sums);
    });
  };
  for (const bool coarse : {forward, !forward}) {
    if (both_ways_) {
      pass(coarse, Direction::forward);
      pass(coarse, Direction::backward);
    } else {
      pass(coarse, direction);
    }
  }
}

/// x += inverse (b - A x) in row i, for all vectors; `sums` has a number for each to work with.
template <class T>
template <class IsMixed>
void CoarseFineGaussSeidel<T>::relax(LocalIndex i, Offset begin, Offset end, IsMixed is_mixed,
                                     const Vectors& vectors, std::span<T> sums) const {
  const kernels::Csr<T>& on = A_.on();
  const kernels::Csr<T>& off = A_.off();
  const std::size_t w = sums.size();
  const auto add = [&](const kernels::Csr<T>& M, Offset first, Offset last, const T* X) {
    if (w == 1) {
      sums[0] += kernels::row_product(M.cols.data(), M.vals.data(), first, last, X);
    } else if (first < last) {
      kernels::spmm_add_entries(M, first, last, X, w, sums.data());
    }
  };
  std::fill(sums.begin(), sums.end(), T{});
  add(on, begin, end, vectors.X.data());
  if (is_mixed && !vectors.from_zero) {
    add(off, off.begin(i), off.end(i), vectors.ghosts.data());
    add(on, on.begin(i), begin, vectors.old.data());
    add(on, end, on.end(i), vectors.old.data());
  }
  const auto u = static_cast<std::size_t>(i);
  for (std::size_t c = 0; c < w; ++c) {
    vectors.X[u * w + c] += inverse_[u] * (vectors.B[u * w + c] - sums[c]);
  }
}

template class CoarseFineGaussSeidel<float>;
template class CoarseFineGaussSeidel<double>;

}  // namespace nodewise::amg::relax
