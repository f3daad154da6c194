#include "nodewise/amg/block_survey.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "nodewise/amg/row_entries.hpp"

namespace nodewise::amg {

namespace {

using matrix::DistMatrix;

/// Points that a rank looks at for each number of unknowns.
constexpr GlobalIndex most_points = 4096;
constexpr double least_fill = 0.6;
constexpr double least_translations = 0.5;

/// Looks at points of k rows, counted from the first global row.
template <class T>
class BlockSurvey {
 public:
  BlockSurvey(const DistMatrix<T>& A, int k, BlockCounts& sums)
      : A_(A), k_(k), sums_(sums), of_unknown_(static_cast<std::size_t>(k)) {
    const GlobalIndex first = A.rows().begin() - A.rows().first();
    const GlobalIndex last = A.rows().end() - A.rows().first();
    sums_.split += first % k == 0 && last % k == 0 ? 0 : 1;
    const GlobalIndex begin = (first + k - 1) / k;
    const GlobalIndex end = last / k;
    const GlobalIndex stride = std::max<GlobalIndex>(1, (end - begin) / most_points);
    for (GlobalIndex point = begin; point < end; point += stride) {
      add_point(static_cast<LocalIndex>(point * k - first));
    }
  }

 private:
  void add_point(LocalIndex first_row) {
    block_columns_.clear();
    for (LocalIndex i = first_row; i < first_row + k_; ++i) add_row(i);
    sums_.entries += static_cast<double>(block_columns_.size());
    std::sort(block_columns_.begin(), block_columns_.end());
    const auto distinct =
        std::unique(block_columns_.begin(), block_columns_.end()) - block_columns_.begin();
    sums_.places += static_cast<double>(distinct * k_ * k_);
  }

  void add_row(LocalIndex i) {
    std::fill(of_unknown_.begin(), of_unknown_.end(), 0.0);
    double scale = 0;
    const std::size_t before = block_columns_.size();
    for_each_in_row(A_, i, [&](GlobalIndex col, double value) {
      const GlobalIndex column = col - A_.cols().first();
      block_columns_.push_back(column / k_);
      of_unknown_[static_cast<std::size_t>(column % k_)] += value;
      scale += std::abs(value);
    });
    if (block_columns_.size() <= before + 1) {  // a clamped unknown
      block_columns_.resize(before);
      return;
    }
    sums_.rows += 1;
    // Sums of blocks are of larger terms that cancel: assembled values are less exact than rows.
    const bool vanish = std::all_of(of_unknown_.begin(), of_unknown_.end(), [&](double sum) {
      return std::abs(sum) <= 100 * round_off<T>() * scale;
    });
    sums_.translations += vanish ? 1 : 0;
  }

  const DistMatrix<T>& A_;
  int k_;
  BlockCounts& sums_;
  std::vector<double> of_unknown_;
  std::vector<GlobalIndex> block_columns_;
};

int find_unknowns(const BlockSums& sums, bool whole) {
  int found = 1;
  double most = least_translations;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    const BlockCounts& blocks = sums[c];
    if (blocks.rows == 0 || (whole && blocks.split > 0)) continue;
    const double translations = blocks.translations / blocks.rows;
    if (blocks.entries < least_fill * blocks.places || translations < most) continue;
    most = translations;  // the largest of equals: six unknowns vanish by threes, too
    found = candidate_unknowns[c];
  }
  return found;
}

}  // namespace

template <class T>
BlockSums survey_blocks(const DistMatrix<T>& A) {
  BlockSums sums;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    if (A.rows().n_global() % candidate_unknowns[c] == 0) {
      BlockSurvey<T>(A, candidate_unknowns[c], sums[c]);
    }
  }
  return sums;
}

int block_unknowns(const BlockSums& sums) {
  return find_unknowns(sums, false);
}

int whole_block_unknowns(const BlockSums& sums) {
  return find_unknowns(sums, true);
}

template BlockSums survey_blocks(const DistMatrix<double>&);
template BlockSums survey_blocks(const DistMatrix<float>&);

}  // namespace nodewise::amg
