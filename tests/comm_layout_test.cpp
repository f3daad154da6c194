// Layout: ranges, owners, empty ranks, and sizes that do not fit.
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/comm/layout.hpp"

#include "collective_error.hpp"
#include "support.hpp"

namespace nodewise::comm {
namespace comm_layout_test {

using test::expect_same_error;
using test::test_comm;

// Few indices on rank 0, none on the odd ranks, r of them on an even rank r.
std::vector<GlobalIndex> starts_with_empty_ranks(int n_ranks, GlobalIndex first) {
  std::vector<GlobalIndex> starts = {first};
  for (int r = 0; r < n_ranks; ++r) starts.push_back(starts.back() + (r % 2 == 1 ? 0 : r + 2));
  return starts;
}

TEST(Layout, UniformRangesDifferByOneAtMostAndCoverAll) {
  const auto comm = test_comm();
  for (const GlobalIndex n : {0, 1, 2, 7, 100, 101}) {
    const Layout layout = Layout::uniform(comm, n);
    EXPECT_EQ(layout.n_global(), n);
    EXPECT_EQ(layout.first(), 0);
    EXPECT_EQ(mpi::sum<GlobalIndex>(*comm, layout.n_local()), n);
    const GlobalIndex longest = mpi::max<GlobalIndex>(*comm, layout.n_local());
    EXPECT_LE(longest - mpi::min<GlobalIndex>(*comm, layout.n_local()), 1);
    for (int r = 1; r < comm->size(); ++r) {
      EXPECT_GE(layout.end(r - 1) - layout.begin(r - 1), layout.end(r) - layout.begin(r));
    }
  }
}

TEST(Layout, OwnerSkipsEmptyRanks) {
  const auto comm = test_comm();
  for (const GlobalIndex first : {GlobalIndex{0}, GlobalIndex{-7}, GlobalIndex{1} << 40}) {
    const Layout layout(comm, starts_with_empty_ranks(comm->size(), first));
    EXPECT_EQ(layout.first(), first);
    for (GlobalIndex i = layout.first(); i < layout.last(); ++i) {
      const int owner = layout.owner(i);
      EXPECT_GE(i, layout.begin(owner));
      EXPECT_LT(i, layout.end(owner));
      EXPECT_EQ(layout.owns(i), owner == comm->rank());
    }
    for (LocalIndex i = 0; i < layout.n_local(); ++i) {
      EXPECT_EQ(layout.to_local(layout.to_global(i)), i);
    }
    EXPECT_FALSE(layout.contains(first - 1));
    EXPECT_FALSE(layout.contains(layout.last()));
    EXPECT_FALSE(layout.owns(layout.last()));
  }
}

TEST(Layout, AllOnTheLastRankAndNothingAtAll) {
  const auto comm = test_comm();
  std::vector<GlobalIndex> starts(static_cast<std::size_t>(comm->size()) + 1, 5);
  const Layout none(comm, starts);
  EXPECT_EQ(none.n_local(), 0);
  EXPECT_EQ(none.n_global(), 0);
  EXPECT_FALSE(none.contains(5));
  starts.back() = 8;
  const Layout last(comm, starts);
  for (GlobalIndex i = 5; i < 8; ++i) EXPECT_EQ(last.owner(i), comm->size() - 1);
}

TEST(Layout, EqualityComparesRanges) {
  const auto comm = test_comm();
  const Layout a = Layout::uniform(comm, 10);
  const Layout copy = a;
  EXPECT_TRUE(a == copy);
  EXPECT_TRUE(a == Layout::uniform(comm, 10));
  EXPECT_FALSE(a == Layout::uniform(comm, 11));
}

TEST(Layout, FromLocalSizeAddsUp) {
  const auto comm = test_comm();
  const int rank = comm->rank();
  const Layout layout = Layout::from_local_size(comm, rank % 2 == 0 ? 0 : rank);
  EXPECT_EQ(layout.n_local(), rank % 2 == 0 ? 0 : rank);
  for (int r = 0; r < comm->size(); ++r) {
    EXPECT_EQ(layout.end(r) - layout.begin(r), r % 2 == 0 ? 0 : r);
  }
}

TEST(Layout, RefusesStartsThatDescendOrAreTooFew) {
  const auto comm = test_comm();
  std::vector<GlobalIndex> starts(static_cast<std::size_t>(comm->size()) + 1, 3);
  starts.back() = 2;
  expect_same_error(*comm, ErrorCode::invalid_argument, [&] { Layout(comm, starts); });
  starts.pop_back();
  expect_same_error(*comm, ErrorCode::invalid_argument, [&] { Layout(comm, starts); });
  expect_same_error(*comm, ErrorCode::invalid_argument, [&] { Layout(comm, {}); });
}

TEST(Layout, RefusesNegativeSizes) {
  const auto comm = test_comm();
  expect_same_error(*comm, ErrorCode::invalid_argument, [&] { Layout::uniform(comm, -1); });
  const auto text = expect_same_error(*comm, ErrorCode::invalid_argument, [&] {
    Layout::from_local_size(comm, comm->rank() == comm->size() - 1 ? -1 : 2);
  });
  EXPECT_NE(text.find("negative"), std::string::npos);
}

TEST(Layout, RefusesMoreThan31BitsOnOneRank) {
  const auto comm = test_comm();
  constexpr GlobalIndex most = std::numeric_limits<LocalIndex>::max();
  const bool is_last = comm->rank() == comm->size() - 1;
  EXPECT_EQ(Layout::from_local_size(comm, is_last ? most : 0).n_global(), most);
  for (const GlobalIndex n : {most + 1, GlobalIndex{1} << 33, GlobalIndex{1} << 62}) {
    expect_same_error(*comm, ErrorCode::index_overflow,
                      [&] { Layout::from_local_size(comm, is_last ? n : 0); });
  }
  // Added up over the ranks, these would overflow even 64 bits.
  expect_same_error(*comm, ErrorCode::index_overflow, [&] {
    Layout::from_local_size(comm, std::numeric_limits<GlobalIndex>::max());
  });
  expect_same_error(*comm, ErrorCode::index_overflow,
                    [&] { Layout::uniform(comm, most * comm->size() + 1); });
  EXPECT_EQ(Layout::uniform(comm, most * comm->size()).n_local(), most);
}

TEST(Layout, TotalsBeyond32Bits) {
  const auto comm = test_comm();
  const GlobalIndex n = GlobalIndex{2'000'000'000} * comm->size();
  const Layout layout = Layout::uniform(comm, n);
  EXPECT_EQ(layout.n_global(), n);
  EXPECT_EQ(layout.owner(n - 1), comm->size() - 1);
  EXPECT_EQ(layout.begin(), GlobalIndex{2'000'000'000} * comm->rank());
}

}  // namespace comm_layout_test
}  // namespace nodewise::comm
