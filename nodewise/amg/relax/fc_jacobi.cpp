#include "nodewise/amg/relax/fc_jacobi.hpp"

#include <algorithm>

#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/spmv.hpp"
#include "nodewise/matrix/operations.hpp"

namespace nodewise::amg::relax {

namespace {

template <class T>
T row_product(const kernels::Csr<T>& A, LocalIndex i, const T* x) {
  return kernels::row_product(A.cols.data(), A.vals.data(), A.begin(i), A.end(i), x);
}

}  // namespace

template <class T>
void FcJacobi<T>::Rows::append(const matrix::DistMatrix<T>& A, LocalIndex i) {
  rows.push_back(i);
  first_entry.push_back(first_entry.back() + A.on().end(i) - A.on().begin(i) + A.off().end(i) -
                        A.off().begin(i));
}

template <class T>
FcJacobi<T>::FcJacobi(const matrix::DistMatrix<T>& A, std::span<const LocalIndex> coarse_rows,
                      int fine_sweeps, int coarse_sweeps)
    : Relaxation<T>(A),
      fine_sweeps_(fine_sweeps),
      coarse_sweeps_(coarse_sweeps),
      inverse_(matrix::diagonal(A)) {
  for (T& d : inverse_) {
    if (d != T{}) d = T{1} / d;
  }
  auto next = coarse_rows.begin();
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const bool is_coarse = next != coarse_rows.end() && *next == i;
    (is_coarse ? coarse_ : fine_).append(A, i);
    if (is_coarse) ++next;
  }
  residual_.resize(std::max(fine_.rows.size(), coarse_.rows.size()));
}

template <class T>
std::size_t FcJacobi<T>::memory_bytes() const {
  return (inverse_.size() + residual_.size()) * sizeof(T) +
         inverse_.size() * (sizeof(LocalIndex) + sizeof(Offset));
}

template <class T>
void FcJacobi<T>::relax(const Rows& points, std::span<const T> b, std::span<T> x) const {
  const std::span<T> ghosts = A_.exchange().template ghost_buffer<T>();
  A_.exchange().start(std::span<const T>(x), ghosts);
  const auto for_points = [&](auto&& f) {
    parallel::for_rows(points.first_entry, [&](LocalIndex begin, LocalIndex end) {
      for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
        f(k, points.rows[k]);
      }
    });
  };
  for_points([&](std::size_t k, LocalIndex i) {
    residual_[k] = b[static_cast<std::size_t>(i)] - row_product(A_.on(), i, x.data());
  });
  A_.exchange().finish();
  for_points([&](std::size_t k, LocalIndex i) {
    const auto u = static_cast<std::size_t>(i);
    x[u] += inverse_[u] * (residual_[k] - row_product(A_.off(), i, ghosts.data()));
  });
}

template <class T>
void FcJacobi<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  std::fill(x.begin(), x.end(), T{});
  if (fine_sweeps_ > 0) {  // from zero the first sweep needs no product
    for (const LocalIndex i : fine_.rows) {
      x[static_cast<std::size_t>(i)] =
          inverse_[static_cast<std::size_t>(i)] * b[static_cast<std::size_t>(i)];
    }
  }
  for (int k = 1; k < fine_sweeps_; ++k) relax(fine_, b, x);
  for (int k = 0; k < coarse_sweeps_; ++k) relax(coarse_, b, x);
}

template <class T>
void FcJacobi<T>::sweep(Direction direction, std::span<const T> b, std::span<T> x) const {
  const bool forward = direction == Direction::forward;
  if (!forward) {
    for (int k = 0; k < coarse_sweeps_; ++k) relax(coarse_, b, x);
  }
  for (int k = 0; k < fine_sweeps_; ++k) relax(fine_, b, x);
  if (forward) {
    for (int k = 0; k < coarse_sweeps_; ++k) relax(coarse_, b, x);
  }
}

template class FcJacobi<float>;
template class FcJacobi<double>;

}  // namespace nodewise::amg::relax
