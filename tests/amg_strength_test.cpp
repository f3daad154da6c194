// Strength of connection against its definition.
#include <gtest/gtest.h>

#include "nodewise/amg/coarsen/strength.hpp"

#include "amg_support.hpp"

namespace nodewise::amg {
namespace amg_strength_test {

using test::Dense;
using test::DenseMatrix;
using test::distribute;
using test::gathered_marks;
using test::layouts_of;
using test::test_comm;

void expect_definition(const DenseMatrix& values, double threshold, double max_row_sum,
                       StrengthMeasure measure, const std::string& name) {
  const auto expected = test::reference_strength(values, threshold, max_row_sum, measure);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    const Strength strength = strength_of_connection(A, threshold, max_row_sum, measure);
    EXPECT_TRUE(gathered_marks(A, strength) == expected)
        << name << ", threshold " << threshold << ", row sum " << max_row_sum;
  }
}

TEST(Strength, EqualsTheDefinitionOnEveryLayout) {
  for (const auto& [name, values] : test::level_matrices()) {
    for (const double threshold : {0.0, 0.25, 0.6}) {
      for (const double max_row_sum : {0.5, 0.9, 1.0}) {
        expect_definition(values, threshold, max_row_sum, StrengthMeasure::opposite_sign, name);
        expect_definition(values, threshold, max_row_sum, StrengthMeasure::absolute, name);
      }
    }
  }
}

DenseMatrix from_row(const std::vector<double>& row) {
  const auto n = static_cast<GlobalIndex>(row.size());
  DenseMatrix A(n, n);
  for (GlobalIndex j = 0; j < n; ++j) {
    A(0, j) = row[static_cast<std::size_t>(j)];
    if (j > 0) A(j, j) = 1;
  }
  return A;
}

/// The marks of the first row of a matrix, the other rows of which are diagonal.
std::vector<int> marks_of_row(const std::vector<double>& row, double threshold,
                              double max_row_sum = 1.0,
                              StrengthMeasure measure = StrengthMeasure::opposite_sign) {
  const DenseMatrix values = from_row(row);
  const auto A = distribute(values, matrix::Layout::uniform(test_comm(), values.rows()));
  const auto marks = gathered_marks(A, strength_of_connection(A, threshold, max_row_sum, measure));
  std::vector<int> first;
  for (GlobalIndex j = 0; j < values.cols(); ++j) first.push_back(marks(0, j));
  return first;
}

using Marks = std::vector<int>;

TEST(Strength, IsStrictAtTheThreshold) {
  EXPECT_EQ(marks_of_row({8, -4, -1, -1.001, -3}, 0.25), (Marks{0, 1, 0, 1, 1}));
}

TEST(Strength, PositiveCouplingsAreWeakAndDoNotRaiseTheBound) {
  EXPECT_EQ(marks_of_row({8, 100, -1, -0.2, 3}, 0.25), (Marks{0, 0, 1, 0, 0}));
  EXPECT_EQ(marks_of_row({8, 1, 2}, 0.25), (Marks{0, 0, 0}));
}

TEST(Strength, AbsoluteMeasureTakesBothSigns) {
  const auto absolute = [](const std::vector<double>& row) {
    return marks_of_row(row, 0.25, 1.0, StrengthMeasure::absolute);
  };
  EXPECT_EQ(absolute({8, 100, -26, -25, 30}), (Marks{0, 1, 1, 0, 1}));
  EXPECT_EQ(absolute({-8, 1, -2}), (Marks{0, 1, 1}));
}

TEST(Strength, SignsAreTurnedRoundForANegativeDiagonal) {
  EXPECT_EQ(marks_of_row({-8, -100, 1, 0.2, -3}, 0.25), (Marks{0, 0, 1, 0, 0}));
}

TEST(Strength, RowsDominatedByTheirDiagonalHaveNoStrongEntries) {
  // Row sums of 7.5 and 7 of a diagonal of 8; the bound is 7.2.
  EXPECT_EQ(marks_of_row({8, -0.5}, 0.25, 0.9), (Marks{0, 0}));
  EXPECT_EQ(marks_of_row({8, -1}, 0.25, 0.9), (Marks{0, 1}));
  EXPECT_EQ(marks_of_row({-8, 0.5}, 0.25, 0.9), (Marks{0, 0}));
  EXPECT_EQ(marks_of_row({8, -0.5}, 0.25, 1.0), (Marks{0, 1}));
  // The modulus of the sum counts: -8 of 1.
  EXPECT_EQ(marks_of_row({1, -9}, 0.25, 0.9), (Marks{0, 0}));
}

TEST(Strength, NothingIsStrongInADiagonalRow) {
  EXPECT_EQ(marks_of_row({3, 0, 0}, 0.0), (Marks{0, 0, 0}));
}

TEST(Strength, FloatMarksTheSame) {
  const DenseMatrix values = test::model("laplace5", 6);
  const auto A = distribute<float>(values, matrix::Layout::uniform(test_comm(), values.rows()));
  EXPECT_TRUE(gathered_marks(A, strength_of_connection(A, 0.25, 0.9)) ==
              test::reference_strength(values, 0.25, 0.9));
}

}  // namespace amg_strength_test
}  // namespace nodewise::amg
