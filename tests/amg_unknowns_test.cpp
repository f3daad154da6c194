// Systems coarsened unknown by unknown.
#include <gtest/gtest.h>

#include "nodewise/amg/coarsen/unknowns.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/setup/classical.hpp"
#include "nodewise/matrix/block_matrix.hpp"

#include "aggregate_support.hpp"
#include "collective_error.hpp"

namespace nodewise::amg {
namespace amg_unknowns_test {

using test::DenseMatrix;
using test::distribute;
using test::gathered;
using test::layouts_of;
using test::test_comm;

/// `n` unknowns at each point, those of a point together: each by A, and coupled with the others at
/// the point and its neighbours.
DenseMatrix system_of(const DenseMatrix& A, GlobalIndex n, double coupling) {
  DenseMatrix S(n * A.rows(), n * A.cols());
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      for (GlobalIndex u = 0; u < n; ++u) {
        for (GlobalIndex v = 0; v < n; ++v) {
          S(n * i + u, n * j + v) = A(i, j) * (u == v ? 1.0 + static_cast<double>(u) : coupling);
        }
      }
    }
  }
  return S;
}

/// Without the couplings of different unknowns.
DenseMatrix decoupled(DenseMatrix S, GlobalIndex n) {
  for (GlobalIndex i = 0; i < S.rows(); ++i) {
    for (GlobalIndex j = 0; j < S.cols(); ++j) {
      if (i % n != j % n) S(i, j) = 0;
    }
  }
  return S;
}

TEST(Unknowns, ThePartOfOneUnknownIsWhatIsNotCoupled) {
  for (const auto& [name, values] : test::level_matrices()) {
    const DenseMatrix S = system_of(values, 3, 0.4);
    for (const GlobalIndex first : {GlobalIndex{0}, (GlobalIndex{1} << 40) + 5}) {
      for (const matrix::Layout& layout : layouts_of(test_comm(), S.rows(), first)) {
        const auto A = distribute(S, layout).with_route("three_step");
        const auto part = same_unknown_part(A, interleaved_unknowns(layout, 3));
        test::expect_invariants(part);
        EXPECT_EQ(part.route(), "three_step");
        EXPECT_TRUE(gathered(part) == decoupled(S, 3)) << name;
      }
    }
  }
}

Options options_for(int unknowns) {
  Options options;
  options.unknowns = unknowns;
  options.set("strength_measure", "opposite_sign");
  options.set("coarsening", "cljp");
  options.max_coarse_rows = 10;
  return options;
}

// The strong couplings of the system are those of different unknowns, which must not matter.
TEST(Unknowns, ATransferIsThatOfTheDecoupledSystem) {
  const DenseMatrix S = system_of(test::model("laplace9", 6), 2, 1.4);
  for (const matrix::Layout& layout : layouts_of(test_comm(), S.rows())) {
    const auto got = classical_transfer<double>(distribute(S, layout), {}, options_for(2));
    const auto expected =
        classical_transfer<double>(distribute(decoupled(S, 2), layout), {}, options_for(1));
    ASSERT_TRUE(got.P && expected.P);
    EXPECT_EQ(got.coarse_rows, expected.coarse_rows);
    EXPECT_TRUE(gathered(*got.P) == gathered(*expected.P));
    ASSERT_EQ(got.coarse_unknown_of_row.size(), got.coarse_rows.size());
    for (std::size_t c = 0; c < got.coarse_rows.size(); ++c) {
      const GlobalIndex row = layout.to_global(got.coarse_rows[c]);
      EXPECT_EQ(got.coarse_unknown_of_row[c], static_cast<std::int32_t>(row % 2));
    }
  }
}

// No interpolation between unknowns on any level.
TEST(Unknowns, StayApartOnAllLevels) {
  const DenseMatrix S = system_of(test::model("laplace5", 9), 2, 0.3);
  for (const matrix::Layout& layout : layouts_of(test_comm(), S.rows())) {
    const Hierarchy<double> hierarchy(
        std::make_shared<const matrix::DistMatrix<double>>(distribute(S, layout)), options_for(2));
    ASSERT_GT(hierarchy.levels().size(), 2U);
    std::vector<GlobalIndex> fine(static_cast<std::size_t>(S.rows()));
    for (std::size_t i = 0; i < fine.size(); ++i) fine[i] = static_cast<GlobalIndex>(i % 2);
    for (std::size_t l = 0; l + 1 < hierarchy.levels().size(); ++l) {
      const DenseMatrix P = gathered(*hierarchy.interpolation(l));
      std::vector<GlobalIndex> coarse(static_cast<std::size_t>(P.cols()), -1);
      for (GlobalIndex i = 0; i < P.rows(); ++i) {
        for (GlobalIndex c = 0; c < P.cols(); ++c) {
          if (P(i, c) == 0) continue;
          GlobalIndex& unknown = coarse[static_cast<std::size_t>(c)];
          if (unknown < 0) unknown = fine[static_cast<std::size_t>(i)];
          EXPECT_EQ(unknown, fine[static_cast<std::size_t>(i)]) << "level " << l << ", row " << i;
        }
      }
      fine = coarse;
    }
  }
}

std::vector<double> applied(const Hierarchy<double>& hierarchy) {
  const std::vector<double> b =
      test::part_of(hierarchy.layout(), test::hashed(hierarchy.layout().n_global(), 1));
  std::vector<double> x(b.size());
  hierarchy.apply(b, x);
  return x;
}

// Coarse points have unknowns of their own. Of new values there are new blocks.
TEST(Unknowns, TheFinestLevelIsSmoothedInBlocksWhereTheseAreFull) {
  const DenseMatrix S = system_of(test::model("laplace5", 9), 2, 0.3);
  DenseMatrix doubled = S;
  for (double& value : std::span(doubled.data(), doubled.size())) value *= 2;
  const auto shared = [](const DenseMatrix& values, const matrix::Layout& layout) {
    return std::make_shared<const matrix::DistMatrix<double>>(distribute(values, layout));
  };
  for (const matrix::Layout& layout : test::two_layouts_of_points(81, 2)) {
    Options options = options_for(2);
    options.smoother = "l1_gauss_seidel";
    Hierarchy<double> hierarchy(shared(S, layout), options);
    ASSERT_GT(hierarchy.levels().size(), 1U);
    ASSERT_NE(hierarchy.matrix(0)->blocks(), nullptr);
    EXPECT_EQ(hierarchy.matrix(0)->blocks()->block(), 2);
    EXPECT_EQ(hierarchy.matrix(1)->blocks(), nullptr);
    const std::vector<double> before = applied(hierarchy);
    hierarchy.rebuild(shared(doubled, layout));
    const std::vector<double> after = applied(hierarchy);
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i] / 2, 1e-13);
    const Hierarchy<double> by_rows(shared(decoupled(S, 2), layout), options);
    EXPECT_EQ(by_rows.matrix(0)->blocks(), nullptr);
  }
}

TEST(Unknowns, RowsMustBeWholePoints) {
  const DenseMatrix values = test::model("laplace5", 5);
  const auto A = distribute(values, matrix::Layout::uniform(test_comm(), values.rows()));
  const std::string text = test::expect_same_error(*test_comm(), ErrorCode::invalid_argument, [&] {
    classical_transfer<double>(A, {}, options_for(2));
  });
  EXPECT_NE(text.find("25 rows are not points of 2 unknowns"), std::string::npos) << text;
}

}  // namespace amg_unknowns_test
}  // namespace nodewise::amg
