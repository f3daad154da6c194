// Products of a distributed matrix on a device, with the exchange of what its vectors lack.
#pragma once

#include <memory>
#include <vector>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/device/sell.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::offload {

/// Brings the ghosts of a vector on a device, along the route and by the transport of a matrix.
/// What other ranks need is packed on the device, copied to the host, exchanged there, and what
/// comes is copied back: two copies for each rank that has neighbours, and the messages of the
/// matrix. No copy and no message where the communicator has one rank.
template <class T, class Space>
class Halo {
 public:
  /// Local; throws what comm::Exchange and device::Buffer throw.
  Halo(device::Queue<Space>& queue, const matrix::DistMatrix<T>& A);

  LocalIndex n_owned() const { return n_owned_; }
  LocalIndex n_ghosts() const { return n_ghosts_; }
  /// Collective. Writes the ghosts behind the n_owned() numbers of x.
  void fill(T* x) const;
  std::size_t bytes() const { return exported_.bytes() + packed_.bytes(); }

 private:
  device::Queue<Space>& queue_;
  LocalIndex n_owned_, n_ghosts_;
  std::unique_ptr<comm::Exchange> exchange_;  // null: one rank
  device::Buffer<LocalIndex, Space> exported_;
  mutable device::Buffer<T, Space> packed_;
  mutable std::vector<T> sent_, received_;
};

/// A distributed matrix on a device. Arrays are the rank's parts; those that a product reads must
/// have n_with_ghosts() places, whose last ones it writes.
template <class T, class Space>
class DistProduct {
 public:
  /// Local.
  DistProduct(device::Queue<Space>& queue, const matrix::DistMatrix<T>& A);

  LocalIndex n_rows() const { return local_.n_rows(); }
  LocalIndex n_with_ghosts() const { return local_.n_cols(); }
  /// Places for entries over entries, on this rank.
  double padding() const { return padding_; }
  std::size_t bytes() const { return local_.bytes() + halo_.bytes(); }

  // Collective, at the cost of one Halo::fill(); otherwise as device::SellMatrix has them.
  void multiply(T* x, T* y) const;
  void multiply_add(T* x, T* y) const;
  void residual(T* x, const T* b, T* r) const;
  void relax(device::RelaxationStep<T> how, const T* inverse_diagonal, const T* b, T* x, T* step,
             T* next) const;

 private:
  DistProduct(device::Queue<Space>& queue, const matrix::DistMatrix<T>& A,
              const device::SellLayout<T>& layout);

  Halo<T, Space> halo_;
  device::SellMatrix<T, Space> local_;
  double padding_;
};

}  // namespace nodewise::offload
