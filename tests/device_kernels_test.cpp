// Kernels as devices run them, on the host: against plain loops.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "nodewise/base/parallel.hpp"
#include "nodewise/device/cg_steps.hpp"
#include "nodewise/device/items.hpp"
#include "nodewise/device/sell.hpp"
#include "nodewise/device/vectors.hpp"

namespace nodewise::device {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Random entries: row i has lengths[i] of them, in random columns.
template <class T>
kernels::Csr<T> random_rows(const std::vector<int>& lengths, LocalIndex n_cols, unsigned seed) {
  std::mt19937 random(seed);
  kernels::Csr<T> A(static_cast<LocalIndex>(lengths.size()), n_cols);
  Array<Offset> begins = {0};
  Array<LocalIndex> cols;
  for (const int length : lengths) {
    for (int k = 0; k < length; ++k) {
      cols.push_back(static_cast<LocalIndex>(random() % static_cast<unsigned>(n_cols)));
      A.vals.push_back(static_cast<T>(random() % 2000) / 1000 - 1);
    }
    begins.push_back(static_cast<Offset>(cols.size()));
  }
  A.row_ptr = std::move(begins);
  A.cols = std::move(cols);
  return A;
}

template <class T>
std::vector<T> random_vector(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> v(n);
  for (T& x : v) x = static_cast<T>(random() % 2000) / 1000 - 1;
  return v;
}

/// Terms go to the lanes in turns, and then lanes are added by halves.
template <class T>
T sum_of_lanes(const std::vector<T>& terms, int lanes) {
  const auto n = static_cast<std::size_t>(lanes);
  std::vector<T> sums(n, T(0));
  for (std::size_t k = 0; k < terms.size(); ++k) sums[k % n] += terms[k];
  for (std::size_t half = n / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) sums[j] += sums[j + half];
  }
  return sums[0];
}

/// Of one row of [on | off], in the order of its entries, or of the lanes that take them.
template <class T>
T row_product(const kernels::Csr<T>& on, const kernels::Csr<T>& off, LocalIndex i,
              const std::vector<T>& x, int lanes) {
  std::vector<T> terms;  // rounded one by one
  const auto add = [&](const kernels::Csr<T>& A, LocalIndex first) {
    for (auto k = static_cast<std::size_t>(A.begin(i)); k < static_cast<std::size_t>(A.end(i));
         ++k) {
      terms.push_back(A.vals[k] * x[static_cast<std::size_t>(first + A.cols[k])]);
    }
  };
  add(on, 0);
  add(off, on.n_cols);
  return sum_of_lanes(terms, lanes);
}

template <class T>
std::vector<T> read(Queue<Host>& queue, const Buffer<T, Host>& buffer) {
  std::vector<T> values(buffer.size());
  buffer.get(queue, std::span<T>(values));
  return values;
}

template <class T>
Buffer<T, Host> poisoned(Queue<Host>& queue, std::size_t n) {
  const std::vector<T> values(n, static_cast<T>(nan));
  return Buffer<T, Host>(queue, std::span<const T>(values));
}

template <class T>
class SellTest : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(SellTest, Numbers);

/// Rows of 0 .. most - 1 entries, many of them empty, and one of 10,000.
std::vector<int> mixed_lengths(int n, int most) {
  std::vector<int> mixed;
  for (int i = 0; i < n; ++i) mixed.push_back(i % 7 == 0 ? 0 : i % most);
  mixed[static_cast<std::size_t>(n / 2)] = 10000;
  return mixed;
}

/// Lengths of rows, and how many lanes take one: none, one, many, and long ones among others.
struct Shape {
  std::vector<int> lengths;
  int lanes;
};
std::vector<Shape> shapes() {
  return {{{}, 1},
          {{0}, 1},
          {{1}, 1},
          {{3}, 1},
          {std::vector<int>(32, 5), 1},
          {std::vector<int>(33, 5), 1},
          {mixed_lengths(4000, 20), 1},
          {{16}, 8},
          {mixed_lengths(1500, 31), 8},
          {{64}, 32},
          {{10000}, 32},
          {mixed_lengths(300, 150), 32}};
}

TEST(SellLayout, FewLongRowsHaveSeveralLanes) {
  EXPECT_EQ(lanes_of_rows(0, 0), 1);
  EXPECT_EQ(lanes_of_rows(1, 15), 1);
  EXPECT_EQ(lanes_of_rows(1, 16), 8);
  EXPECT_EQ(lanes_of_rows(1, 63), 8);
  EXPECT_EQ(lanes_of_rows(1, 64), 32);
  EXPECT_EQ(lanes_of_rows(8192, 8192 * 64), 32);
  EXPECT_EQ(lanes_of_rows(8193, 8193 * 64), 8);  // a card is busy with fewer
  EXPECT_EQ(lanes_of_rows(32768, 32768 * 300), 8);
  EXPECT_EQ(lanes_of_rows(32769, 32769 * 300), 1);
  constexpr LocalIndex most = std::numeric_limits<LocalIndex>::max();
  EXPECT_EQ(lanes_of_rows(most, Offset{100} * most), 1);
}

TYPED_TEST(SellTest, ProductsAreThoseOfTheRowsToTheBit) {
  using T = TypeParam;
  Queue<Host> queue;
  unsigned seed = 1;
  for (const auto& [lengths, lanes] : shapes()) {
    const auto on = random_rows<T>(lengths, 50, ++seed);
    std::vector<int> few(lengths.size());
    for (std::size_t i = 0; i < few.size(); ++i) few[i] = static_cast<int>(i % 3);
    const auto off = random_rows<T>(few, 20, ++seed);
    const SellMatrix<T, Host> A(queue, sell_layout(on, off));
    EXPECT_EQ(A.lanes(), lanes) << lengths.size();
    const std::size_t n = lengths.size();
    const std::vector<T> x = random_vector<T>(70, ++seed), b = random_vector<T>(n, ++seed);
    const Buffer<T, Host> dx(queue, std::span<const T>(x)), db(queue, std::span<const T>(b));
    Buffer<T, Host> y = poisoned<T>(queue, n), r = poisoned<T>(queue, n);
    Buffer<T, Host> sum(queue, std::span<const T>(b));
    A.multiply(dx.data(), y.data());
    A.residual(dx.data(), db.data(), r.data());
    A.multiply_add(dx.data(), sum.data());
    const auto all_y = read(queue, y), all_r = read(queue, r), all_sum = read(queue, sum);
    for (std::size_t i = 0; i < n; ++i) {
      const T product = row_product(on, off, static_cast<LocalIndex>(i), x, lanes);
      EXPECT_EQ(all_y[i], product) << "row " << i << " of " << n;
      EXPECT_EQ(all_r[i], b[i] - product);
      EXPECT_EQ(all_sum[i], b[i] + product);
    }
  }
}

TYPED_TEST(SellTest, StepsOfARelaxationAreFusedWithTheResidual) {
  using T = TypeParam;
  Queue<Host> queue;
  for (const auto& [shortest, lanes] : {std::pair(0, 1), std::pair(20, 8), std::pair(70, 32)}) {
    std::vector<int> lengths(777);
    for (std::size_t i = 0; i < lengths.size(); ++i)
      lengths[i] = shortest + static_cast<int>(i % 9);
    const auto on = random_rows<T>(lengths, 777, 3);
    const auto off = random_rows<T>(std::vector<int>(777, 0), 0, 4);
    const SellMatrix<T, Host> A(queue, sell_layout(on, off));
    const auto x = random_vector<T>(777, 5), b = random_vector<T>(777, 6),
               d = random_vector<T>(777, 7), before = random_vector<T>(777, 8);
    const Buffer<T, Host> dx(queue, std::span<const T>(x)), db(queue, std::span<const T>(b)),
        dd(queue, std::span<const T>(d));
    for (const T keep : {T(0), T(0.25)}) {
      // Where nothing is kept, the step that there was is not read.
      Buffer<T, Host> step = keep == T(0) ? poisoned<T>(queue, 777)
                                          : Buffer<T, Host>(queue, std::span<const T>(before));
      Buffer<T, Host> next = poisoned<T>(queue, 777);
      A.relax({keep, T(0.5)}, dd.data(), db.data(), dx.data(), step.data(), next.data());
      const auto all = read(queue, next), steps = read(queue, step);
      for (std::size_t i = 0; i < 777; ++i) {
        volatile T r = b[i] - row_product(on, off, static_cast<LocalIndex>(i), x, lanes);
        volatile T s = T(0.5) * d[i];
        s = s * r;
        volatile T kept = keep * before[i];
        if (keep != T(0)) s = kept + s;
        EXPECT_EQ(steps[i], s);
        EXPECT_EQ(all[i], x[i] + s);
      }
    }
  }
}

/// A step that nothing reads behind it is not written, and x is as with it.
TYPED_TEST(SellTest, StepsAreLeftWhereTheyAreRead) {
  using T = TypeParam;
  Queue<Host> queue;
  for (const int length : {3, 20, 70}) {
    const auto on = random_rows<T>(std::vector<int>(50, length), 50, 3);
    const SellMatrix<T, Host> A(queue, sell_layout(on, kernels::Csr<T>(50, 0)));
    const auto x = random_vector<T>(50, 5), b = random_vector<T>(50, 6),
               before = random_vector<T>(50, 8);
    const Buffer<T, Host> dx(queue, std::span<const T>(x)), db(queue, std::span<const T>(b));
    std::vector<std::vector<T>> next;
    for (const bool leaves : {true, false}) {
      Buffer<T, Host> step(queue, std::span<const T>(before)), to = poisoned<T>(queue, 50);
      A.relax({T(0.25), T(0.5), leaves}, db.data(), db.data(), dx.data(), step.data(), to.data());
      EXPECT_EQ(read(queue, step) == before, !leaves);
      next.push_back(read(queue, to));
    }
    EXPECT_EQ(next[0], next[1]);
  }
  const auto b = random_vector<T>(9, 1);
  const Buffer<T, Host> db(queue, std::span<const T>(b));
  Buffer<T, Host> step = poisoned<T>(queue, 9), with = poisoned<T>(queue, 9),
                  without = poisoned<T>(queue, 9);
  relax_from_zero(queue, 9, T(0.5), db.data(), db.data(), step.data(), with.data());
  relax_from_zero<T>(queue, 9, T(0.5), db.data(), db.data(), nullptr, without.data());
  EXPECT_EQ(read(queue, with), read(queue, step));
  EXPECT_EQ(read(queue, with), read(queue, without));
}

TYPED_TEST(SellTest, WhatIsBehindTheEndOfARowIsNotRead) {
  using T = TypeParam;
  Queue<Host> queue;
  // The first row is long, the others have one entry, in column 1; column 0 is not a number.
  std::vector<int> lengths(32, 1);
  auto on = random_rows<T>(lengths, 2, 1);
  Array<LocalIndex> cols(32, 1);
  on.cols = std::move(cols);
  const SellMatrix<T, Host> A(queue, sell_layout(on, kernels::Csr<T>(32, 0)));
  const std::vector<T> x = {static_cast<T>(nan), T(2)};
  const Buffer<T, Host> dx(queue, std::span<const T>(x));
  Buffer<T, Host> y = poisoned<T>(queue, 32);
  A.multiply(dx.data(), y.data());
  const auto all = read(queue, y);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(all[i], on.vals[i] * T(2));
}

/// A restriction of a small level, as an aggregation has them: rows of very different lengths.
TYPED_TEST(SellTest, FewLongRowsTakeNoMoreThanTheirEntries) {
  using T = TypeParam;
  Queue<Host> queue;
  const std::vector<int> lengths = mixed_lengths(300, 150);
  const auto on = random_rows<T>(lengths, 5000, 1);
  const SellLayout<T> layout = sell_layout(on, kernels::Csr<T>(300, 0));
  const SellMatrix<T, Host> A(queue, layout);
  EXPECT_EQ(A.padding(), 1);
  EXPECT_EQ(layout.padding(), 1);
  EXPECT_EQ(A.bytes(), 301 * sizeof(Offset) +
                           static_cast<std::size_t>(on.nnz()) * (sizeof(LocalIndex) + sizeof(T)));
}

/// What is no number comes into the rows that have its column, and into no other.
TYPED_TEST(SellTest, LanesKeepWhatIsNoNumberInItsRow) {
  using T = TypeParam;
  Queue<Host> queue;
  for (const int length : {16, 17, 64, 70}) {
    auto on = random_rows<T>(std::vector<int>(40, length), 1, 1);
    on.n_cols = 2;
    for (LocalIndex& col : on.cols) col = 1;
    on.cols[static_cast<std::size_t>(3 * length - 1)] = 0;  // the last entry of row 2
    const SellMatrix<T, Host> A(queue, sell_layout(on, kernels::Csr<T>(40, 0)));
    EXPECT_GT(A.lanes(), 1);
    const std::vector<T> x = {static_cast<T>(nan), T(2)};
    const Buffer<T, Host> dx(queue, std::span<const T>(x));
    Buffer<T, Host> y = poisoned<T>(queue, 40);
    A.multiply(dx.data(), y.data());
    const auto all = read(queue, y);
    for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(std::isnan(all[i]), i == 2) << i;
  }
}

TEST(SellLayout, RowsAreSortedByLengthInStretchesOnly) {
  std::vector<int> lengths(1200);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<int>(i * 7 % 20);
  const auto layout =
      sell_layout(random_rows<double>(lengths, 10, 1), kernels::Csr<double>(1200, 0));
  std::vector<char> seen(1200, 0);
  for (std::size_t place = 0; place < 1200; ++place) {
    const auto row = static_cast<std::size_t>(layout.rows[place]);
    seen[row] += 1;
    EXPECT_EQ(row / sorted_rows, place / sorted_rows);
    EXPECT_EQ(layout.lengths[place], lengths[row]);
    if (place % sorted_rows != 0) {
      EXPECT_GE(layout.lengths[place - 1], layout.lengths[place]);
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 1200);
  EXPECT_LT(layout.padding(), 1.1);
}

/// The sum as SumOrder describes it, by plain recursion over the indices.
double sum_in_order(const std::vector<double>& v) {
  const auto n = static_cast<std::int64_t>(v.size());
  const auto by_halves = [](std::vector<double> lanes) {
    for (std::size_t half = lanes.size() / 2; half > 0; half /= 2) {
      for (std::size_t k = 0; k < half; ++k) lanes[k] += lanes[k + half];
    }
    return lanes.front();
  };
  const auto piece_sum = [&](const std::vector<double>& of, std::int64_t begin, std::int64_t end) {
    std::vector<double> lanes(256, 0.0);
    for (std::int64_t i = begin; i < end; ++i) {
      lanes[static_cast<std::size_t>(i - begin) % 256] += of[static_cast<std::size_t>(i)];
    }
    return by_halves(lanes);
  };
  if (n == 0) return 0;
  const SumOrder order(n);
  std::vector<double> pieces;
  for (std::int64_t begin = 0; begin < n; begin += order.piece) {
    pieces.push_back(piece_sum(v, begin, std::min(n, begin + order.piece)));
  }
  EXPECT_EQ(static_cast<int>(pieces.size()), order.pieces);
  EXPECT_LE(order.pieces, SumOrder::most_pieces);
  return pieces.size() == 1 ? pieces[0]
                            : piece_sum(pieces, 0, static_cast<std::int64_t>(pieces.size()));
}

TEST(DeviceSums, AreMadeInOneOrderForAnyLengthAndNumberOfThreads) {
  Queue<Host> queue;
  for (const std::size_t n : {0, 1, 2, 255, 256, 257, 1000, 262143, 262144, 262145, 700001}) {
    const auto v = random_vector<double>(n, static_cast<unsigned>(n) + 1);
    std::vector<double> squares(n);
    for (std::size_t i = 0; i < n; ++i) squares[i] = v[i] * v[i];
    const Buffer<double, Host> dv(queue, std::span<const double>(v));
    for (const int threads : {1, 3}) {
      if (threads > 1 && !parallel::available()) continue;
      parallel::set_threads(threads);
      CgSteps<Host> steps(queue, static_cast<std::int64_t>(n));
      steps.square(dv.data());
      EXPECT_EQ(steps.numbers()->rr.v[0], sum_in_order(squares)) << n;
      parallel::set_threads(1);
    }
  }
}

TEST(CgSteps, TakesNoStepThatMakesNoSense) {
  Queue<Host> queue;
  const std::vector<double> p = {1, 2}, q = {-1, -1}, x = {5, 6}, r = {7, 8};
  const Buffer<double, Host> dp(queue, std::span<const double>(p)),
      dq(queue, std::span<const double>(q));
  Buffer<double, Host> dx(queue, std::span<const double>(x)), dr(queue, std::span<const double>(r));
  CgSteps<Host> steps(queue, 2);
  steps.numbers()->rz_before = 1;
  steps.dot(dp.data(), dq.data());
  EXPECT_EQ(steps.numbers()->pq.v[0], -3);
  steps.advance(dp.data(), dq.data(), dx.data(), dr.data());
  EXPECT_EQ(read(queue, dx), x);
  EXPECT_EQ(read(queue, dr), r);
  EXPECT_EQ(steps.numbers()->rr.v[0], 113);
}

TEST(CgSteps, RoundsNumbersOfAnySizeToSinglePrecision) {
  Queue<Host> queue;
  for (const double size : {1e-150, 1e-30, 1.0, 1e40, 1e150}) {
    const std::vector<double> r = {size, -0.5 * size, 0};
    const Buffer<double, Host> dr(queue, std::span<const double>(r));
    Buffer<float, Host> b = poisoned<float>(queue, 3);
    Buffer<double, Host> z = poisoned<double>(queue, 3);
    CgSteps<Host> steps(queue, 3);
    steps.numbers()->rr.v[0] = 1.25 * size * size;
    steps.round(1.0, dr.data(), b.data());
    const auto rounded = read(queue, b);
    EXPECT_TRUE(std::isfinite(rounded[0]));
    EXPECT_NE(rounded[0], 0);
    steps.extend(b.data(), dr.data(), dr.data(), z.data());
    const auto back = read(queue, z);
    EXPECT_NEAR(back[0] / size, 1, 1e-7);
    EXPECT_NEAR(back[1] / size, -0.5, 1e-7);
  }
}

TEST(DeviceVectors, DenseProducts) {
  Queue<Host> queue;
  for (const std::size_t n : {0, 1, 2, 31, 32, 33, 300}) {
    const auto M = random_vector<float>(n * n, 1), x = random_vector<float>(n, 2);
    const Buffer<float, Host> dM(queue, std::span<const float>(M)),
        dx(queue, std::span<const float>(x));
    Buffer<float, Host> y = poisoned<float>(queue, n);
    multiply_dense(queue, static_cast<std::int64_t>(n), dM.data(), dx.data(), y.data());
    const auto all = read(queue, y);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<float> terms(n);
      for (std::size_t j = 0; j < n; ++j) terms[j] = M[i * n + j] * x[j];
      EXPECT_EQ(all[i], sum_of_lanes(terms, 32)) << i << " of " << n;
    }
  }
}

template <class Item>
void expect_gathered() {
  Queue<Host> queue;
  std::vector<Item> one(3), two(2);
  for (std::size_t i = 0; i < 5; ++i) {
    std::memset(i < 3 ? &one[i] : &two[i - 3], static_cast<int>(i + 1), sizeof(Item));
  }
  const std::vector<LocalIndex> places = {4, 0, 2, 3, 0};
  const Buffer<LocalIndex, Host> dp(queue, std::span<const LocalIndex>(places));
  std::vector<Item> to(places.size() + 1);
  const auto bytes = [](std::vector<Item>& items) {
    return reinterpret_cast<std::byte*>(items.data());
  };
  gather_items(queue, static_cast<std::int64_t>(places.size()), dp.data(),
               {bytes(one), 3, bytes(two), sizeof(Item)}, bytes(to));
  for (std::size_t k = 0; k < places.size(); ++k) {
    Item expected;
    std::memset(&expected, places[k] + 1, sizeof(Item));
    EXPECT_EQ(std::memcmp(&to[k], &expected, sizeof(Item)), 0) << sizeof(Item) << ", " << k;
  }
  const Item untouched{};
  EXPECT_EQ(std::memcmp(&to.back(), &untouched, sizeof(Item)), 0);
}

TEST(DeviceItems, AreGatheredFromTwoArrays) {
  expect_gathered<char>();
  expect_gathered<float>();
  expect_gathered<double>();
  expect_gathered<std::array<std::int32_t, 3>>();
  Queue<Host> queue;
  gather_items<Host>(queue, 0, nullptr, {nullptr, 0, nullptr, 8}, nullptr);
}

TEST(DeviceBuffer, RefusesWhatDoesNotFit) {
  try {
    const Buffer<double, Host> huge(std::size_t{1} << 58);
    FAIL() << "so much memory was given";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
  }
}

}  // namespace
}  // namespace nodewise::device
