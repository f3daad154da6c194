// Whether the rows of a matrix are those of interleaved unknowns of points.
#pragma once

#include <array>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::advise {

/// The numbers of unknowns that are looked for.
inline constexpr std::array<int, 4> candidate_unknowns = {2, 3, 4, 6};

/// The counts for one block size, to be added up over the ranks.
struct BlockCounts {
  double entries = 0;       ///< of the rows looked at
  double places = 0;        ///< of the blocks that have an entry
  double rows = 0;          ///< looked at that have an entry off the diagonal
  double translations = 0;  ///< of these, where the entries of each unknown add up to zero
  double split = 0;         ///< ranks that do not have whole points
};
using BlockSums = std::array<BlockCounts, candidate_unknowns.size()>;

/// Local. Surveys this rank's rows, or a sample of them where they are many.
template <class T>
BlockSums survey_blocks(const matrix::DistMatrix<T>& A);

/// The number of unknowns that explains a matrix, from the sums over all ranks; 1 where none does
/// (problem_facts.hpp says when it does). The second: only where every rank has whole points.
int block_unknowns(const BlockSums& sums);
int whole_block_unknowns(const BlockSums& sums);
/// The largest number of unknowns whose blocks are filled to a half (two unknowns: to 60 %),
/// whatever their values; 1 where there is none, or a rank does not have whole points.
int dense_block_rows(const BlockSums& sums);

}  // namespace nodewise::advise
