// Parts of a matrix on any layout, with ranks that have nothing of them, and vectors of a part.
#include <numeric>

#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/comm/subset.hpp"
#include "nodewise/matrix/submatrix.hpp"

#include "dist_matrix_support.hpp"
#include "support.hpp"

namespace nodewise::test {
namespace matrix_submatrix_test {

/// Which indices of a layout, counted from its first, are chosen.
using Wanted = bool (*)(GlobalIndex i);

bool some(GlobalIndex i) {
  return hash_uniform(static_cast<std::uint64_t>(i), 3) < 0.4;
}
bool the_last(GlobalIndex i) {
  return i >= 25;
}
bool none(GlobalIndex) {
  return false;
}

comm::Subset subset(const comm::Layout& layout, Wanted wanted) {
  std::vector<LocalIndex> chosen;
  for (LocalIndex i = 0; i < layout.n_local(); ++i) {
    if (wanted(layout.to_global(i) - layout.first())) chosen.push_back(i);
  }
  return {layout, chosen};
}

std::vector<GlobalIndex> indices(GlobalIndex n, Wanted wanted) {
  std::vector<GlobalIndex> all;
  for (GlobalIndex i = 0; i < n; ++i) {
    if (wanted(i)) all.push_back(i);
  }
  return all;
}

Whole<double> part_of_whole(const Whole<double>& A, Wanted row_wanted, Wanted col_wanted) {
  const auto rows = indices(A.values.rows(), row_wanted);
  const auto cols = indices(A.values.cols(), col_wanted);
  const auto m = static_cast<GlobalIndex>(rows.size()), n = static_cast<GlobalIndex>(cols.size());
  Whole<double> part{Dense<double>(m, n), Dense<int>(m, n)};
  for (GlobalIndex i = 0; i < m; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) {
      const GlobalIndex row = rows[static_cast<std::size_t>(i)];
      const GlobalIndex col = cols[static_cast<std::size_t>(j)];
      part.values(i, j) = A.values(row, col);
      part.pattern(i, j) = A.pattern(row, col);
    }
  }
  return part;
}

TEST(Submatrix, HasTheEntriesOfTheChosenRowsAndColumnsOnAnyLayout) {
  const auto rows_of_all = layouts_of(test_comm(), 40, 5);
  const auto cols_of_all = layouts_of(test_comm(), 33, 2);
  for (std::size_t l = 0; l < rows_of_all.size(); ++l) {
    const comm::Layout &rows = rows_of_all[l], &cols = cols_of_all[(l + 2) % cols_of_all.size()];
    const RandomMatrix<double> A(rows, cols, 0.3, 9);
    for (const Wanted row_wanted : {some, the_last, none}) {
      for (const Wanted col_wanted : {some, the_last, none}) {
        const auto part =
            matrix::submatrix(A.dist, subset(rows, row_wanted), subset(cols, col_wanted));
        expect_equal(part, part_of_whole(A.whole, row_wanted, col_wanted));
      }
    }
  }
}

TEST(Subset, TakesAndPutsItsEntriesOfAVector) {
  for (const comm::Layout& layout : layouts_of(test_comm(), 40, 5)) {
    const comm::Subset part = subset(layout, some);
    std::vector<GlobalIndex> all(static_cast<std::size_t>(layout.n_local()));
    std::iota(all.begin(), all.end(), layout.begin() - layout.first());
    std::vector<GlobalIndex> taken(static_cast<std::size_t>(part.layout().n_local()));
    part.take<GlobalIndex>(all, taken);
    const auto expected = indices(40, some);
    for (std::size_t k = 0; k < taken.size(); ++k) {
      EXPECT_EQ(taken[k], expected[k + static_cast<std::size_t>(part.layout().begin())]);
      taken[k] = -1;
    }
    part.put<GlobalIndex>(taken, all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const GlobalIndex index = layout.begin() - layout.first() + static_cast<GlobalIndex>(i);
      EXPECT_EQ(all[i], some(index) ? -1 : index);
    }
  }
}

}  // namespace matrix_submatrix_test
}  // namespace nodewise::test
