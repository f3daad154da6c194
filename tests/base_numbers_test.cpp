// Checked narrowing, hashing, error codes, arrays.
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/base/array.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/base/types.hpp"

namespace nodewise {
namespace base_numbers_test {

TEST(Narrow, KeepsWhatFitsAndNamesWhatDoesNot) {
  EXPECT_EQ(narrow<LocalIndex>(GlobalIndex{2147483647}), 2147483647);
  EXPECT_EQ(narrow<LocalIndex>(GlobalIndex{-2147483648}), std::numeric_limits<LocalIndex>::min());
  EXPECT_EQ(narrow<unsigned char>(255), 255);
  EXPECT_THROW(narrow<unsigned char>(256), Error);
  // Signed to unsigned: a plain comparison would convert -1 to a large number.
  EXPECT_THROW(narrow<std::uint64_t>(-1), Error);
  EXPECT_THROW(narrow<std::int64_t>(std::numeric_limits<std::uint64_t>::max()), Error);
  try {
    narrow<LocalIndex>(GlobalIndex{1} << 31, "rows of a rank:");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::index_overflow);
    EXPECT_STREQ(error.what(), "rows of a rank: 2147483648 does not fit in 32 bits");
  }
}

// The numbers behind every splitting: they must never change. (SplitMix64 with seed 0 gives these.)
TEST(Hash, ReferenceValues) {
  EXPECT_EQ(hash64(0), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(hash64(0, 1), 0x6e789e6aa1b965f4ULL);
  EXPECT_EQ(hash64(0, 2), 0x06c45d188009454fULL);
}

TEST(Hash, UniformNumbersAreInRangeWithTheRightMoments) {
  const int n = 20000;
  double mean = 0;
  double square = 0;
  for (std::uint64_t k = 0; k < n; ++k) {
    const double u = hash_uniform(k, 5);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    mean += u / n;
    square += u * u / n;
  }
  EXPECT_NEAR(mean, 0.5, 0.01);
  EXPECT_NEAR(square, 1.0 / 3, 0.01);
}

TEST(Hash, NormalNumbersAreFiniteWithTheRightMoments) {
  const int n = 20000;
  double mean = 0;
  double variance = 0;
  for (std::uint64_t k = 0; k < n; ++k) {
    const double z = hash_normal(k, 5);
    ASSERT_TRUE(std::isfinite(z));
    mean += z / n;
    variance += z * z / n;
  }
  EXPECT_NEAR(mean, 0.0, 0.03);
  EXPECT_NEAR(variance, 1.0, 0.05);
}

TEST(Hash, KeysBeyond32BitsDiffer) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t k = 0; k < 64; ++k) seen.insert(hash64(std::uint64_t{1} << k));
  for (std::uint64_t seed = 1; seed < 100; ++seed) seen.insert(hash64(1, seed));
  EXPECT_EQ(seen.size(), 64U + 99U);
}

TEST(Error, EveryCodeHasItsOwnName) {
  std::set<std::string> names;
  for (int c = 1; c <= static_cast<int>(ErrorCode::internal); ++c) {
    names.insert(to_string(static_cast<ErrorCode>(c)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ErrorCode::internal));
  EXPECT_EQ(names.count("unknown"), 0U);
  const Error error(ErrorCode::file_format, "line 3");
  EXPECT_EQ(error.code(), ErrorCode::file_format);
  EXPECT_STREQ(error.what(), "line 3");
}

TEST(Array, ResizingKeepsWhatWasThere) {
  Array<double> a(3, 1.5);
  a.resize(1000);
  EXPECT_EQ(a.size(), 1000U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(a[i], 1.5);
  a.assign(2, 4.0);
  EXPECT_EQ(a, (Array<double>{4.0, 4.0}));
}

}  // namespace base_numbers_test
}  // namespace nodewise
