// Dealing cores to threads, as data, and binding real threads to the cores there are.
#include <algorithm>
#include <cstdlib>
#include <sched.h>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "nodewise/run/binding.hpp"

#include "collective_error.hpp"
#include "support.hpp"
#include "threads_support.hpp"

namespace nodewise::test {
namespace run_binding_test {

using run::BindChoice;
using Dealt = std::vector<std::vector<int>>;

/// The domain of each core, given how many cores each domain has.
std::vector<int> domains_of(const std::vector<int>& sizes) {
  std::vector<int> domains;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    domains.insert(domains.end(), static_cast<std::size_t>(sizes[d]), static_cast<int>(d) + 3);
  }
  return domains;
}

Dealt deal(const std::vector<int>& sizes, const std::vector<int>& wanted) {
  return run::deal_cores(domains_of(sizes), wanted);
}

TEST(DealCores, ByHand) {
  EXPECT_EQ(deal({1}, {1}), (Dealt{{0}}));
  EXPECT_EQ(deal({4}, {1, 1, 1, 1}), (Dealt{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(deal({4}, {2, 2}), (Dealt{{0, 1}, {2, 3}}));
  // Cores that are left over are between the ranks.
  EXPECT_EQ(deal({8}, {2, 2}), (Dealt{{0, 1}, {4, 5}}));
  // Ranks that one domain has room for are spread over both.
  EXPECT_EQ(deal({8, 8}, {2, 2}), (Dealt{{0, 1}, {8, 9}}));
  EXPECT_EQ(deal({4, 4}, {2, 2, 2}), (Dealt{{0, 1}, {2, 3}, {4, 5}}));
  // Three ranks of three fit into each domain of nine; none is in two.
  EXPECT_EQ(deal({9, 9}, {3, 3, 3, 3, 3}),
            (Dealt{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}, {13, 14, 15}}));
  // The first domain has room for one rank only.
  EXPECT_EQ(deal({3, 5}, {2, 2, 2}), (Dealt{{0, 1}, {3, 4}, {5, 6}}));
}

TEST(DealCores, UnevenRanksAndRanksLargerThanADomain) {
  EXPECT_EQ(deal({2, 2}, {3}), (Dealt{{0, 1, 2}}));
  EXPECT_EQ(deal({2, 2}, {4}), (Dealt{{0, 1, 2, 3}}));
  EXPECT_EQ(deal({4, 4}, {3, 5}), (Dealt{{0, 1, 2}, {3, 4, 5, 6, 7}}));
  EXPECT_EQ(deal({6}, {1, 3, 1}), (Dealt{{0}, {1, 2, 3}, {4}}));
  // There is no room for two ranks of three in a domain, so that ranks go on all cores; of the
  // share 3 .. 7 those in one domain are taken.
  EXPECT_EQ(deal({5, 5}, {2, 3, 1}), (Dealt{{0, 1}, {5, 6, 7}, {8}}));
}

// On every machine of up to three small domains, with all ranks that fit.
TEST(DealCores, GivesEachRankItsNumberAndNoCoreTwice) {
  for (int code = 0; code < 4 * 5 * 4 * 4 * 4 * 4; ++code) {
    int rest = code;
    const auto take = [&](int n) { return std::exchange(rest, rest / n) % n; };
    std::vector<int> sizes = {take(4) + 1, take(5), take(4)};
    std::erase(sizes, 0);
    std::vector<int> wanted = {take(4) + 1, take(4), take(4)};
    std::erase(wanted, 0);
    const std::vector<int> domains = domains_of(sizes);
    int all = 0, largest = 0, room = 0;
    for (const int w : wanted) all += w, largest = std::max(largest, w);
    for (const int size : sizes) room += size / largest;
    const std::string about = testing::PrintToString(sizes) + testing::PrintToString(wanted);
    if (std::cmp_greater(all, domains.size())) {
      EXPECT_THROW(run::deal_cores(domains, wanted), Error) << about;
      continue;
    }
    const Dealt dealt = run::deal_cores(domains, wanted);
    ASSERT_EQ(dealt.size(), wanted.size()) << about;
    std::set<int> given;
    for (std::size_t r = 0; r < dealt.size(); ++r) {
      ASSERT_EQ(std::ssize(dealt[r]), wanted[r]) << about;
      for (std::size_t k = 0; k < dealt[r].size(); ++k) {
        const int core = dealt[r][k];
        ASSERT_TRUE(core >= 0 && std::cmp_less(core, domains.size())) << about;
        EXPECT_TRUE(given.insert(core).second) << about;
        EXPECT_EQ(core, dealt[r][0] + static_cast<int>(k)) << about;
      }
      if (std::cmp_greater_equal(room, wanted.size())) {
        EXPECT_EQ(domains[static_cast<std::size_t>(dealt[r].front())],
                  domains[static_cast<std::size_t>(dealt[r].back())])
            << about;
      }
    }
  }
}

TEST(DealCores, ToThreadsAndTheOneThatTalks) {
  const std::vector<Core> cores = {{7, 0, {3, 11}}, {8, 0, {4, 12}}};
  EXPECT_EQ(run::processors_of_threads(cores, BindChoice::cores), (Dealt{{3, 11}, {4, 12}}));
  EXPECT_EQ(run::processors_of_threads(cores, BindChoice::siblings), (Dealt{{11}, {3}, {4}}));
  EXPECT_EQ(run::cores_needed(BindChoice::cores, 3), 3);
  EXPECT_EQ(run::cores_needed(BindChoice::siblings, 3), 2);
  EXPECT_THROW(run::cores_needed(BindChoice::siblings, 1), Error);
  EXPECT_THROW(run::processors_of_threads(std::vector<Core>{{0, 0, {0}}}, BindChoice::siblings),
               Error);
}

/// The processors this thread may run on, by the system itself.
std::vector<int> allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return processors;
  for (int k = 0; k < CPU_SETSIZE; ++k) {
    if (CPU_ISSET(k, &set)) processors.push_back(k);
  }
  return processors;
}

bool allow(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int k : processors) CPU_SET(k, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

std::vector<std::vector<int>> allowed_of_threads(int threads) {
  std::vector<std::vector<int>> all(static_cast<std::size_t>(threads));
  parallel::run(threads, [&](int part) { all[static_cast<std::size_t>(part)] = allowed(); });
  return all;
}

/// On a machine of hwloc's making, with this many hardware threads a core, on which binding is
/// real.
class BindThreads : public testing::Test {
 protected:
  void SetUp() override {
    before_ = allowed();
    const bool usable = Hardware::is_visible() && !before_.empty() && allow(before_);
    if (mpi::min(*test_comm(), usable ? 1 : 0) == 0) GTEST_SKIP() << "no hwloc, or no binding";
  }
  void TearDown() override {
    run::bind_threads(*test_comm(), BindChoice::none);
    EXPECT_EQ(run::bound_to(), "");
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
    EXPECT_EQ(allowed(), before_);
    if (!before_.empty()) allow(before_);
  }
  void pretend(int hardware_threads) {
    const int cores = (before_.back() + hardware_threads) / hardware_threads;
    setenv("HWLOC_SYNTHETIC",
           ("core:" + std::to_string(cores) + " pu:" + std::to_string(hardware_threads)).c_str(),
           1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
  }
  bool has(int processors) const { return std::cmp_greater_equal(before_.size(), processors); }

  std::vector<int> before_;
};

TEST_F(BindThreads, EachRankToACoreOfItsOwn) {
  pretend(1);
  const auto& comm = *test_comm();
  if (!has(comm.size())) {
    const std::string text = expect_same_error(comm, ErrorCode::invalid_argument,
                                               [&] { run::bind_threads(comm, BindChoice::cores); });
    EXPECT_NE(text.find("`bind`"), std::string::npos) << text;
    EXPECT_EQ(allowed(), before_);
    return;
  }
  // The ranks are on one machine, whatever placement they are given.
  for (const NodeMap& map : node_maps(comm.size())) {
    const auto placed = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    run::bind_threads(*placed, BindChoice::cores);
    ASSERT_EQ(allowed().size(), 1U);
    EXPECT_EQ(run::bound_to(), "core " + std::to_string(allowed().front()));
    const std::vector<int> of_ranks = mpi::gather_all(comm, allowed().front());
    EXPECT_EQ(std::set(of_ranks.begin(), of_ranks.end()).size(), of_ranks.size());
    EXPECT_TRUE(std::is_sorted(of_ranks.begin(), of_ranks.end()));
  }
  run::bind_threads(comm, BindChoice::none);
  EXPECT_EQ(allowed(), before_);
}

TEST_F(BindThreads, EachThreadToACoreOfItsOwnAndBack) {
  if (!parallel::available() || !has(2)) GTEST_SKIP() << "needs two cores and OpenMP";
  pretend(1);
  const Threads threads(2);
  const auto& comm = *test_comm();
  if (!has(2 * comm.size())) {
    const std::string text = expect_same_error(comm, ErrorCode::invalid_argument,
                                               [&] { run::bind_threads(comm, BindChoice::cores); });
    EXPECT_NE(text.find(std::to_string(2 * comm.size()) + " cores"), std::string::npos) << text;
    EXPECT_EQ(allowed_of_threads(2), Dealt(2, before_));
    return;
  }
  run::bind_threads(comm, BindChoice::cores);
  const Dealt bound = allowed_of_threads(2);
  EXPECT_EQ(bound[0].size(), 1U);
  EXPECT_EQ(bound[1].size(), 1U);
  EXPECT_NE(bound[0], bound[1]);
  // The thread that talks is the first, as in every loop.
  std::vector<int> talks, works;
  parallel::beside([&] { talks = allowed(); }, [&] { works = allowed(); });
  EXPECT_EQ((Dealt{talks, works}), bound);
  run::bind_threads(comm, BindChoice::none);
  EXPECT_EQ(allowed_of_threads(2), Dealt(2, before_));
}

TEST_F(BindThreads, LiftsAlsoThreadsThatNoLoopHasAnyMore) {
  const auto& comm = *test_comm();
  if (!parallel::available() || !has(2 * comm.size())) GTEST_SKIP() << "needs two cores a rank";
  pretend(1);
  {
    const Threads threads(2);
    run::bind_threads(comm, BindChoice::cores);
  }
  run::bind_threads(comm, BindChoice::none);
  const Threads threads(2);
  EXPECT_EQ(allowed_of_threads(2), Dealt(2, before_));
}

TEST_F(BindThreads, TheOneThatTalksBesideAnother) {
  if (!parallel::available() || !has(2)) GTEST_SKIP() << "needs two processors and OpenMP";
  pretend(2);
  const Threads threads(2);
  const auto& comm = *test_comm();
  const bool is_whole = before_[0] % 2 == 0 && before_[1] == before_[0] + 1;
  if (comm.size() > 1 || !is_whole) GTEST_SKIP() << "for a single rank with a whole core";
  run::bind_threads(comm, BindChoice::siblings);
  EXPECT_EQ(allowed_of_threads(2), (Dealt{{before_[1]}, {before_[0]}}));
  const std::string core = std::to_string(before_[0] / 2);
  EXPECT_EQ(run::bound_to(), "core " + core + ", the first beside the second on core " + core);
}

TEST_F(BindThreads, RefusesSiblingsWhereThereAreNone) {
  const auto& comm = *test_comm();
  pretend(1);
  std::string text = expect_same_error(comm, ErrorCode::invalid_argument,
                                       [&] { run::bind_threads(comm, BindChoice::siblings); });
  EXPECT_NE(text.find("2 or more"), std::string::npos) << text;
  if (!parallel::available() || !has(comm.size())) return;
  const Threads threads(2);
  text = expect_same_error(comm, ErrorCode::unsupported,
                           [&] { run::bind_threads(comm, BindChoice::siblings); });
  EXPECT_NE(text.find("one hardware thread"), std::string::npos) << text;
  EXPECT_EQ(allowed_of_threads(2), Dealt(2, before_));
}

// The first rank may use one core, the others all: what all may use cannot be shared out.
TEST_F(BindThreads, RefusesRanksWithPartlyTheSameCores) {
  const auto& comm = *test_comm();
  if (comm.size() < 2 || !has(2)) GTEST_SKIP() << "needs two ranks and two cores";
  if (comm.is_root()) allow({before_.front()});
  const std::string text = expect_same_error(comm, ErrorCode::invalid_argument,
                                             [&] { run::bind_threads(comm, BindChoice::cores); });
  EXPECT_NE(text.find("partly the same"), std::string::npos) << text;
  allow(before_);
}

// As a launcher binds them: each rank has what it was given, in whatever order.
TEST_F(BindThreads, StaysOnTheCoresOfTheLauncher) {
  const auto& comm = *test_comm();
  if (!has(comm.size())) GTEST_SKIP() << "needs a core for each rank";
  pretend(1);
  const std::vector<int> mine = {
      before_[before_.size() - 1 - static_cast<std::size_t>(comm.rank())]};
  allow(mine);
  run::bind_threads(comm, BindChoice::cores);
  EXPECT_EQ(allowed(), mine);
  if (parallel::available()) {
    const Threads threads(2);
    const std::string text = expect_same_error(comm, ErrorCode::invalid_argument,
                                               [&] { run::bind_threads(comm, BindChoice::cores); });
    EXPECT_NE(text.find("1 core only"), std::string::npos) << text;
  }
  EXPECT_EQ(allowed(), mine);
  allow(before_);
}

TEST(Binding, IsRefusedByABuildThatCannotSeeCores) {
  if (Hardware::is_visible()) GTEST_SKIP() << "this build can";
  expect_same_error(*test_comm(), ErrorCode::unsupported,
                    [] { run::bind_threads(*test_comm(), BindChoice::cores); });
}

}  // namespace run_binding_test
}  // namespace nodewise::test
