#include "nodewise/offload/dist_product.hpp"

#include "nodewise/device/vectors.hpp"

namespace nodewise::offload {

template <class T, class Space>
Halo<T, Space>::Halo(device::Queue<Space>& queue, const matrix::DistMatrix<T>& A)
    : queue_(queue), n_owned_(A.cols().n_local()), n_ghosts_(A.off().n_cols) {
  if (A.comm().size() == 1) return;
  const comm::Exchange& given = A.exchange();
  const std::vector<LocalIndex> exported = given.plan().exported_entries();
  exchange_ = std::make_unique<comm::Exchange>(
      A.shared_comm(), comm::of_exported_entries(given.plan()), given.transport());
  exported_ = device::Buffer<LocalIndex, Space>(queue, std::span<const LocalIndex>(exported));
  packed_ = device::Buffer<T, Space>(exported.size());
  sent_.resize(exported.size());
  received_.resize(static_cast<std::size_t>(n_ghosts_));
}

template <class T, class Space>
void Halo<T, Space>::fill(T* x) const {
  if (exchange_ == nullptr) return;
  device::gather(queue_, static_cast<std::int64_t>(exported_.size()), exported_.data(), x,
                 packed_.data());
  packed_.get(queue_, std::span<T>(sent_));
  exchange_->forward(std::span<const T>(sent_), std::span<T>(received_));
  if (received_.empty()) return;
  queue_.copy_in(x + n_owned_, received_.data(), received_.size() * sizeof(T));
  queue_.wait();
}

template <class T, class Space>
DistProduct<T, Space>::DistProduct(device::Queue<Space>& queue, const matrix::DistMatrix<T>& A)
    : DistProduct(queue, A, device::sell_layout(A.on(), A.off())) {}

template <class T, class Space>
DistProduct<T, Space>::DistProduct(device::Queue<Space>& queue, const matrix::DistMatrix<T>& A,
                                   const device::SellLayout<T>& layout)
    : halo_(queue, A), local_(queue, layout), padding_(layout.padding()) {}

template <class T, class Space>
void DistProduct<T, Space>::multiply(T* x, T* y) const {
  halo_.fill(x);
  local_.multiply(x, y);
}

template <class T, class Space>
void DistProduct<T, Space>::multiply_add(T* x, T* y) const {
  halo_.fill(x);
  local_.multiply_add(x, y);
}

template <class T, class Space>
void DistProduct<T, Space>::residual(T* x, const T* b, T* r) const {
  halo_.fill(x);
  local_.residual(x, b, r);
}

template <class T, class Space>
void DistProduct<T, Space>::relax(device::RelaxationStep<T> how, const T* inverse_diagonal,
                                  const T* b, T* x, T* step, T* next) const {
  halo_.fill(x);
  local_.relax(how, inverse_diagonal, b, x, step, next);
}

template class Halo<float, device::Host>;
template class Halo<double, device::Host>;
template class DistProduct<float, device::Host>;
template class DistProduct<double, device::Host>;
#ifdef NODEWISE_CUDA
template class Halo<float, device::Cuda>;
template class Halo<double, device::Cuda>;
template class DistProduct<float, device::Cuda>;
template class DistProduct<double, device::Cuda>;
#endif

}  // namespace nodewise::offload
