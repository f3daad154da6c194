#include "nodewise/advise/block_survey.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "nodewise/base/error.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/matrix/row_entries.hpp"

namespace nodewise::advise {

namespace {

using matrix::DistMatrix;

/// Points that a rank looks at for each number of unknowns.
constexpr GlobalIndex most_points = 4096;
constexpr double least_fill = 0.6;
constexpr double least_translations = 0.5;

/// Looks at points of k rows, counted from the first global row. The same for all threads.
template <int k, class T>
class BlockSurvey {
 public:
  explicit BlockSurvey(const DistMatrix<T>& A)
      : on_(A.on()),
        off_(A.off()),
        first_row_(A.rows().begin() - A.rows().first()),
        shift_(static_cast<std::uint32_t>(first_row_ % k)),
        n_blocks_(static_cast<LocalIndex>((first_row_ % k + A.n_local() + k - 1) / k)),
        n_own_blocks_(n_blocks_),
        ghost_unknown_(static_cast<std::size_t>(A.n_ghosts())),
        ghost_block_(ghost_unknown_.size()) {
    GlobalIndex last = std::numeric_limits<GlobalIndex>::min();
    for (std::size_t g = 0; g < ghost_block_.size(); ++g) {
      const GlobalIndex column = A.ghosts()[g] - A.cols().first();
      const GlobalIndex block = column / k - first_row_ / k;
      ghost_unknown_[g] = static_cast<int>(column % k);
      if (block >= 0 && block < n_own_blocks_) {
        ghost_block_[g] = static_cast<LocalIndex>(block);  // that a rank boundary divides
      } else {
        ghost_block_[g] = block == last ? n_blocks_ - 1 : n_blocks_++;
        last = block;
      }
    }
  }

  BlockCounts counts() const {
    const GlobalIndex last_row = first_row_ + on_.n_rows;
    const GlobalIndex begin = (first_row_ + k - 1) / k;
    const GlobalIndex n_points = std::max<GlobalIndex>(last_row / k - begin, 0);
    const GlobalIndex stride = std::max<GlobalIndex>(1, n_points / most_points);
    const auto n_looked_at = static_cast<std::size_t>((n_points + stride - 1) / stride);
    const std::size_t n_rows = std::max<std::size_t>(static_cast<std::size_t>(on_.n_rows), 1);
    const std::size_t row = 1 + static_cast<std::size_t>(on_.nnz() + off_.nnz()) / n_rows;
    const int parts = parallel::parts_of(n_looked_at * k * row);
    std::vector<BlockCounts> of_part(static_cast<std::size_t>(parts));
    parallel::run(parts, [&](int part) {
      Looker looker(*this);
      const std::size_t end = parallel::equal_part(n_looked_at, parts, part + 1);
      for (std::size_t p = parallel::equal_part(n_looked_at, parts, part); p < end; ++p) {
        const GlobalIndex point = begin + static_cast<GlobalIndex>(p) * stride;
        looker.add_point(static_cast<LocalIndex>(point * k - first_row_));
      }
      of_part[static_cast<std::size_t>(part)] = looker.counts();
    });
    BlockCounts sums;
    sums.split = first_row_ % k == 0 && last_row % k == 0 ? 0 : 1;
    for (const BlockCounts& counts : of_part) {
      sums.entries += counts.entries;
      sums.places += counts.places;
      sums.rows += counts.rows;
      sums.translations += counts.translations;
    }
    return sums;
  }

 private:
  /// visit(block, unknown, value) for the entries of a row that are not zero. Blocks have numbers
  /// that this rank gives them.
  template <class Visit>
  void for_each_entry(LocalIndex i, Visit&& visit) const {
    for (Offset e = on_.begin(i); e < on_.end(i); ++e) {
      const auto p = static_cast<std::size_t>(e);
      const auto column = static_cast<std::uint32_t>(on_.cols[p]) + shift_;
      if (on_.vals[p] != T{}) visit(column / k, column % k, static_cast<double>(on_.vals[p]));
    }
    for (Offset e = off_.begin(i); e < off_.end(i); ++e) {
      const auto p = static_cast<std::size_t>(e);
      const auto g = static_cast<std::size_t>(off_.cols[p]);
      if (off_.vals[p] != T{}) {
        visit(static_cast<std::uint32_t>(ghost_block_[g]),
              static_cast<std::uint32_t>(ghost_unknown_[g]), static_cast<double>(off_.vals[p]));
      }
    }
  }

  /// The counts of one thread.
  class Looker {
   public:
    explicit Looker(const BlockSurvey& survey)
        : survey_(survey), seen_by_(static_cast<std::size_t>(survey.n_blocks_), -1) {}

    void add_point(LocalIndex first_row) {
      for (LocalIndex i = first_row; i < first_row + k; ++i) add_row(i, first_row);
    }
    const BlockCounts& counts() const { return counts_; }

   private:
    void add_row(LocalIndex i, LocalIndex point) {
      std::array<double, k> of_unknown = {};
      double scale = 0;
      int length = 0;
      survey_.for_each_entry(i, [&](std::uint32_t, std::uint32_t unknown, double value) {
        of_unknown[unknown] += value;
        scale += std::abs(value);
        ++length;
      });
      if (length <= 1) return;  // a clamped unknown
      counts_.rows += 1;
      counts_.entries += length;
      survey_.for_each_entry(i, [&](std::uint32_t block, std::uint32_t, double) {
        if (std::exchange(seen_by_[block], point) != point) counts_.places += k * k;
      });
      // Sums of blocks are of larger terms that cancel: assembled values are less exact than rows.
      const bool vanish = std::all_of(of_unknown.begin(), of_unknown.end(), [&](double sum) {
        return std::abs(sum) <= 100 * matrix::round_off<T>() * scale;
      });
      counts_.translations += vanish ? 1 : 0;
    }

    const BlockSurvey& survey_;
    std::vector<LocalIndex> seen_by_;  // for each block the last point that has an entry in it
    BlockCounts counts_;
  };

  const kernels::Csr<T>& on_;
  const kernels::Csr<T>& off_;
  GlobalIndex first_row_;  // counted from the first
  std::uint32_t shift_;    // rows of its point on the ranks before
  LocalIndex n_blocks_;
  LocalIndex n_own_blocks_;  // with an own row; those of ghosts are behind
  std::vector<int> ghost_unknown_;
  std::vector<LocalIndex> ghost_block_;
};

template <class T>
BlockCounts survey(const DistMatrix<T>& A, int k) {
  switch (k) {
    case 2:
      return BlockSurvey<2, T>(A).counts();
    case 3:
      return BlockSurvey<3, T>(A).counts();
    case 4:
      return BlockSurvey<4, T>(A).counts();
    case 6:
      return BlockSurvey<6, T>(A).counts();
    default:
      throw Error(ErrorCode::internal, "block survey: an unknown number of unknowns");
  }
}

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
      sums[c] = survey(A, candidate_unknowns[c]);
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

int dense_block_rows(const BlockSums& sums) {
  // Blocks of two points are nearly as full as those of one only where all their rows are alike.
  constexpr double as_full = 0.9;
  std::array<double, candidate_unknowns.size()> fill = {};
  for (std::size_t c = 0; c < sums.size(); ++c) {
    const BlockCounts& blocks = sums[c];
    // Rows of a grid fill blocks of two to a half, and larger ones less.
    const double least = candidate_unknowns[c] == 2 ? least_fill : 0.5;
    if (blocks.rows == 0 || blocks.split > 0) continue;
    fill[c] = blocks.entries >= least * blocks.places ? blocks.entries / blocks.places : 0;
  }
  const double fullest = *std::max_element(fill.begin(), fill.end());
  int rows = 1;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    if (fill[c] > 0 && fill[c] >= as_full * fullest) rows = candidate_unknowns[c];
  }
  return rows;
}

template BlockSums survey_blocks(const DistMatrix<double>&);
template BlockSums survey_blocks(const DistMatrix<float>&);

}  // namespace nodewise::advise
