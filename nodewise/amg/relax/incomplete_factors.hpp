// Incomplete factors of a matrix on one rank, by levels of fill or by size.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/amg/relax/row_levels.hpp"
#include "nodewise/kernels/bsr.hpp"

namespace nodewise::amg::relax {

/// Which entries incomplete factors keep.
struct FillRule {
  int levels = 1;    ///< those of fill up to this level, where `drop` is 0
  double drop = 0;   ///< else those above this share of the norm of their row of A
  double fill = 10;  ///< and of these the largest, at most so many times those of the row of A
};

/// L U near a square matrix A whose entries are blocks, of one row or more: ILU(k) (Saad 2003,
/// algorithm 10.6) or ILUT (algorithm 10.8), row by row. A pivot is a dense block; one that is
/// nearly singular beside its row is changed to be invertible, and a row that overflows becomes its
/// diagonal alone, so that the factors are always usable. A may miss diagonal entries. On several
/// threads rows are solved for by levels, as are those of ILU(k) factorised: the result is the same
/// to the bit.
class IncompleteFactors {
 public:
  /// Local. `A` has finite entries, rows and columns of at most about one in size, and ascending
  /// columns; its `block` may be 1.
  IncompleteFactors(const kernels::Bsr<double>& A, const FillRule& rule);
  /// Local. Factors of a matrix with the same pattern.
  void factorise(const kernels::Bsr<double>& A);

  /// Local. X = (L U)^-1 X, of `width` vectors side by side, row-major.
  void solve(std::span<double> X, int width = 1) const;

  /// Numbers in the factors, zeros of blocks included.
  Offset n_entries() const;
  /// Pivots that were changed.
  LocalIndex n_changed() const;

 private:
  template <int B>
  void factorise_within_pattern(const kernels::Bsr<double>& A);
  template <int B>
  void factorise_row(const kernels::Bsr<double>& A, LocalIndex i, std::span<Offset> place);
  template <int B>
  void factorise_by_size(const kernels::Bsr<double>& A);
  template <int B>
  void end_row(const kernels::Bsr<double>& A, LocalIndex i, Offset begin, Offset end);
  template <int B>
  void solve_one(double* x) const;
  template <int B, int W>
  void solve_group(double* X, std::size_t width) const;
  void find_levels();

  FillRule rule_;
  kernels::Bsr<double> factors_;  // L without its diagonal of ones, and U
  std::vector<Offset> upper_;     // where a row's entries right of the diagonal begin
  Array<double> inverse_;         // of the pivots
  std::vector<char> is_changed_;  // of each pivot
  std::optional<RowLevels> below_, above_;
};

}  // namespace nodewise::amg::relax
