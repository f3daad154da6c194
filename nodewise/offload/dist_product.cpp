#include "nodewise/offload/dist_product.hpp"

namespace nodewise::offload {

template <class T, class Space>
Halo<T, Space>::Halo(Card<Space>& card, const matrix::DistMatrix<T>& A, const Leaving& leaving)
    : n_owned_(A.cols().n_local()) {
  if (A.comm().size() == 1) return;
  require_available<Space>(A.comm(), leaving.how, A.transport(), leaving.trusts_mpi);
  carrier_ = (*leaving.how->make_carrier)(CarrierCall<Space>{card, A.shared_comm(), leaving.sharing,
                                                             A.exchange().plan(), A.route(),
                                                             A.transport(), sizeof(T)});
}

template <class T, class Space>
void Halo<T, Space>::fill(T* x) const {
  if (carrier_ == nullptr) return;
  carrier_->forward(reinterpret_cast<const std::byte*>(x),
                    reinterpret_cast<std::byte*>(x + n_owned_), sizeof(T));
}

template <class T, class Space>
DistProduct<T, Space>::DistProduct(Card<Space>& card, const matrix::DistMatrix<T>& A,
                                   const Leaving& leaving)
    : card_(card), halo_(card, A, leaving) {
  mpi::collectively(A.comm(), [&] {
    const device::SellLayout<T> layout = device::sell_layout(A.on(), A.off());
    local_.emplace(card.queue, layout);
    padding_ = layout.padding();
  });
}

template <class T, class Space>
void DistProduct<T, Space>::multiply(T* x, T* y) const {
  halo_.fill(x);
  card_.local([&] { local_->multiply(x, y); });
}

template <class T, class Space>
void DistProduct<T, Space>::multiply_add(T* x, T* y) const {
  halo_.fill(x);
  card_.local([&] { local_->multiply_add(x, y); });
}

template <class T, class Space>
void DistProduct<T, Space>::residual(T* x, const T* b, T* r) const {
  halo_.fill(x);
  card_.local([&] { local_->residual(x, b, r); });
}

template <class T, class Space>
void DistProduct<T, Space>::relax(device::RelaxationStep<T> how, const T* inverse_diagonal,
                                  const T* b, T* x, T* step, T* next) const {
  halo_.fill(x);
  card_.local([&] { local_->relax(how, inverse_diagonal, b, x, step, next); });
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
