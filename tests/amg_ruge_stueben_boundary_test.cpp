// The third pass of Ruge-Stüben: coarse points in common across ranks, on all layouts.
#include <algorithm>

#include <gtest/gtest.h>

#include "nodewise/amg/coarsen/coarsening_method.hpp"

#include "amg_support.hpp"
#include "coarsen_reference.hpp"

namespace nodewise::amg::coarsen {
namespace amg_ruge_stueben_boundary_test {

using test::distribute;
using test::gathered_splitting;
using test::layouts_of;
using test::test_comm;
using namespace test::coarsening;

const Choice<CoarseningMethod> method = "ruge_stueben_boundary";

Strength strength_of(const matrix::DistMatrix<double>& A) {
  return strength_of_connection(A, threshold, max_row_sum);
}

std::vector<int> splitting_of_all(const matrix::DistMatrix<double>& A,
                                  std::span<const GlobalIndex> blocks = {}) {
  return gathered_splitting(A.comm(), split(method, A, strength_of(A), blocks, 0));
}

TEST(RugeStuebenBoundary, GivesNeighboursACoarsePointInCommonAcrossRanks) {
  for (const auto& [name, values] : matrices()) {
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      const auto A = distribute(values, layout);
      expect_common_coarse_points(strong(values), splitting_of_all(A), name);
    }
  }
}

TEST(RugeStuebenBoundary, OnlyAddsToBothPasses) {
  for (const auto& [name, values] : matrices()) {
    const auto A = distribute(values, test::random_layout(test_comm(), values.rows(), 3));
    const Splitting two = ruge_stueben(A, strength_of(A));
    const Splitting three = split(method, A, strength_of(A), {}, 0);
    for (std::size_t i = 0; i < two.size(); ++i) EXPECT_GE(three[i], two[i]) << name;
    const auto alone = test::serial(values);
    EXPECT_EQ(split(method, alone, strength_of(alone), {}, 0),
              ruge_stueben(alone, strength_of(alone)))
        << name;
  }
}

TEST(RugeStuebenBoundary, OfVirtualRanksIsThatOfRealOnes) {
  for (const auto& [name, values] : matrices()) {
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      const auto real = splitting_of_all(distribute(values, layout));
      const auto alone = test::serial(values);
      const Splitting one = split(method, alone, strength_of(alone), layout.starts(), 0);
      EXPECT_EQ(std::vector<int>(one.begin(), one.end()), real) << name;
    }
  }
}

}  // namespace amg_ruge_stueben_boundary_test
}  // namespace nodewise::amg::coarsen
