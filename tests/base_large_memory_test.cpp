// Memory for large arrays: where it begins, that it serves again, and that little is left over.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <set>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/base/array.hpp"
#include "nodewise/base/large_memory.hpp"

namespace nodewise {
namespace base_large_memory_test {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

#if defined(__SANITIZE_THREAD__)
constexpr bool is_shadowed = true;
#elif defined(__has_feature)
constexpr bool is_shadowed = __has_feature(thread_sanitizer);
#else
constexpr bool is_shadowed = false;
#endif

/// Whether the system can put pages elsewhere: Linux since 5.7.
bool moves_pages() {
  utsname system{};
  uname(&system);
  int major = 0, minor = 0;
  return std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
         std::pair(major, minor) >= std::pair(5, 7);
}
constexpr auto too_old = "NOT TESTED: the system cannot put pages elsewhere";

/// Fills an array with a value.
char* filled(std::size_t bytes, int value) {
  void* const memory = allocate_large(bytes);
  std::memset(memory, value, bytes);
  return static_cast<char*>(memory);
}

/// What the process has in memory, in bytes.
std::size_t resident_memory() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(LargeMemory, BeginsInALargePageAtPlacesApart) {
  const std::array<std::size_t, 4> sizes{mebibyte + 1, 4 * mebibyte + 1, 5 * mebibyte,
                                         6 * mebibyte - 1};
  std::set<std::uintptr_t> places;
  std::vector<char*> arrays;
  for (const std::size_t bytes : sizes) {
    arrays.push_back(filled(bytes, 1));
    places.insert(reinterpret_cast<std::uintptr_t>(arrays.back()) % (2 * mebibyte));
  }
  EXPECT_EQ(places.size(), sizes.size());
  for (const std::uintptr_t place : places) {
    EXPECT_EQ(place % 128, 0U);
    EXPECT_LT(place, 4096U);
  }
  for (char* const array : arrays) free_large(array);
}

TEST(LargeMemory, ServesAgainInPartsWithWhatItHeld) {
  if (!moves_pages()) GTEST_SKIP() << too_old;
  release_unused_memory();
  free_large(filled(12 * mebibyte, 77));
  char* const first = static_cast<char*>(allocate_large(5 * mebibyte));
  char* const second = static_cast<char*>(allocate_large(6 * mebibyte));
  // All but what shifts an array, and the ends, which are in small pages.
  EXPECT_GE(std::count(first, first + 5 * mebibyte, 77), 4 * mebibyte - 8192);
  EXPECT_GE(std::count(second, second + 6 * mebibyte, 77), 6 * mebibyte - 8192);
  std::memset(first, 1, 5 * mebibyte);
  std::memset(second, 2, 6 * mebibyte);
  EXPECT_EQ(std::count(first, first + 5 * mebibyte, 1), 5 * mebibyte);
  free_large(first);
  free_large(second);
  release_unused_memory();
}

TEST(LargeMemory, IsPutTogetherFromPiecesFreedInAnyOrder) {
  if (!moves_pages()) GTEST_SKIP() << too_old;
  for (const auto& order : {std::array{0, 1, 2, 3}, std::array{3, 2, 1, 0}, std::array{1, 3, 0, 2},
                            std::array{0, 2, 3, 1}}) {
    release_unused_memory();
    std::array<char*, 4> pieces{};
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      pieces[k] = filled(7 * mebibyte, static_cast<int>(k) + 1);
    }
    for (const int k : order) free_large(pieces[static_cast<std::size_t>(k)]);
    char* const whole = static_cast<char*>(allocate_large(27 * mebibyte));
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      // Six of seven are in large pages, the rest in small ones.
      EXPECT_GE(std::count(whole, whole + 27 * mebibyte, static_cast<char>(k + 1)),
                6 * mebibyte - 8192);
    }
    std::memset(whole, 5, 27 * mebibyte);
    free_large(whole);
  }
  release_unused_memory();
}

TEST(LargeMemory, IsNeverMoreThanWasInUseAtOnce) {
  if (is_shadowed)
    GTEST_SKIP() << "NOT TESTED: the thread sanitizer's own memory is several times as much";
  constexpr std::size_t slack = 12 * mebibyte;  // of everything else in the process
  release_unused_memory();
  const std::size_t before = resident_memory();
  free_large(filled(65 * mebibyte, 1));
  EXPECT_GT(resident_memory(), before + 65 * mebibyte - slack);
  std::array<char*, 3> arrays{};
  for (char*& array : arrays) array = filled(33 * mebibyte, 2);  // 66 and 99 in all
  EXPECT_LT(resident_memory(), before + 99 * mebibyte + slack);
  for (char* const array : arrays) free_large(array);
  free_large(filled(99 * mebibyte, 3));
  EXPECT_LT(resident_memory(), before + 99 * mebibyte + slack);
  release_unused_memory();
  EXPECT_LT(resident_memory(), before + slack);
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

}  // namespace base_large_memory_test
}  // namespace nodewise
