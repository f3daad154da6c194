// Solving on the coarsest level.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/amg/cycle/coarse_gather.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solve/factors.hpp"

namespace nodewise::amg {

/// Holds rows of a generalised inverse of a small matrix, so that a solve is one gathering of the
/// right-hand side where these rows are, a dense product and, where a rank's rows are held by
/// another, a scattering. A singular matrix is treated as well: for a right-hand side in its range
/// the result solves the system. By `coarse_solve factors` it holds solve::factorize()'s in place
/// of an inverse, of a matrix of any size.
template <class T>
class CoarseSolver {
 public:
  /// Collective. Takes the inverse of factor A; the matrix may have another type. Gathers it on
  /// every rank: O(n^2) memory, O(n^3) work on each that holds rows. `where` is direct.
  /// `sizes` are the summand_sizes() of this rank's rows, by which zeros
  /// are told from what rounding leaves of them; where they are empty, the moduli of the diagonal.
  /// Factors throw what solve::factorize() does.
  template <class U>
  explicit CoarseSolver(const matrix::DistMatrix<U>& A, double factor = 1,
                        const Choice<CoarseSolveMethod>& where = "auto",
                        std::span<const double> sizes = {});

  /// Collective. x = A^+ b; the messages are CoarseHolders', or those of factors.
  void solve(std::span<const T> b, std::span<T> x) const;
  /// Collective. The same for `width` vectors side by side, row-major; one allgather.
  void solve(std::span<const T> B, std::span<T> X, int width) const;
  /// Local. Makes room for that, which asks for no memory afterwards for as many vectors or fewer.
  void reserve_workspace(int width) const;
  std::size_t memory_bytes() const {
    return factors_ ? factors_->memory_bytes()
                    : (inverse_rows_.size() + together_.size()) * sizeof(T);
  }
  /// The rows of the inverse that this rank holds, n_global long, one after another; none of
  /// factors.
  std::span<const T> inverse_rows() const { return inverse_rows_; }
  bool singular() const { return singular_; }
  /// Whether the matrix is symmetric and has a negative eigenvalue, beyond rounding.
  bool indefinite() const { return indefinite_; }

 private:
  template <class U>
  void set_up_factors(const matrix::DistMatrix<U>& A, double factor);
  template <class U>
  void set_up_inverse(const matrix::DistMatrix<U>& A, double factor, const CoarseSolveMethod& where,
                      std::span<const double> sizes);
  void solve_by_factors(std::span<const T> B, std::span<T> X, int width) const;

  std::unique_ptr<const solve::Factorization> factors_;  // null: an inverse
  mutable std::vector<double> of_factors_;               // vectors in double precision
  std::optional<CoarseHolders> holders_;
  std::vector<T> inverse_rows_;  // rows held x n, row-major
  mutable std::vector<T> all_b_, held_x_;
  mutable std::vector<T> together_;  // the same of several vectors, one after the other
  bool singular_ = false, indefinite_ = false;
};

}  // namespace nodewise::amg
