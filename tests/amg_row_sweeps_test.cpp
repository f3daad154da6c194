// Gauss-Seidel through rows of every form against loops written down plainly.
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/amg/relax/row_sweeps.hpp"

#include "local_matrix.hpp"

namespace nodewise::amg::relax {
namespace {

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
      sweeps.first(0, cut, b.data(), x.data());
      sweeps.first(cut, n, b.data(), x.data());
      this->expect_near(x, expected);
      sweeps.upper_residual(0, cut, x.data(), r.data());
      sweeps.upper_residual(cut, n, x.data(), r.data());
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

}  // namespace
}  // namespace nodewise::amg::relax
