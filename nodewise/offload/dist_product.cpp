#include "nodewise/offload/dist_product.hpp"

namespace nodewise::offload {

template <class T, class Space>
template <class Entry>
Halo<T, Space>::Halo(Card<Space>& card, const matrix::DistMatrix<Entry>& A, const Leaving& leaving)
    : n_owned_(A.cols().n_local()) {
  if (A.comm().size() == 1) return;
  require_available<Space>(A.comm(), leaving.how, A.transport(), leaving.trusts_mpi);
  carrier_ = (*leaving.how->make_carrier)(CarrierCall<Space>{card, A.shared_comm(), leaving.sharing,
                                                             A.exchange().plan(), A.route(),
                                                             A.transport(), sizeof(T)});
}

template <class T, class Space>
void Halo<T, Space>::fill_bytes(std::byte* x, std::size_t item_bytes) const {
  if (carrier_ == nullptr) return;
  carrier_->forward(x, x + static_cast<std::size_t>(n_owned_) * item_bytes, item_bytes);
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
DistProduct<T, Space>::DistProduct(const Workplace<Space>& at, const DistCsr<Space>& A,
                                   const matrix::DistMatrix<double>& outline, double factor)
    : card_(*at.card), halo_(*at.card, outline, at.leaving) {
  at.together(outline.comm(), [&] {
    local_.emplace(*at.primitives, A.local, factor);
    padding_ = local_->padding();
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

#define NODEWISE_FOR_SPACE(Space)                                                     \
  template class Halo<float, Space>;                                                  \
  template class Halo<double, Space>;                                                 \
  template Halo<float, Space>::Halo(Card<Space>&, const matrix::DistMatrix<float>&,   \
                                    const Leaving&);                                  \
  template Halo<float, Space>::Halo(Card<Space>&, const matrix::DistMatrix<double>&,  \
                                    const Leaving&);                                  \
  template Halo<double, Space>::Halo(Card<Space>&, const matrix::DistMatrix<double>&, \
                                     const Leaving&);                                 \
  template class DistProduct<float, Space>;                                           \
  template class DistProduct<double, Space>;
NODEWISE_FOR_SPACE(device::Host)
#ifdef NODEWISE_CUDA
NODEWISE_FOR_SPACE(device::Cuda)
#endif
#undef NODEWISE_FOR_SPACE

}  // namespace nodewise::offload
