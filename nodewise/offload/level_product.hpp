// A matrix of a level on a device, however it came there.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "nodewise/offload/dist_product.hpp"

namespace nodewise::offload {

/// Products as device::SellMatrix has them. Arrays are the rank's parts; those that a product reads
/// must have n_with_ghosts() places, whose last ones it may write.
template <class T, class Space>
class LevelProduct {
 public:
  virtual ~LevelProduct() = default;
  virtual LocalIndex n_with_ghosts() const = 0;
  virtual std::size_t bytes() const = 0;
  // Collective where the matrix is distributed.
  virtual void multiply(T* x, T* y) const = 0;
  virtual void multiply_add(T* x, T* y) const = 0;
  virtual void residual(T* x, const T* b, T* r) const = 0;
  virtual void relax(device::RelaxationStep<T> how, const T* inverse_diagonal, const T* b, T* x,
                     T* step, T* next) const = 0;
};

namespace detail {

template <class T, class Space>
LocalIndex numbers_read(const DistProduct<T, Space>& M) {
  return M.n_with_ghosts();
}
template <class T, class Space>
LocalIndex numbers_read(const device::SellMatrix<T, Space>& M) {
  return M.n_cols();
}

template <class T, class Space, class M>
class ProductBy final : public LevelProduct<T, Space> {
 public:
  template <class... Arguments>
  explicit ProductBy(Arguments&&... arguments) : matrix_(std::forward<Arguments>(arguments)...) {}

  LocalIndex n_with_ghosts() const override { return numbers_read(matrix_); }
  std::size_t bytes() const override { return matrix_.bytes(); }
  void multiply(T* x, T* y) const override { matrix_.multiply(x, y); }
  void multiply_add(T* x, T* y) const override { matrix_.multiply_add(x, y); }
  void residual(T* x, const T* b, T* r) const override { matrix_.residual(x, b, r); }
  void relax(device::RelaxationStep<T> how, const T* inverse_diagonal, const T* b, T* x, T* step,
             T* next) const override {
    matrix_.relax(how, inverse_diagonal, b, x, step, next);
  }

 private:
  M matrix_;
};

}  // namespace detail

template <class T, class Space>
using LevelProductPointer = std::unique_ptr<LevelProduct<T, Space>>;

/// Collective. That of a matrix of the host. Throws the same Error on every rank.
template <class T, class Space>
LevelProductPointer<T, Space> product_of(Card<Space>& card, const matrix::DistMatrix<T>& A,
                                         const Leaving& leaving) {
  return std::make_unique<detail::ProductBy<T, Space, DistProduct<T, Space>>>(card, A, leaving);
}

/// Local. `factor` times that of a matrix of the device, where there is one rank.
template <class T, class Space>
LevelProductPointer<T, Space> product_of(device::Primitives<Space>& primitives,
                                         const device::CsrMatrix<double, Space>& A,
                                         double factor = 1) {
  return std::make_unique<detail::ProductBy<T, Space, device::SellMatrix<T, Space>>>(primitives, A,
                                                                                     factor);
}

}  // namespace nodewise::offload
