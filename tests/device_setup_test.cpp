// What a setup on a device is put together of, run on the host: against plain loops and the host's
// own kernels.
#include <algorithm>
#include <array>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "nodewise/base/parallel.hpp"
#include "nodewise/device/memory_cache.hpp"
#include "nodewise/device/primitives.hpp"
#include "nodewise/device/sell.hpp"
#include "nodewise/device/spgemm.hpp"

namespace nodewise::device::setup_test {
namespace {

using Csr = kernels::Csr<double>;

/// New memory holds no numbers while one of these is there.
struct PoisonedMemory {
  PoisonedMemory() { detail::poisons_new_memory = true; }
  ~PoisonedMemory() { detail::poisons_new_memory = false; }
};

template <class T>
std::vector<T> read(Queue<Host>& queue, const Buffer<T, Host>& buffer) {
  std::vector<T> values(buffer.size());
  buffer.get(queue, std::span<T>(values));
  return values;
}

template <class T>
Buffer<T, Host> put(Queue<Host>& queue, const std::vector<T>& values) {
  return Buffer<T, Host>(queue, std::span<const T>(values));
}

/// Rows of so many distinct ascending columns at random.
Csr random_matrix(const std::vector<int>& lengths, LocalIndex n_cols, unsigned seed) {
  std::mt19937 random(seed);
  Csr A(static_cast<LocalIndex>(lengths.size()), n_cols);
  Array<Offset> begins = {0};
  Array<LocalIndex> cols;
  for (const int length : lengths) {
    std::vector<LocalIndex> row;
    for (int k = 0; k < length; ++k) {
      row.push_back(static_cast<LocalIndex>(random() % static_cast<unsigned>(n_cols)));
    }
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (const LocalIndex column : row) {
      cols.push_back(column);
      A.vals.push_back(static_cast<double>(random() % 2000) / 1000 - 1);
    }
    begins.push_back(static_cast<Offset>(cols.size()));
  }
  A.row_ptr = std::move(begins);
  A.cols = std::move(cols);
  return A;
}

/// Rows of every kind of table: none, few, some hundred, thousands and ten thousand entries.
std::vector<int> mixed_lengths(int n) {
  std::vector<int> lengths;
  for (int i = 0; i < n; ++i) lengths.push_back(i % 7 == 0 ? 0 : i % 13);
  if (n > 40) {
    lengths[11] = 60;
    lengths[20] = 400;
    lengths[40] = 10000;
  }
  return lengths;
}

void expect_same_places(const Csr& A, const Csr& B) {
  ASSERT_EQ(A.n_rows, B.n_rows);
  EXPECT_EQ(A.n_cols, B.n_cols);
  EXPECT_TRUE(std::equal(A.row_ptr.begin(), A.row_ptr.end(), B.row_ptr.begin(), B.row_ptr.end()));
  EXPECT_TRUE(std::equal(A.cols.begin(), A.cols.end(), B.cols.begin(), B.cols.end()));
}

/// C = A B by a dense row, every entry a sum over A's row in its order, rounded one by one.
Csr plain_product(const Csr& A, const Csr& B) {
  Csr C(A.n_rows, B.n_cols);
  Array<Offset> begins = {0};
  Array<LocalIndex> cols;
  std::vector<double> sums(static_cast<std::size_t>(B.n_cols));
  std::vector<char> is_there(sums.size());
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(is_there.begin(), is_there.end(), char{0});
    for (auto k = static_cast<std::size_t>(A.begin(i)); k < static_cast<std::size_t>(A.end(i));
         ++k) {
      const LocalIndex j = A.cols[k];
      for (auto q = static_cast<std::size_t>(B.begin(j)); q < static_cast<std::size_t>(B.end(j));
           ++q) {
        const auto c = static_cast<std::size_t>(B.cols[q]);
        const volatile double term = A.vals[k] * B.vals[q];
        sums[c] += term;
        is_there[c] = 1;
      }
    }
    for (std::size_t c = 0; c < sums.size(); ++c) {
      if (is_there[c] == 0) continue;
      cols.push_back(static_cast<LocalIndex>(c));
      C.vals.push_back(sums[c]);
    }
    begins.push_back(static_cast<Offset>(cols.size()));
  }
  C.row_ptr = std::move(begins);
  C.cols = std::move(cols);
  return C;
}

TEST(DevicePrimitives, ScanSelectSortAndFindTheLargest) {
  const PoisonedMemory poisoned;
  Queue<Host> queue;
  Primitives<Host> primitives(queue);
  for (const std::int64_t n : {0, 1, 2, 1000}) {
    SCOPED_TRACE(n);
    const auto size = static_cast<std::size_t>(n);
    std::mt19937 random(7);
    std::vector<LocalIndex> lengths(size), keys(size);
    std::vector<std::uint8_t> marks(size);
    std::vector<Offset> values(size);
    for (std::size_t i = 0; i < size; ++i) {
      lengths[i] = static_cast<LocalIndex>(random() % 50);
      keys[i] = static_cast<LocalIndex>(random() % 10);
      marks[i] = static_cast<std::uint8_t>(random() % 3 == 0 ? 1 : 0);
      values[i] = static_cast<Offset>(i);
    }
    const auto d_lengths = put(queue, lengths), d_keys = put(queue, keys);
    const auto d_marks = put(queue, marks);
    const auto d_values = put(queue, values);
    Buffer<Offset, Host> begins(size + 1), sorted_values(size);
    Buffer<LocalIndex, Host> chosen(size), sorted_keys(size);
    const Offset all = primitives.scan(n, d_lengths.data(), begins.data());
    Offset sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_EQ(read(queue, begins)[i], sum);
      sum += lengths[i];
    }
    EXPECT_EQ(all, sum);
    EXPECT_EQ(read(queue, begins)[size], sum);
    EXPECT_EQ(primitives.select(n, d_marks.data(), chosen.data()),
              std::count(marks.begin(), marks.end(), 1));
    const auto numbers = read(queue, chosen);
    std::size_t at = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (marks[i] != 0) {
        EXPECT_EQ(numbers[at++], static_cast<LocalIndex>(i));
      }
    }
    primitives.sort_pairs(n, 4, d_keys.data(), d_values.data(), sorted_keys.data(),
                          sorted_values.data());
    std::stable_sort(values.begin(), values.end(), [&](Offset a, Offset b) {
      return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
    });
    EXPECT_EQ(read(queue, sorted_values), values);
    EXPECT_EQ(primitives.max(n, d_lengths.data()),
              n > 0 ? *std::max_element(lengths.begin(), lengths.end()) : 0);
  }
  const std::vector<double> v = {1, -3, std::numeric_limits<double>::quiet_NaN(), 2};
  EXPECT_EQ(primitives.max_modulus(4, put(queue, v).data()), 3);
}

TEST(DeviceCsr, ComesBackAndIsTransposedAndMultiplied) {
  const PoisonedMemory poisoned;
  Queue<Host> queue;
  Primitives<Host> primitives(queue);
  for (const auto& lengths : {std::vector<int>{}, {0}, {1}, mixed_lengths(300)}) {
    const Csr A = random_matrix(lengths, lengths.size() == 1 ? 1 : 12000, 3);
    const auto there = upload<double, Host>(queue, A);
    const Csr back = download(queue, there);
    expect_same_places(A, back);
    EXPECT_EQ(A.vals, back.vals);
    Buffer<Offset, Host> from;
    const auto transposed = transpose(primitives, there, &from);
    const Csr T = download(queue, transposed);
    EXPECT_EQ(T.nnz(), A.nnz());
    const auto places = read(queue, from);
    for (LocalIndex i = 0; i < T.n_rows; ++i) {
      for (auto k = static_cast<std::size_t>(T.begin(i)); k < static_cast<std::size_t>(T.end(i));
           ++k) {
        const auto at = static_cast<std::size_t>(places[k]);
        EXPECT_EQ(A.cols[at], i);
        EXPECT_EQ(A.vals[at], T.vals[k]);
        EXPECT_TRUE(A.begin(T.cols[k]) <= places[k] && places[k] < A.end(T.cols[k]));
        if (std::cmp_greater(k, T.begin(i))) {
          EXPECT_LT(T.cols[k - 1], T.cols[k]);
        }
      }
    }
    const std::vector<double> ones(static_cast<std::size_t>(A.n_cols), 1.0);
    Buffer<double, Host> y(static_cast<std::size_t>(A.n_rows));
    multiply(queue, there, put(queue, ones).data(), y.data());
    const auto sums = read(queue, y);
    for (LocalIndex i = 0; i < A.n_rows; ++i) {
      double sum = 0;
      for (auto k = A.begin(i); k < A.end(i); ++k) sum += A.vals[static_cast<std::size_t>(k)];
      EXPECT_EQ(sums[static_cast<std::size_t>(i)], sum);
    }
  }
}

TEST(DeviceCsr, GetsTheLayoutOfTheHost) {
  const PoisonedMemory poisoned;
  Queue<Host> queue;
  Primitives<Host> primitives(queue);
  for (const auto& lengths : {std::vector<int>{},
                              {0},
                              {1},
                              std::vector<int>(33, 5),
                              mixed_lengths(1700),
                              {17},
                              {10000},
                              std::vector<int>(300, 20),
                              std::vector<int>(500, 99)}) {
    const Csr A = random_matrix(lengths, 12000, 5);
    const auto there = upload<double, Host>(queue, A);
    const SellMatrix<double, Host> M(primitives, there);
    const SellMatrix<float, Host> rounded(primitives, there, 0.25);
    const SellLayout<double> made = M.layout(), expected = sell_layout(A, Csr(A.n_rows, 0));
    EXPECT_EQ(M.lanes(), lanes_of_rows(A.n_rows, A.nnz()));
    EXPECT_EQ(made.lanes, expected.lanes);
    EXPECT_EQ(made.slices, expected.slices);
    EXPECT_EQ(made.rows, expected.rows);
    EXPECT_EQ(made.lengths, expected.lengths);
    EXPECT_EQ(made.cols, expected.cols);
    EXPECT_EQ(made.vals, expected.vals);
    EXPECT_EQ(M.padding(), expected.padding());
    const SellLayout<float> single = rounded.layout();
    for (std::size_t k = 0; k < made.vals.size(); ++k) {
      EXPECT_EQ(single.vals[k], static_cast<float>(0.25 * made.vals[k]));
    }
  }
}

TEST(DeviceProduct, IsThatOfPlainLoopsToTheBit) {
  const PoisonedMemory poisoned;
  Queue<Host> queue;
  Primitives<Host> primitives(queue);
  struct Shape {
    std::vector<int> left, right;
    LocalIndex n_cols;
  };
  const std::vector<Shape> shapes = {
      {{}, {}, 3},
      {{0}, {0}, 1},
      {{1}, {1}, 1},
      {{3, 0, 2}, {0, 0, 0}, 5},
      {mixed_lengths(200), mixed_lengths(12000), 12000},
      {std::vector<int>(500, 8), std::vector<int>(500, 1), 100},
      {std::vector<int>(50, 300), std::vector<int>(400, 20), 4000},
  };
  unsigned seed = 0;
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.left.size());
    const Csr B = random_matrix(shape.right, shape.n_cols, ++seed);
    const Csr A = random_matrix(shape.left, std::max<LocalIndex>(1, B.n_rows), ++seed);
    const auto dA = upload<double, Host>(queue, A), dB = upload<double, Host>(queue, B);
    const Csr expected = plain_product(A, B);
    for (const int threads : {1, 3}) {
      if (threads > 1 && !parallel::available()) continue;
      parallel::set_threads(threads);
      auto C = multiply(primitives, dA, dB);
      const Csr made = download(queue, C);
      expect_same_places(made, expected);
      EXPECT_EQ(made.vals, expected.vals);
      std::fill(C.vals.data(), C.vals.data() + C.vals.size(),
                std::numeric_limits<double>::quiet_NaN());
      multiply_again(primitives, dA, dB, C);
      EXPECT_EQ(download(queue, C).vals, expected.vals);
      parallel::set_threads(1);
    }
  }
}

TEST(DeviceProduct, KeepsPlacesOfWhatCancels) {
  Queue<Host> queue;
  Primitives<Host> primitives(queue);
  Csr A(1, 2), B(2, 1);
  A.row_ptr = Array<Offset>{0, 2};
  A.cols = Array<LocalIndex>{0, 1};
  A.vals = {1, -1};
  B.row_ptr = Array<Offset>{0, 1, 2};
  B.cols = Array<LocalIndex>{0, 0};
  B.vals = {3, 3};
  const Csr C = download(
      queue, multiply(primitives, upload<double, Host>(queue, A), upload<double, Host>(queue, B)));
  EXPECT_EQ(C.nnz(), 1);
  EXPECT_EQ(C.vals, Array<double>{0.0});
}

TEST(DeviceProduct, RunsOutOfMemoryByOneError) {
  try {
    const CsrMatrix<double, Host> huge(1, 1, {}, Offset{1} << 58);
    FAIL() << "so much memory was given";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
  }
}

TEST(DeviceMemoryCache, KeepsNoMoreThanWasInUseAtOnce) {
  EXPECT_EQ(MemoryCache::rounded(1), 512u);
  EXPECT_EQ(MemoryCache::rounded(512), 512u);
  EXPECT_EQ(MemoryCache::rounded(100000), 106496u);
  for (const std::size_t bytes : {1000u, 70000u, 1234567u, 1u << 30}) {
    EXPECT_GE(MemoryCache::rounded(bytes), bytes);
    EXPECT_EQ(MemoryCache::rounded(MemoryCache::rounded(bytes)), MemoryCache::rounded(bytes));
    if (bytes > 4096) {
      EXPECT_LE(MemoryCache::rounded(bytes), bytes + bytes / 8);
    }
  }
  MemoryCache cache;
  std::array<char, 2> at = {};
  EXPECT_EQ(cache.take(0, 1024), nullptr);
  cache.note_use(1024);
  cache.note_use(2048);
  cache.keep({0, &at[0], 1024});
  EXPECT_FALSE(cache.surplus().has_value());
  EXPECT_EQ(cache.take(1, 1024), nullptr);  // of another card
  EXPECT_EQ(cache.take(0, 2048), nullptr);
  EXPECT_EQ(cache.take(0, 1024), &at[0]);
  cache.keep({0, &at[0], 1024});
  const auto piece = cache.surplus(512);  // with so much more it would be 3584 bytes
  ASSERT_TRUE(piece.has_value());
  EXPECT_EQ(piece->memory, &at[0]);
  EXPECT_EQ(cache.kept_bytes(), 0u);
  cache.keep({0, &at[1], 2048});
  EXPECT_TRUE(cache.surplus(0, true).has_value());
  EXPECT_FALSE(cache.surplus(0, true).has_value());
}

}  // namespace
}  // namespace nodewise::device::setup_test
