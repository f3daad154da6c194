#include "nodewise/amg/relax/fc_jacobi.hpp"

#include <algorithm>

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
FcJacobi<T>::FcJacobi(const matrix::DistMatrix<T>& A, std::span<const LocalIndex> coarse_rows,
                      int fine_sweeps, int coarse_sweeps)
    : Relaxation<T>(A),
      coarse_(coarse_rows.begin(), coarse_rows.end()),
      fine_sweeps_(fine_sweeps),
      coarse_sweeps_(coarse_sweeps),
      inverse_(matrix::diagonal(A)) {
  for (T& d : inverse_) {
    if (d != T{}) d = T{1} / d;
  }
  fine_.reserve(inverse_.size() - coarse_.size());
  auto next = coarse_.begin();
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    if (next != coarse_.end() && *next == i) {
      ++next;
    } else {
      fine_.push_back(i);
    }
  }
  residual_.resize(std::max(fine_.size(), coarse_.size()));
}

template <class T>
std::size_t FcJacobi<T>::memory_bytes() const {
  return (inverse_.size() + residual_.size()) * sizeof(T) +
         (fine_.size() + coarse_.size()) * sizeof(LocalIndex);
}

template <class T>
void FcJacobi<T>::relax(const Rows& rows, std::span<const T> b, std::span<T> x) const {
  const std::span<T> ghosts = A_.exchange().template ghost_buffer<T>();
  A_.exchange().start(std::span<const T>(x), ghosts);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const LocalIndex i = rows[k];
    residual_[k] = b[static_cast<std::size_t>(i)] - row_product(A_.on(), i, x.data());
  }
  A_.exchange().finish();
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto i = static_cast<std::size_t>(rows[k]);
    residual_[k] -= row_product(A_.off(), rows[k], ghosts.data());
    x[i] += inverse_[i] * residual_[k];
  }
}

template <class T>
void FcJacobi<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  std::fill(x.begin(), x.end(), T{});
  if (fine_sweeps_ > 0) {  // from zero the first sweep needs no product
    for (const LocalIndex i : fine_) {
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
