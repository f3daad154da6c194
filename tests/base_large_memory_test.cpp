// Memory for large arrays: where it begins, that it serves again, and that little is left over.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/base/array.hpp"
#include "nodewise/base/large_memory.hpp"

namespace nodewise {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

TEST(LargeMemory, BeginsAtALargePageAndIsAllThere) {
  for (const std::size_t bytes : {4 * mebibyte + 1, 5 * mebibyte, 6 * mebibyte - 1}) {
    void* const memory = allocate_large(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % (2 * mebibyte), 0U);
    std::memset(memory, 1, bytes);
    free_large(memory, bytes);
  }
}

TEST(LargeMemory, ServesAgainUntilItIsReleased) {
  release_unused_memory();
  void* const first = allocate_large(12 * mebibyte);
  free_large(first, 12 * mebibyte);
  void* const small = allocate_large(5 * mebibyte);
  void* const rest = allocate_large(6 * mebibyte);
  EXPECT_EQ(small, first);
  EXPECT_EQ(rest, static_cast<char*>(first) + 6 * mebibyte);
  std::memset(small, 1, 5 * mebibyte);
  std::memset(rest, 2, 6 * mebibyte);
  free_large(small, 5 * mebibyte);
  free_large(rest, 6 * mebibyte);
  release_unused_memory();
  void* const larger = allocate_large(20 * mebibyte);
  std::memset(larger, 3, 20 * mebibyte);
  free_large(larger, 20 * mebibyte);
  release_unused_memory();
}

TEST(LargeMemory, PiecesJoinAgainInAnyOrder) {
  release_unused_memory();
  void* const whole = allocate_large(24 * mebibyte);
  free_large(whole, 24 * mebibyte);
  for (const auto& order : {std::array{0, 1, 2, 3}, std::array{3, 2, 1, 0}, std::array{1, 3, 0, 2},
                            std::array{0, 2, 3, 1}}) {
    std::array<char*, 4> pieces{};
    for (char*& piece : pieces) {
      piece = static_cast<char*>(allocate_large(5 * mebibyte));
      std::memset(piece, 1, 5 * mebibyte);
    }
    EXPECT_EQ(pieces.front(), whole);
    for (const int k : order) free_large(pieces[static_cast<std::size_t>(k)], 5 * mebibyte);
    void* const again = allocate_large(24 * mebibyte);
    EXPECT_EQ(again, whole);
    std::memset(again, 2, 24 * mebibyte);
    free_large(again, 24 * mebibyte);
  }
  release_unused_memory();
}

TEST(LargeMemory, MoreThanThereIsIsRefused) {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW(allocate_large(all), std::bad_alloc);
  EXPECT_THROW(allocate_large(all / 2), std::bad_alloc);
  Array<double> array(2 * mebibyte, 1.0);
  EXPECT_EQ(array.back(), 1.0);
}

TEST(LargeMemory, ServesThreads) {
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&right, t] {
      const std::size_t n = (4 + t) * mebibyte + 1;
      right[t] = 1;
      for (int round = 0; round < 20; ++round) {
        Array<char> array(n);
        array.front() = array.back() = static_cast<char>(t);
        std::this_thread::yield();
        if (array.front() != static_cast<char>(t) || array.back() != static_cast<char>(t)) {
          right[t] = 0;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(right.size(), 1));
}

}  // namespace
}  // namespace nodewise
