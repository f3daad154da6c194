// How large the rows of a matrix are beside each other, and couplings weighed by that.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "nodewise/base/array.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg::relax {

/// sqrt |a_ii| of this rank's rows and of its ghosts, in any common unit; empty where they are not
/// needed.
struct RowScales {
  Array<double> own, ghosts;
};

/// Collective. Of several matrices, the levels of a hierarchy: those of number l come in one
/// exchange of matrices[l], a number for each ghost, and are empty where that is null. An agreement
/// for all together. Throws out_of_memory on every rank.
template <class T>
std::vector<RowScales> row_scales(const mpi::Comm& comm,
                                  std::span<const matrix::DistMatrix<T>* const> matrices);

/// |a_ij| up to this times sqrt |a_ii a_jj| may be an entry of a positive definite matrix, rounded.
inline constexpr double definite_margin = 1.001;

/// Sums of moduli of couplings, as l1 forms add them to the diagonal of row i: |a_ij| times
/// t = sqrt |a_ii / a_jj|. For any t > 0, 2 |a_ij x_i x_j| <= |a_ij| (t x_i^2 + x_j^2 / t), which
/// is all that makes l1 forms converge for symmetric positive definite matrices; with this t the
/// sweeps do not depend on the units of equations and unknowns (D A D in place of A). With equal
/// diagonals it is the plain sum. So it is without scales, and where |a_ij| exceeds sqrt |a_ii
/// a_jj|, as no entry of a positive definite matrix does: a small diagonal entry says nothing of
/// units there.
template <class T>
class CouplingSums {
 public:
  /// `scales` may be null or empty. Both must outlive it.
  CouplingSums(const matrix::DistMatrix<T>& A, const RowScales* scales)
      : A_(A), scales_(scales != nullptr && !scales->own.empty() ? scales : nullptr) {}

  /// Local. Of row i, whose diagonal entry is `diagonal`: of all entries in columns of other ranks,
  /// and of those at the places begin .. end of on().
  T off(LocalIndex i, T diagonal) const {
    const Csr& off = A_.off();
    return sum(off, off.begin(i), off.end(i), i, diagonal, scales_ ? &scales_->ghosts : nullptr);
  }
  T on(LocalIndex i, T diagonal, Offset begin, Offset end) const {
    return sum(A_.on(), begin, end, i, diagonal, scales_ ? &scales_->own : nullptr);
  }

 private:
  using Csr = kernels::Csr<T>;

  T sum(const Csr& M, Offset begin, Offset end, LocalIndex i, T diagonal,
        const Array<double>* scales_of_columns) const {
    T sum{};
    for (Offset k = begin; k < end; ++k) {
      const auto p = static_cast<std::size_t>(k);
      const T modulus = std::abs(M.vals[p]);
      if (scales_of_columns == nullptr) {
        sum += modulus;
        continue;
      }
      const double own = scales_->own[static_cast<std::size_t>(i)];
      const double other = (*scales_of_columns)[static_cast<std::size_t>(M.cols[p])];
      const T weighed = modulus * static_cast<T>(own / other);
      sum += weighed < static_cast<T>(definite_margin) * std::abs(diagonal) ? weighed : modulus;
    }
    return sum;
  }

  const matrix::DistMatrix<T>& A_;
  const RowScales* scales_;
};

}  // namespace nodewise::amg::relax
