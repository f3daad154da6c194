// Products of a distributed matrix on a device, with the exchange of what its vectors lack.
#pragma once

#include <memory>
#include <optional>

#include "nodewise/device/sell.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/offload/dist_csr.hpp"
#include "nodewise/offload/leaving.hpp"

namespace nodewise::offload {

/// Brings the ghosts of a vector on a device, along the route of a matrix and over its transport,
/// in one of the ways in which data leave devices. Nothing is done where the communicator has one
/// rank.
template <class T, class Space>
class Halo {
 public:
  /// Collective. Of the vectors that A multiplies. Throws the same Error on every rank.
  template <class Entry>
  Halo(Card<Space>& card, const matrix::DistMatrix<Entry>& A, const Leaving& leaving);

  /// Collective. Writes the ghosts behind the owned numbers of x, which may also be others that are
  /// no larger. What fails on this rank is left in the card's LocalWork.
  template <class Number>
  void fill(Number* x) const {
    static_assert(sizeof(Number) <= sizeof(T));
    fill_bytes(reinterpret_cast<std::byte*>(x), sizeof(Number));
  }
  std::size_t bytes() const { return carrier_ == nullptr ? 0 : carrier_->bytes(); }

 private:
  void fill_bytes(std::byte* x, std::size_t item_bytes) const;

  LocalIndex n_owned_;
  std::unique_ptr<Carrier<Space>> carrier_;  // null: one rank
};

/// A distributed matrix on a device. Arrays are the rank's parts; those that a product reads must
/// have n_with_ghosts() places, whose last ones it writes.
template <class T, class Space>
class DistProduct {
 public:
  /// Collective. Throws the same Error on every rank.
  DistProduct(Card<Space>& card, const matrix::DistMatrix<T>& A, const Leaving& leaving);
  /// Collective. `factor` times a matrix that is on the device, rounded to T; the ghosts travel by
  /// `outline`. Throws the same Error on every rank.
  DistProduct(const Workplace<Space>& at, const DistCsr<Space>& A,
              const matrix::DistMatrix<double>& outline, double factor = 1);

  LocalIndex n_rows() const { return local_->n_rows(); }
  LocalIndex n_with_ghosts() const { return local_->n_cols(); }
  /// Places for entries over entries, on this rank.
  double padding() const { return padding_; }
  std::size_t bytes() const { return local_->bytes() + halo_.bytes(); }

  // Collective, at the cost of one Halo::fill(); otherwise as device::SellMatrix has them. What
  // fails on this rank is left in the card's LocalWork.
  void multiply(T* x, T* y) const;
  void multiply_add(T* x, T* y) const;
  void residual(T* x, const T* b, T* r) const;
  void relax(device::RelaxationStep<T> how, const T* inverse_diagonal, const T* b, T* x, T* step,
             T* next) const;

 private:
  Card<Space>& card_;
  Halo<T, Space> halo_;
  std::optional<device::SellMatrix<T, Space>> local_;
  double padding_ = 1;
};

template <class T, class Space>
using DistProductPointer = std::unique_ptr<DistProduct<T, Space>>;

}  // namespace nodewise::offload
