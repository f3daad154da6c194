// Gauss-Seidel through rows of every form against loops written down plainly, and through blocks
// against that through rows.
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/amg/relax/row_sweeps.hpp"

#include "aggregate_support.hpp"
#include "local_matrix.hpp"
#include "smoother_support.hpp"

namespace nodewise::amg::relax {
namespace amg_row_sweeps_test {

/// A matrix with a dominant diagonal, where it has one, and what sweeps know of it.
template <class T>
struct Rows {
  kernels::Csr<T> A;
  std::vector<LocalIndex> lower;
  std::vector<T> inverse;

  /// Row i has the columns that `has` says, and the diagonal.
  Rows(LocalIndex n, LocalIndex band, const std::function<bool(LocalIndex, LocalIndex)>& has)
      : A(n, n) {
    for (LocalIndex i = 0; i < n; ++i) {
      lower.push_back(0);
      for (LocalIndex j = std::max(i - band, 0); j < std::min(i + band + 1, n); ++j) {
        if (i != j && !has(i, j)) continue;
        lower.back() += j < i;
        const auto seed = static_cast<std::uint64_t>(i) * 100000 + static_cast<std::uint64_t>(j);
        A.cols.push_back(j);
        A.vals.push_back(static_cast<T>(i == j ? 8 : hash_uniform(seed, 5) - 0.5));
      }
      inverse.push_back(static_cast<T>(0.125 + 0.01 * (i % 3)));
      A.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(A.cols.size());
    }
  }
  /// The product of row i with x over columns from begin to end.
  T product(LocalIndex i, LocalIndex begin, LocalIndex end, const std::vector<T>& x) const {
    T sum{};
    for (auto k = static_cast<std::size_t>(A.begin(i)); k < static_cast<std::size_t>(A.end(i));
         ++k) {
      const LocalIndex j = A.cols[k];
      if (j >= begin && j < end) sum += A.vals[k] * x[static_cast<std::size_t>(j)];
    }
    return sum;
  }
};

/// A chain with every row's neighbours, rows of one length without them, rows of any length.
template <class T>
std::vector<Rows<T>> rows_of_every_form() {
  const auto near = [](LocalIndex i, LocalIndex j) { return std::abs(i - j) <= 2; };
  const auto apart = [](LocalIndex i, LocalIndex j) { return std::abs(i - j) == 5; };
  const auto any = [](LocalIndex i, LocalIndex j) {
    return test::has_entry(i, j, 0.4, 1) && i % 97 != 0;  // some have nothing but the diagonal
  };
  std::vector<Rows<T>> all;
  all.emplace_back(1500, 2, near);
  all.emplace_back(1500, 5, apart);
  all.emplace_back(1500, 8, any);
  all.emplace_back(1, 0, near);
  return all;
}

template <class T>
class RowSweepsTest : public testing::Test {
 protected:
  static std::vector<T> vector_of(LocalIndex n, std::uint64_t seed) {
    std::vector<T> x;
    for (LocalIndex i = 0; i < n; ++i) {
      x.push_back(static_cast<T>(hash_uniform(static_cast<std::uint64_t>(i), seed) - 0.5));
    }
    return x;
  }
  static void expect_near(const std::vector<T>& a, const std::vector<T>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_NEAR(a[i], b[i], 20 * std::numeric_limits<T>::epsilon()) << "row " << i;
    }
  }
};
using Values = testing::Types<double, float>;
TYPED_TEST_SUITE(RowSweepsTest, Values);

TYPED_TEST(RowSweepsTest, FirstSweepsAndTheirResiduals) {
  using T = TypeParam;
  for (const Rows<T>& rows : rows_of_every_form<T>()) {
    const LocalIndex n = rows.A.n_rows;
    const RowSweeps<T> sweeps(rows.A, rows.lower, rows.inverse);
    const std::vector<T> b = this->vector_of(n, 1);
    std::vector<T> expected(b.size()), residual(b.size());
    for (LocalIndex i = 0; i < n; ++i) {
      const auto u = static_cast<std::size_t>(i);
      expected[u] = (b[u] - rows.product(i, 0, i, expected)) * rows.inverse[u];
    }
    for (LocalIndex i = 0; i < n; ++i) {
      residual[static_cast<std::size_t>(i)] = -rows.product(i, i + 1, n, expected);
    }
    for (const LocalIndex cut : {LocalIndex{0}, n / 3, n}) {  // in one run, and in two
      // What was there before is not read, not even where it is no number.
      std::vector<T> x(b.size(), std::numeric_limits<T>::quiet_NaN()), r(b.size());
      const auto ahead = sweeps.ahead(0, n);
      sweeps.first(0, cut, ahead, b.data(), x.data());
      sweeps.first(cut, n, ahead, b.data(), x.data());
      this->expect_near(x, expected);
      sweeps.upper_residual(0, cut, ahead, x.data(), r.data());
      sweeps.upper_residual(cut, n, sweeps.ahead(cut, n), x.data(), r.data());
      this->expect_near(r, residual);
    }
  }
}

TYPED_TEST(RowSweepsTest, SweepsBothWays) {
  using T = TypeParam;
  for (const Rows<T>& rows : rows_of_every_form<T>()) {
    const LocalIndex n = rows.A.n_rows;
    const RowSweeps<T> sweeps(rows.A, rows.lower, rows.inverse);
    const std::vector<T> b = this->vector_of(n, 1), start = this->vector_of(n, 2);
    for (const bool is_forward : {true, false}) {
      std::vector<T> expected = start;
      for (LocalIndex k = 0; k < n; ++k) {
        const LocalIndex i = is_forward ? k : n - 1 - k;
        const auto u = static_cast<std::size_t>(i);
        expected[u] += (b[u] - rows.product(i, 0, n, expected)) * rows.inverse[u];
      }
      for (const LocalIndex cut : {LocalIndex{0}, n / 3, n}) {
        std::vector<T> x = start;
        if (is_forward) {
          sweeps.forward(0, cut, b.data(), x.data());
          sweeps.forward(cut, n, b.data(), x.data());
        } else {
          sweeps.backward(cut, n, b.data(), x.data());
          sweeps.backward(0, cut, b.data(), x.data());
        }
        this->expect_near(x, expected);
      }
    }
  }
}

/// Points with some rows coupled so strongly to others that the l1 form has to do with them, and
/// some not at all; some rows without a diagonal, one point without any; some entries missing.
test::DenseMatrix points_of_rows(GlobalIndex points, int b) {
  test::DenseMatrix A(points * b, points * b);
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      const auto row = static_cast<std::uint64_t>(i), column = static_cast<std::uint64_t>(j);
      const bool is_coupled = i / b == j / b || hash_uniform(hash64(row / b, 3), column / b) < 0.4;
      if (!is_coupled || hash_uniform(hash64(row, 4), column) < 0.15) continue;
      A(i, j) = hash_uniform(hash64(row, 5), column) - 0.5;
    }
    A(i, i) = i % 11 == 4 || i / b == 5 ? 0.0 : i % 5 == 2 ? -1.5 : 8.0;
  }
  return A;
}

template <class T>
std::vector<T> vector_on(const matrix::Layout& layout, int width, std::uint64_t seed) {
  std::vector<T> x;
  for (const double value : test::part_of(layout, test::hashed(layout.n_global(), seed))) {
    for (int c = 0; c < width; ++c) x.push_back(static_cast<T>(value + c));
  }
  return x;
}

template <class T>
class SweepsInBlocks : public testing::Test {
 protected:
  using Matrix = matrix::DistMatrix<T>;

  static void expect_near(const std::vector<T>& a, const std::vector<T>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(a[i], b[i], 500 * std::numeric_limits<T>::epsilon()) << "row " << i;
    }
  }
  /// All that a relaxation does, on the same matrix by rows and in blocks.
  static void compare(const Matrix& rows, const Matrix& blocks, const Options& options) {
    const auto by_rows = make_relaxation(rows, options.smoother);
    const auto in_blocks = make_relaxation(blocks, options.smoother);
    const std::vector<T> b = vector_on<T>(rows.rows(), 1, 1),
                         start = vector_on<T>(rows.rows(), 1, 2);
    for (const Sweep sweep : {Sweep::first, Sweep::first_symmetric, Sweep::forward, Sweep::backward,
                              Sweep::symmetric}) {
      std::vector<T> expected = start, x = start;
      by_rows->run(sweep, b, expected);
      in_blocks->run(sweep, b, x);
      expect_near(x, expected);
    }
    std::vector<T> expected = start, residual = start, x = start, r = start;
    by_rows->first_sweep_with_residual(b, expected, residual);
    in_blocks->first_sweep_with_residual(b, x, r);
    expect_near(x, expected);
    expect_near(r, residual);
    const std::vector<T> B = vector_on<T>(rows.rows(), 3, 1);
    for (const Sweep sweep : {Sweep::first_symmetric, Sweep::symmetric}) {
      std::vector<T> together = B, X = B;
      by_rows->sweep_block(sweep, B, together, 3);
      in_blocks->sweep_block(sweep, B, X, 3);
      expect_near(X, together);
    }
  }
};
TYPED_TEST_SUITE(SweepsInBlocks, Values);

TYPED_TEST(SweepsInBlocks, AreThoseByRows) {
  for (const int b : {2, 3, 4, 5, 6}) {
    const test::DenseMatrix values = points_of_rows(9, b);
    for (const matrix::Layout& layout :
         b == 3 ? test::layouts_of_points(9, b) : test::two_layouts_of_points(9, b)) {
      const auto A = test::distribute<TypeParam>(values, layout);
      for (const std::string kind : {"gauss_seidel", "l1_gauss_seidel"}) {
        Options options;
        options.smoother = kind;
        set_sor_weight(options, b % 2 == 0 ? 1.0 : 0.7);
        SCOPED_TRACE(std::to_string(b) + " rows a point, kind " + kind);
        this->compare(A, A.with_blocks(b), options);
      }
    }
  }
}

}  // namespace amg_row_sweeps_test
}  // namespace nodewise::amg::relax
