// The facts of a matrix that a preset is chosen by; they cost a pass over it.
#pragma once

#include <optional>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::advise {

/// The same on every rank. Stored zeros count as no entries.
struct ProblemFacts {
  GlobalIndex rows = 0;
  GlobalIndex nonzeros = 0;
  bool symmetric = false;  ///< up to round-off, as matrix::is_symmetric()
  double asymmetry = 0;    ///< |A - A^T| / (2 |A|), Frobenius norms, estimated by one random vector
  GlobalIndex nonpositive_diagonals = 0;
  GlobalIndex empty_rows = 0;      ///< without a stored entry
  GlobalIndex zero_diagonals = 0;  ///< zero or missing: multigrid refuses them
  /// The part of the sum of |a_ij|, j other than i, that has the sign of a_ii: 0 in an M-matrix.
  double positive_share = 0;
  double zero_sum_share = 0;  ///< rows whose entries add up to zero, of all rows
  double dominant_share = 0;  ///< rows with |a_ii| at least the sum of the other |a_ij|, of all
  double mean_row = 0;        ///< entries
  /// The share of rows that look like those of a mesh of stretched elements. Such a row has a
  /// coupling of the diagonal's sign with at least 0.22 of the largest of the opposite sign. Of the
  /// sum of the couplings of that opposite sign at least a fifth is between 0.2 and 0.5 of the
  /// largest, strong by chance, and hardly any between 0.5 and 0.9 of it.
  double stretched_share = 0;
  /// Rows whose entries off the diagonal differ by no more than a half of the largest, of all: the
  /// couplings of a grid that is as fine in all directions.
  double even_share = 0;
  /// The larger of the parts of the sum of |a_ij| on either side of the diagonal: 1 for a
  /// triangular matrix, which a Gauss-Seidel sweep solves.
  double triangular_share = 0.5;
  /// Rows whose entries' sum exceeds 0.9 |a_ii|, of all: where they are dominant, too, relaxation
  /// is enough for them.
  double relaxed_share = 0;
  GlobalIndex longest_row = 0;
  /// Rows of a point, where the pattern and the values say that the rows are those of interleaved
  /// unknowns (see problem_facts()), and every rank has whole points; else 1.
  int unknowns = 1;
  /// Rows of a point by the pattern alone: dense_block_rows().
  int dense_blocks = 1;

  /// Positive diagonal, no positive entry off it: with a dominant diagonal an M-matrix.
  bool has_signs_of_m_matrix() const;
};

/// Collective. Throws dimension_mismatch, on every rank, where A is not square with one layout. Two
/// allreduces. Whether A is symmetric is taken for granted where it is given, else asked of
/// matrix::is_symmetric(). Of a nonsymmetric one the norm of A - A^T is estimated by one vector: an
/// exchange forwards, one reversed and an agreement.
///
/// All is the same, bit for bit, on any number of threads, but for round-off in `asymmetry`.
///
/// Points have k = 2, 3, 4 or 6 unknowns where the k x k blocks that have an entry are filled to
/// 60 % at least, and in half of the rows at least the entries of the columns of each unknown add
/// up to zero: a displacement of the whole body in one direction causes no force inside. (A
/// discontinuous Galerkin method has full blocks, too, but only the sum over all of a row
/// vanishes.) Rows with no entry but the diagonal are left out, and of many rows a sample is taken.
template <class T>
ProblemFacts problem_facts(const matrix::DistMatrix<T>& A,
                           std::optional<bool> known_symmetric = std::nullopt);

}  // namespace nodewise::advise
