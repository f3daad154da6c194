// is_symmetric: what it must see, and what it must overlook.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/matrix/operations.hpp"

#include "dist_matrix_support.hpp"
#include "support.hpp"
#include "threads_support.hpp"

namespace nodewise::matrix {
namespace matrix_symmetry_test {

using test::layouts_of;
using test::test_comm;

constexpr GlobalIndex n = 40;

double symmetric_value(GlobalIndex i, GlobalIndex j) {
  const auto low = static_cast<std::uint64_t>(std::min(i, j));
  const auto high = static_cast<std::uint64_t>(std::max(i, j));
  const double value = hash_uniform(low, high + 1) - 0.5;
  return std::abs(value) < 0.1 || i == j ? value : 0.0;
}

// A symmetric matrix with its value at (i, j) given by change(i, j, value).
template <class T, class Change>
DistMatrix<T> changed(const Layout& layout, Change&& change) {
  return matrix_from_rows<T>(layout, layout, [&](GlobalIndex i, auto&& emit) {
    for (GlobalIndex j = 0; j < n; ++j) {
      const auto value = change(i, j, static_cast<T>(symmetric_value(i, j)));
      if (value != T{0}) emit(j, value);
    }
  });
}

template <class T>
class Symmetry : public testing::Test {};
using Values = testing::Types<double, float>;
TYPED_TEST_SUITE(Symmetry, Values);

TYPED_TEST(Symmetry, SymmetricUpToRoundOff) {
  using T = TypeParam;
  for (const Layout& layout : layouts_of(test_comm(), n)) {
    EXPECT_TRUE(is_symmetric(changed<T>(layout, [](auto, auto, T value) { return value; })));
    EXPECT_TRUE(is_symmetric(changed<T>(layout, [](auto i, auto j, T value) {
      return i < j ? std::nextafter(value, T{2}) : value;
    })));
  }
}

// The last row against the first column: on two ranks or more the pair is off-process.
TYPED_TEST(Symmetry, OneEntryOff) {
  using T = TypeParam;
  const T relative = std::is_same_v<T, double> ? T(1e-6) : T(1e-2);
  for (const Layout& layout : layouts_of(test_comm(), n)) {
    const auto A = changed<T>(layout, [&](auto i, auto j, T value) {
      if (i == n - 1 && j == 0) return T(0.3) * (1 + relative);
      return i == 0 && j == n - 1 ? T(0.3) : value;
    });
    EXPECT_FALSE(is_symmetric(A));
  }
}

TYPED_TEST(Symmetry, StructurallyNonsymmetric) {
  using T = TypeParam;
  for (const Layout& layout : layouts_of(test_comm(), n)) {
    const auto without_lower = [&](GlobalIndex row, GlobalIndex column) {
      return is_symmetric(changed<T>(layout, [&](auto i, auto j, T value) {
        if (i == row && j == column) return T(0.01);
        return i == column && j == row ? T(0) : value;
      }));
    };
    EXPECT_FALSE(without_lower(n - 1, 0));
    EXPECT_FALSE(without_lower(0, n - 1));
    EXPECT_FALSE(without_lower(17, 18));
    EXPECT_FALSE(is_symmetric(
        changed<T>(layout, [](auto i, auto j, T value) { return i <= j ? value : T(0); })));
  }
}

// Stored zeros are no entries, whichever side of the diagonal they are on.
TYPED_TEST(Symmetry, StoredZerosDoNotCount) {
  using T = TypeParam;
  for (const Layout& layout : layouts_of(test_comm(), n)) {
    const auto with_zero = [&](GlobalIndex row, GlobalIndex column, T lower) {
      return is_symmetric(matrix_from_rows<T>(layout, layout, [&](GlobalIndex i, auto&& emit) {
        emit(i, T(2));
        if (i == row) emit(column, T(0));
        if (i > 0) emit(i - 1, lower);
        if (i < n - 1) emit(i + 1, T(-1));
      }));
    };
    EXPECT_TRUE(with_zero(0, n - 1, T(-1)));
    EXPECT_TRUE(with_zero(20, 17, T(-1)));
    EXPECT_FALSE(with_zero(20, 17, T(-0.5)));
  }
}

// A small entry beside large ones may have any counterpart: rows are compared, not pairs.
TYPED_TEST(Symmetry, RoundOffOfARowIsOverlooked) {
  using T = TypeParam;
  const T small = std::is_same_v<T, double> ? T(1e-16) : T(1e-8);
  for (const Layout& layout : layouts_of(test_comm(), n)) {
    EXPECT_TRUE(is_symmetric(changed<T>(layout, [&](auto i, auto j, T value) {
      if (i == j) return T(1);
      return i == 3 && j == n - 2 ? small : (i == n - 2 && j == 3 ? T(0) : value);
    })));
  }
}

/// Whether bands of couplings to rows at distance 1 and 70 are symmetric, `upper` times those at
/// (row, row + 70).
template <class T>
bool bands_are_symmetric(GlobalIndex row, T upper) {
  constexpr GlobalIndex size = 6000;
  const Layout layout = Layout::uniform(test_comm(), size);
  return is_symmetric(matrix_from_rows<T>(layout, layout, [&](GlobalIndex i, auto&& emit) {
    emit(i, T(4));
    for (const GlobalIndex distance : {1, 70}) {
      if (i >= distance) emit(i - distance, T(-1));
      if (i + distance < size) emit(i + distance, i == row && distance == 70 ? -upper : T(-1));
    }
  }));
}

TYPED_TEST(Symmetry, OnThreads) {
  using T = TypeParam;
  if (!test::can_test_threads()) GTEST_SKIP() << "without threads, or with many ranks";
  for (const int number : {1, 2, 3}) {
    const test::Threads threads(number);
    EXPECT_TRUE(bands_are_symmetric<T>(0, T(1)));
    for (const GlobalIndex row : {GlobalIndex{0}, GlobalIndex{2950}, GlobalIndex{5929}}) {
      EXPECT_FALSE(bands_are_symmetric<T>(row, T(1.5))) << row;
      EXPECT_FALSE(bands_are_symmetric<T>(row, T(0))) << row;
    }
  }
}

TYPED_TEST(Symmetry, SkewSymmetricIsNot) {
  using T = TypeParam;
  const Layout layout = Layout::uniform(test_comm(), n);
  EXPECT_FALSE(is_symmetric(changed<T>(
      layout, [](auto i, auto j, T value) { return i == j ? T(0) : (i < j ? value : -value); })));
}

TYPED_TEST(Symmetry, NotANumberIsNotSymmetric) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const Layout& layout : layouts_of(test_comm(), n)) {
    for (const GlobalIndex place : {GlobalIndex{0}, GlobalIndex{13}, n - 1}) {
      EXPECT_FALSE(is_symmetric(changed<T>(layout, [&](auto i, auto j, T value) {
        return i == place && j == place ? nan : value;
      })));
      EXPECT_FALSE(is_symmetric(changed<T>(layout, [&](auto i, auto j, T value) {
        const bool pair = (i == place && j == n - 1 - place) || (j == place && i == n - 1 - place);
        return pair ? nan : value;
      })));
    }
  }
}

TYPED_TEST(Symmetry, TinyAndHugeScales) {
  using T = TypeParam;
  const Layout layout = Layout::uniform(test_comm(), n);
  for (const T scale : {T(1e-25), T(1e25)}) {
    EXPECT_TRUE(
        is_symmetric(changed<T>(layout, [&](auto, auto, T value) { return scale * value; })));
    EXPECT_FALSE(is_symmetric(changed<T>(layout, [&](auto i, auto j, T value) {
      return scale * (i == 1 && j == n - 1 ? T(0.25) : value);
    })));
  }
}

TYPED_TEST(Symmetry, RectangularOrSplitOtherwise) {
  using T = TypeParam;
  const auto comm = test_comm();
  const test::RandomMatrix<T> A(Layout::uniform(comm, 8), Layout::uniform(comm, 9), 0.0, 1);
  EXPECT_FALSE(is_symmetric(A.dist));
  const Layout none = Layout::uniform(comm, 0);
  EXPECT_TRUE(is_symmetric(test::RandomMatrix<T>(none, none, 0.5, 1).dist));
  const test::RandomMatrix<T> zero(Layout::uniform(comm, 8), Layout::uniform(comm, 8), 0.0, 1);
  EXPECT_TRUE(is_symmetric(zero.dist));
}

}  // namespace matrix_symmetry_test
}  // namespace nodewise::matrix
