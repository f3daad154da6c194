// Finding the domains of nodes, on a machine of hwloc's making with one socket a core, to which the
// ranks bind themselves.
#include <algorithm>
#include <cstdlib>
#include <sched.h>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "nodewise/mpi/domains.hpp"

#include "collective_error.hpp"
#include "support.hpp"

namespace nodewise::test {
namespace mpi_domains_test {

using mpi::DomainLevel;

/// The cores this thread may run on.
std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

bool bind_to(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

class FindDomains : public testing::Test {
 protected:
  void SetUp() override {
    cores_ = allowed_cores();
    const bool usable = mpi::can_find_domains() && !cores_.empty() && bind_to(cores_);
    if (mpi::min(*test_comm(), usable ? 1 : 0) == 0) GTEST_SKIP() << "no hwloc, or no binding";
    // hwloc's own settings: a machine of this description, with a memory for all and one a socket,
    // but on which binding is real.
    const std::string n = std::to_string(cores_.back() + 1);
    setenv("HWLOC_SYNTHETIC", ("[numa] package:" + n + " [numa] pu:1").c_str(), 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
  }
  void TearDown() override {
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
    if (!cores_.empty()) bind_to(cores_);
  }

  /// The core of a rank: they take turns. All ranks are taken to be on one machine.
  int core_of(int rank) const { return cores_[static_cast<std::size_t>(rank) % cores_.size()]; }

  std::vector<int> cores_;
};

TEST_F(FindDomains, ByTheCoreThatEachRankIsBoundTo) {
  bind_to({core_of(test_comm()->rank())});
  for (const DomainLevel level : {DomainLevel::numa, DomainLevel::package}) {
    for (const NodeMap& map : node_maps(test_comm()->size())) {
      const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
      const auto found = comm->topology().with_domains(mpi::find_domains(*comm, level));
      for (int a = 0; a < comm->size(); ++a) {
        for (int b = 0; b < comm->size(); ++b) {
          EXPECT_EQ(found.same_domain(a, b), found.same_node(a, b) && core_of(a) == core_of(b))
              << map.name << ", ranks " << a << " and " << b;
        }
      }
    }
  }
}

// The last rank may run anywhere: its node is one domain, others are as before.
TEST_F(FindDomains, ANodeWithARankThatIsNotBoundIsOneDomain) {
  if (cores_.size() < 2) GTEST_SKIP() << "needs two cores";
  const int last = test_comm()->size() - 1;
  if (test_comm()->rank() != last) bind_to({core_of(test_comm()->rank())});
  for (const NodeMap& map : node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const auto found =
        comm->topology().with_domains(mpi::find_domains(*comm, DomainLevel::package));
    for (int a = 0; a < comm->size(); ++a) {
      for (int b = 0; b < comm->size(); ++b) {
        if (!found.same_node(a, b)) continue;
        EXPECT_EQ(found.same_domain(a, b), found.same_node(a, last) || core_of(a) == core_of(b))
            << map.name << ", ranks " << a << " and " << b;
      }
    }
  }
}

TEST(Domains, AreRefusedByABuildThatCannotFindThem) {
  if (mpi::can_find_domains()) {
    // On the machine as it is every rank gets an answer.
    EXPECT_EQ(std::ssize(mpi::find_domains(*test_comm(), DomainLevel::numa)), test_comm()->size());
    return;
  }
  expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                    [] { mpi::find_domains(*test_comm(), DomainLevel::numa); });
}

}  // namespace mpi_domains_test
}  // namespace nodewise::test
