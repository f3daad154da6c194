#include "nodewise/amg/relax/relaxation.hpp"

#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg::relax {

template <class T>
void Relaxation<T>::first_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                              std::span<T> r) const {
  first_sweep(b, x);
  subtract_product(b, x, r);
}

template <class T>
void Relaxation<T>::first_symmetric_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                                        std::span<T> r) const {
  first_symmetric_sweep(b, x);
  subtract_product(b, x, r);
}

template <class T>
void Relaxation<T>::subtract_product(std::span<const T> b, std::span<const T> x,
                                     std::span<T> r) const {
  const mpi::Scope scope(A_.comm(), "residual");
  matrix::residual(A_, x, b, r);
}

template <class T>
void Relaxation<T>::symmetric_sweep(std::span<const T> b, std::span<T> x) const {
  sweep(Direction::forward, b, x);
  sweep(Direction::backward, b, x);
}

template <class T>
void Relaxation<T>::first_symmetric_sweep(std::span<const T> b, std::span<T> x) const {
  first_sweep(b, x);
  sweep(Direction::backward, b, x);
}

template <class T>
void Relaxation<T>::sweep_with_product(Sweep sweep, std::span<const T> b, std::span<T> x,
                                       std::span<T> y) const {
  run(sweep, b, x);
  multiply(x, y);
}

template <class T>
void Relaxation<T>::multiply(std::span<const T> x, std::span<T> y) const {
  const mpi::Scope scope(A_.comm(), "krylov_product", mpi::no_level);
  matrix::multiply(A_, x, y);
}

template <class T>
void Relaxation<T>::sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X,
                                int width) const {
  const auto w = static_cast<std::size_t>(width);
  const std::span<T> b = workspace(2 * n_local()).first(n_local());
  const std::span<T> x = workspace(2 * n_local()).last(n_local());
  for (std::size_t c = 0; c < w; ++c) {
    for (std::size_t i = 0; i < b.size(); ++i) {
      b[i] = B[i * w + c];
      x[i] = X[i * w + c];
    }
    run(sweep, b, x);
    for (std::size_t i = 0; i < b.size(); ++i) X[i * w + c] = x[i];
  }
}

template <class T>
std::size_t Relaxation<T>::workspace_for(std::size_t /*width*/) const {
  return 2 * n_local();
}

template <class T>
void Relaxation<T>::run(Sweep kind, std::span<const T> b, std::span<T> x) const {
  switch (kind) {
    case Sweep::first:
      return first_sweep(b, x);
    case Sweep::first_symmetric:
      return first_symmetric_sweep(b, x);
    case Sweep::forward:
      return sweep(Direction::forward, b, x);
    case Sweep::backward:
      return sweep(Direction::backward, b, x);
    case Sweep::symmetric:
      return symmetric_sweep(b, x);
  }
}

template class Relaxation<float>;
template class Relaxation<double>;

}  // namespace nodewise::amg::relax
