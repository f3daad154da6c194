// Incomplete factorisation as a relaxation.
#pragma once

#include <vector>

#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/amg/relax/row_levels.hpp"

namespace nodewise::amg::relax {

/// x += (L U)^-1 (b - A x), where L U is the incomplete factorisation of the on-process block
/// within its own pattern: ILU(0), Saad 2003, algorithm 10.4; block Jacobi between ranks. For a
/// symmetric A it is its own adjoint. A pivot that has become much smaller than its row is replaced
/// by that size, with its sign, so that the factors are always usable. On several threads rows are
/// gone through by levels (row_levels.hpp), where these are large enough to gain by that; the
/// factors and what is solved with them are the same on any number of threads, bit for bit.
template <class T>
class Ilu0 final : public Relaxation<T> {
 public:
  /// Local.
  explicit Ilu0(const matrix::DistMatrix<T>& A);

  void first_sweep(std::span<const T> b, std::span<T> x) const override;
  void sweep(Direction direction, std::span<const T> b, std::span<T> x) const override;
  std::size_t memory_bytes() const override;

 private:
  void factorise();
  void factorise_row(LocalIndex i, std::span<Offset> place);
  T pivot_of(LocalIndex i, T value) const;
  void eliminate(LocalIndex k, T factor, std::span<const Offset> place);

  using Relaxation<T>::A_;
  RowLevels below_, above_;    // of L and of U
  std::vector<T> vals_;        // L without its unit diagonal, and U, at the places of A.on()
  std::vector<Offset> upper_;  // where the entries above the diagonal begin
  std::vector<T> inverse_;     // of U's diagonal; 0 where a row is left alone
  mutable std::vector<T> scratch_;
};

}  // namespace nodewise::amg::relax
