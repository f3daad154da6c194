// What a file will take is told by its beginning.
#include <gtest/gtest.h>

#include "nodewise/run/memory_need.hpp"

#include "io_support.hpp"
#include "support.hpp"

namespace nodewise::test {
namespace run_memory_need_test {

TEST(MemoryNeed, FollowsTheHeader) {
  const TempFolder folder;
  const std::string head = "%%MatrixMarket matrix coordinate real ";
  const std::string body = "\n3 3 2\n1 1 1.0\n2 2 1.0\n";
  const run::FileNeed need =
      run::need_of_file(test_comm(), folder.file("a.mtx", head + "general" + body));
  EXPECT_EQ(need.size.rows, 3);
  EXPECT_EQ(need.reading, 72 * 2 + 8 * 3);
  EXPECT_EQ(need.solving, run::solve_bytes({3, 2}));
  const run::FileNeed symmetric =
      run::need_of_file(test_comm(), folder.file("s.mtx", head + "symmetric" + body));
  EXPECT_EQ(symmetric.solving, run::solve_bytes({3, 4}));
  EXPECT_LT(run::matrix_bytes({3, 2}), need.solving);
  for (const bool by_graph : {false, true}) {
    EXPECT_LT(run::matrix_bytes({3, 2}), run::division_bytes({3, 2}, by_graph));
  }
}

TEST(MemoryNeed, BelievesNoMoreEntriesThanTheFileHolds) {
  const TempFolder folder;
  const std::string text =
      "%%MatrixMarket matrix coordinate real general\n3 3 2000000000\n1 1 1.0\n";
  const run::FileNeed need = run::need_of_file(test_comm(), folder.file("a.mtx", text));
  EXPECT_EQ(need.reading, 72 * static_cast<double>(text.size()) / 4 + 8 * 3);
}

TEST(MemoryNeed, CountsTheNumbersOfVectors) {
  const TempFolder folder;
  const std::string text = "%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n";
  EXPECT_EQ(run::numbers_in_file(test_comm(), folder.file("v.mtx", text)), 6);
  EXPECT_EQ(run::numbers_in_file(test_comm(), ""), 0);
}

}  // namespace run_memory_need_test
}  // namespace nodewise::test
