// Loops on threads: every index once, whatever the parts; what one thread throws arrives.
#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/base/array.hpp"
#include "nodewise/base/error.hpp"
#include "nodewise/base/parallel_lists.hpp"
#include "nodewise/base/thread_start.hpp"

#include "threads_support.hpp"

namespace nodewise {
namespace base_parallel_test {

using test::Threads;

TEST(Parallel, StartsNoThreadsThatTheRankWasNotGiven) {
  ASSERT_EQ(parallel::threads(), 1);
  std::vector<std::thread::id> ran_on(7);
  parallel::run(
      7, [&](int part) { ran_on[static_cast<std::size_t>(part)] = std::this_thread::get_id(); });
  for (const std::thread::id id : ran_on) EXPECT_EQ(id, std::this_thread::get_id());
}

TEST(Parallel, EqualPartsCoverARange) {
  for (const std::size_t n : {0, 1, 2, 7, 100}) {
    for (const int parts : {1, 2, 3, 8}) {
      EXPECT_EQ(parallel::equal_part(n, parts, 0), 0u);
      EXPECT_EQ(parallel::equal_part(n, parts, parts), n);
      for (int p = 0; p < parts; ++p) {
        EXPECT_LE(parallel::equal_part(n, parts, p), parallel::equal_part(n, parts, p + 1));
      }
    }
  }
}

/// Row lengths as a row_ptr.
std::vector<Offset> pointers(const std::vector<Offset>& lengths) {
  std::vector<Offset> row_ptr(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), row_ptr.begin() + 1);
  return row_ptr;
}

TEST(Parallel, PartsOfRowsHaveAboutAsManyEntries) {
  const std::vector<std::vector<Offset>> cases = {
      {}, {5}, {0, 0, 0}, {1, 1, 1, 1}, {100, 1, 1, 1}, {1, 1, 1, 100}, {3, 0, 50, 7, 7, 0, 1, 90}};
  for (const auto& lengths : cases) {
    const auto row_ptr = pointers(lengths);
    const auto n = static_cast<LocalIndex>(lengths.size());
    Offset longest = 0;
    for (const Offset length : lengths) longest = std::max(longest, length + 1);
    for (const int parts : {1, 2, 3, 8}) {
      EXPECT_EQ(parallel::row_part(row_ptr, parts, 0), 0);
      EXPECT_EQ(parallel::row_part(row_ptr, parts, parts), n);
      const Offset share = (row_ptr.back() + n) / parts + 1;
      for (int p = 0; p < parts; ++p) {
        const LocalIndex begin = parallel::row_part(row_ptr, parts, p);
        const LocalIndex end = parallel::row_part(row_ptr, parts, p + 1);
        ASSERT_LE(begin, end);
        const auto b = static_cast<std::size_t>(begin);
        const auto e = static_cast<std::size_t>(end);
        EXPECT_LE(row_ptr[e] - row_ptr[b] + end - begin, share + longest);
      }
    }
  }
}

TEST(Parallel, SmallLoopsStayOnOneThread) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  EXPECT_EQ(parallel::parts_of(1 << 30), 1);
  const Threads threads(3);
  EXPECT_EQ(parallel::threads(), 3);
  EXPECT_EQ(parallel::parts_of(0), 1);
  EXPECT_EQ(parallel::parts_of(100), 1);
  EXPECT_EQ(parallel::parts_of(1 << 30), 3);
}

TEST(Parallel, VisitsEveryIndexOnce) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const Threads threads(3);
  std::vector<int> visits(100000, 0);
  parallel::for_range(visits.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) ++visits[i];
  });
  EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), 100000);
  const double sum = parallel::sum(visits.size(), [&](std::size_t begin, std::size_t end) {
    return std::accumulate(visits.begin() + static_cast<Offset>(begin),
                           visits.begin() + static_cast<Offset>(end), 0.0);
  });
  EXPECT_EQ(sum, 100000.0);
}

TEST(Parallel, ListsKeepTheirOrder) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const Threads threads(3);
  for (const std::size_t n : {0, 1, 1000, 8192, 50000}) {
    std::vector<int> asked(n, 0);
    std::vector<LocalIndex> list = parallel::indices_if<LocalIndex>(n, 9, [&](LocalIndex i) {
      return ++asked[static_cast<std::size_t>(i)] == 1 && i % 7 != 2;
    });
    EXPECT_EQ(asked, std::vector<int>(n, 1));
    std::vector<LocalIndex> expected;
    for (std::size_t i = 0; i < n; ++i) {
      if (i % 7 != 2) expected.push_back(static_cast<LocalIndex>(i));
    }
    EXPECT_EQ(list, expected);
    // The last third goes whole, the middle not at all.
    const auto is_done = [n](LocalIndex i) {
      const auto u = static_cast<std::size_t>(i);
      return u >= n / 3 * 2 || (u < n / 3 && i % 2 == 0);
    };
    parallel::erase_if(list, 9, is_done);
    std::erase_if(expected, is_done);
    EXPECT_EQ(list, expected);
    std::vector<std::int32_t> counts(3, 0);
    parallel::for_each(std::span<const LocalIndex>(list), 9, [&](LocalIndex i) {
      parallel::count(counts[static_cast<std::size_t>(i % 3)]);
    });
    for (const LocalIndex i : list) --counts[static_cast<std::size_t>(i % 3)];
    EXPECT_EQ(counts, std::vector<std::int32_t>(3, 0));
  }
}

TEST(Parallel, ThrowsTheFirstErrorWhenAllAreDone) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const Threads threads(4);
  std::atomic<int> done = 0;
  try {
    parallel::run(4, [&](int part) {
      if (part % 2 == 1) throw std::runtime_error(part == 1 ? "one" : "three");
      ++done;
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "one");
  }
  EXPECT_EQ(done, 2);
}

TEST(Parallel, WorksBesideAThreadThatTalks) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  for (const int n : {1, 2, 3, 4}) {
    SCOPED_TRACE(n);
    const Threads threads(n);
    for (int round = 0; round < 40; ++round) {
      std::vector<int> visits(40000, 0);
      std::thread::id talked, worked;
      std::atomic<bool> said = false;
      int parts = 0;
      parallel::beside(
          [&] {
            talked = std::this_thread::get_id();
            said = true;
          },
          [&] {
            worked = std::this_thread::get_id();
            parts = parallel::parts_of(visits.size());
            for (int loop = 0; loop < 3; ++loop) {
              parallel::for_range(visits.size(), [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) ++visits[i];
              });
            }
          });
      ASSERT_TRUE(said);
      ASSERT_EQ(talked, std::this_thread::get_id());
      ASSERT_EQ(worked == talked, n == 1);
      ASSERT_EQ(parts, std::max(1, n - 1));
      ASSERT_EQ(std::count(visits.begin(), visits.end(), 3), std::ssize(visits));
    }
  }
}

TEST(Parallel, EndsBothWhereOneThrowsBesideTheOther) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  for (const int n : {1, 2, 4}) {
    const Threads threads(n);
    const auto thrown = [](bool talk_throws, bool work_throws) -> std::string {
      std::atomic<int> ended = 0;
      try {
        parallel::beside(
            [&] {
              ++ended;
              if (talk_throws) throw std::runtime_error("talk");
            },
            [&] {
              ++ended;
              parallel::run(3, [&](int part) {
                if (work_throws && part == 2) throw std::runtime_error("work");
              });
            });
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(ended, 2);
        return error.what();
      }
      EXPECT_EQ(ended, 2);
      return "";
    };
    EXPECT_EQ(thrown(true, false), "talk");
    EXPECT_EQ(thrown(false, true), "work");
    EXPECT_EQ(thrown(true, true), "work");
    EXPECT_EQ(thrown(false, false), "");
  }
}

thread_local int started_as = -1;

// Also threads that were begun anew because a loop before had fewer parts.
TEST(Parallel, ThreadsStartBeforeTheirFirstLoop) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads, or too many ranks for them";
  const Threads threads(4);
  parallel::set_thread_start([](int number) noexcept { started_as = number; });
  for (const int parts : {2, 4, 2, 3, 4}) {
    std::array<int, 4> seen = {-2, -2, -2, -2};
    parallel::run(parts, [&](int part) { seen[static_cast<std::size_t>(part)] = started_as; });
    for (int part = 0; part < parts; ++part) EXPECT_EQ(seen[static_cast<std::size_t>(part)], part);
  }
  int talks = -2, works = -2;
  parallel::beside([&] { talks = started_as; }, [&] { works = started_as; });
  EXPECT_EQ(talks, 0);
  EXPECT_EQ(works, 1);

  // Nothing is called any more, by any thread, and each new call is made by all.
  parallel::set_thread_start(nullptr);
  parallel::run(4, [](int) { started_as = -3; });
  parallel::run(4, [](int) { EXPECT_EQ(started_as, -3); });
  parallel::set_thread_start([](int number) noexcept { started_as = 10 * number; });
  parallel::run(4, [](int part) { EXPECT_EQ(started_as, 10 * part); });
  parallel::set_thread_start(nullptr);
}

TEST(Parallel, RefusesNumbersThatCannotBe) {
  EXPECT_THROW(parallel::set_threads(0), Error);
  EXPECT_THROW(parallel::set_threads(-3), Error);
  EXPECT_THROW(parallel::set_threads(parallel::max_threads + 1), Error);
  if (!parallel::available()) {
    EXPECT_THROW(parallel::set_threads(2), Error);
  }
  EXPECT_EQ(parallel::threads(), 1);
}

}  // namespace base_parallel_test
}  // namespace nodewise
