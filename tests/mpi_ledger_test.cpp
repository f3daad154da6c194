// The ledger: what it attributes to whom, and that it equals what MPI was really asked to send.
#include <thread>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/comm/discovery.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "mpi_counter.hpp"
#include "support.hpp"

namespace nodewise::mpi {
namespace mpi_ledger_test {

using test::test_comm;

/// A communicator of its own, so that no other test has written in its ledger.
std::shared_ptr<const Comm> new_comm() {
  return Comm::create(MPI_COMM_WORLD);
}

const Account* find(const std::vector<Account>& accounts, const std::string& operation, int level) {
  for (const Account& account : accounts) {
    if (account.operation == operation && account.level == level) return &account;
  }
  return nullptr;
}

TEST(Ledger, ScopesNestAndEnd) {
  const auto comm = new_comm();
  comm->ledger().clear();
  comm->count_message(comm->rank(), 1);
  {
    const Scope outer(*comm, "outer", 3);
    comm->count_message(comm->rank(), 10);
    {
      const Scope inner(*comm, "inner");
      comm->count_message(comm->rank(), 100);
    }
    comm->count_message(comm->rank(), 1000);
  }
  {
    const Scope again(*comm, "outer", 3);
    const Scope other(*comm, "outer", 4);
    comm->count_message(comm->rank(), 7);
  }
  comm->count_message(comm->rank(), 1);
  const std::vector<Account> accounts = comm->ledger().accounts();
  ASSERT_EQ(accounts.size(), 4U);
  EXPECT_EQ(find(accounts, "", no_level)->counts.bytes(), 2);
  EXPECT_EQ(find(accounts, "outer", 3)->counts.bytes(), 1010);
  EXPECT_EQ(find(accounts, "outer", 3)->counts.messages(), 2);
  EXPECT_EQ(find(accounts, "outer", 3)->counts.runs, 2);
  EXPECT_EQ(find(accounts, "inner", 3)->counts.bytes(), 100);  // the level is that around it
  EXPECT_EQ(find(accounts, "outer", 4)->counts.bytes(), 7);
}

TEST(Ledger, AnExceptionEndsItsScopes) {
  const auto comm = new_comm();
  comm->ledger().clear();
  try {
    const Scope outer(*comm, "outer", 0);
    const Communicating communicating(*comm);
    const Scope inner(*comm, "inner");
    throw Error(ErrorCode::internal, "on purpose");
  } catch (const Error&) {
  }
  comm->count_message(comm->rank(), 5);
  EXPECT_EQ(find(comm->ledger().accounts(), "", no_level)->counts.bytes(), 5);
  const double before = find(comm->ledger().accounts(), "", no_level)->counts.communicating;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(find(comm->ledger().accounts(), "", no_level)->counts.communicating, before);
}

TEST(Ledger, ClearingKeepsOpenScopes) {
  const auto comm = new_comm();
  const Scope outer(*comm, "outer", 1);
  {
    const Scope inner(*comm, "inner", 2);
    comm->count_message(comm->rank(), 9);
    comm->ledger().clear();
    comm->count_message(comm->rank(), 4);
  }
  const std::vector<Account> accounts = comm->ledger().accounts();
  EXPECT_EQ(find(accounts, "inner", 2)->counts.bytes(), 4);
  EXPECT_EQ(find(accounts, "", no_level), nullptr);
}

TEST(Ledger, TimesAddUpAndAreDividedByKind) {
  const auto comm = new_comm();
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto before = now();
  comm->ledger().clear();
  const auto begin = now();
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  {
    const Scope outer(*comm, "outer", 0);
    pause();
    const Communicating waiting(*comm);
    pause();
    {
      const Communicating nested(*comm);  // must not end the outer one
    }
    const Scope inner(*comm, "inner");
    pause();
  }
  const auto end = now();
  const std::vector<Account> accounts = comm->ledger().accounts();
  const auto after = now();
  double sum = 0;
  for (const Account& a : accounts) sum += a.counts.communicating + a.counts.computing;
  const auto seconds = [](auto duration) {
    return std::chrono::duration<double>(duration).count();
  };
  EXPECT_LE(sum, seconds(after - before) + 1e-9);
  EXPECT_GE(sum, seconds(end - begin) - 1e-9);
  const Counts outer = find(accounts, "outer", 0)->counts;
  const Counts inner = find(accounts, "inner", 0)->counts;
  EXPECT_GE(outer.computing, 0.002);
  EXPECT_GE(outer.communicating, 0.002);
  EXPECT_GE(inner.communicating, 0.002);
  EXPECT_GE(sum, 0.006);
  EXPECT_EQ(inner.computing, 0);  // it ended while communicating
}

TEST(Ledger, OverRanksSumsAndFindsTheLargest) {
  const auto comm = new_comm();
  const std::int64_t p = comm->size();
  comm->ledger().clear();
  {
    const Scope all(*comm, "all", 1);
    comm->count_message(comm->rank(), 1 + comm->rank());
  }
  if (comm->rank() + 1 == comm->size()) {  // an account that only the last rank has
    const Scope last(*comm, "last", 2);
    comm->count_message(comm->rank(), 50);
  }
  const std::vector<SharedAccount> shared = over_ranks(*comm);
  const auto has = [&](const std::string& operation) {
    return [&operation](const SharedAccount& a) { return a.operation == operation; };
  };
  const auto all = std::find_if(shared.begin(), shared.end(), has("all"));
  const auto last = std::find_if(shared.begin(), shared.end(), has("last"));
  ASSERT_TRUE(all != shared.end() && last != shared.end());
  EXPECT_EQ(all->level, 1);
  EXPECT_EQ(all->sum.messages_on_node, p);
  EXPECT_EQ(all->max.messages_on_node, 1);
  EXPECT_EQ(all->sum.bytes_on_node, p * (p + 1) / 2);
  EXPECT_EQ(all->max.bytes_on_node, p);
  EXPECT_EQ(all->sum.messages_on_domain, p);  // the nodes are not divided
  EXPECT_EQ(all->max.bytes_on_domain, p);
  EXPECT_EQ(last->level, 2);
  EXPECT_EQ(last->sum.bytes_on_node, 50);
  EXPECT_EQ(last->sum.runs, 1);
  EXPECT_GE(all->sum.computing, all->max.computing);
  EXPECT_EQ(std::count_if(shared.begin(), shared.end(), has("all")), 1);
  const SharedAccount together = total(shared);
  EXPECT_EQ(together.sum.messages(), p + 1);
  EXPECT_EQ(together.sum.bytes(), p * (p + 1) / 2 + 50);
  EXPECT_EQ(together.sum.bytes_on_domain, p * (p + 1) / 2 + 50);
  EXPECT_EQ(together.level, no_level);
}

TEST(Ledger, LocalityFollowsThePlacement) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm =
        Comm::create(MPI_COMM_WORLD, map.node_of_rank, {.sparse_exchange = "nonblocking"});
    comm->ledger().clear();
    comm::Messages<std::int32_t> sends;  // three numbers to the next rank
    sends.ranks = {(comm->rank() + 1) % comm->size()};
    sends.offsets.push_back(3);
    sends.data = {1, 2, 3};
    comm::exchange_sparse(*comm, sends);
    const Counts counts = comm->ledger().accounts().front().counts;
    const bool on_node = comm->topology().same_node(comm->rank(), sends.ranks[0]);
    const std::int64_t sent = comm->size() > 1 ? 12 : 0;  // what goes to oneself is not sent
    EXPECT_EQ(counts.bytes_on_node, on_node ? sent : 0);
    EXPECT_EQ(counts.bytes_off_node, on_node ? 0 : sent);
    EXPECT_EQ(counts.messages(), comm->size() > 1 ? 1 : 0);
    EXPECT_EQ(counts.collectives, 1);
    // The node's communicator writes in the same books.
    sends.ranks = {0};
    comm::exchange_sparse(comm->node(), sends);
    EXPECT_EQ(comm->ledger().accounts().front().counts.bytes_on_node,
              counts.bytes_on_node + (comm->node().rank() == 0 ? 0 : 12));
  }
}

/// Expects that work(comm) is in the books of a new communicator as MPI was asked to do it.
template <class Work>
void expect_books_equal_calls(const test::NodeMap& map, Work&& work) {
  const auto comm = Comm::create(MPI_COMM_WORLD, map.node_of_rank);
  comm->ledger().clear();
  test::MpiCalls calls = test::counted(map.node_of_rank, [&] { work(comm); });
  calls.synchronous = 0;  // no matter to the ledger
  EXPECT_EQ(test::booked(comm->ledger()), calls);
  EXPECT_GT(calls.collectives, 0);
}

/// A whole setup and solve of a small problem.
void set_up_and_solve(const std::shared_ptr<const Comm>& comm, const amg::Options& options) {
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(comm, {.problem = "laplace9", .n = 26}));
  const amg::Hierarchy<double> M(A, options);
  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
  std::vector<double> x(b.size(), 0.0);
  const solve::MatrixOperator<double> op(M.matrix(0));
  const solve::Report report = solve::cg<double>(op, &M, b, x, {});
  EXPECT_TRUE(report.converged());
}

TEST(Ledger, EqualsTheCallsOfMpiOverASetupAndASolve) {
  using comm::Route;
  const std::pair<Route, Route> choices[] = {{"direct", "direct"},
                                             {"two_step", "two_step"},
                                             {"three_step", "three_step"},
                                             {"three_step", "two_step"}};
  for (const auto& map : test::node_maps(test_comm()->size())) {
    for (const auto& [setup, solve] : choices) {
      SCOPED_TRACE(testing::Message() << map.name << ", " << setup.name() << ", " << solve.name());
      amg::Options options;
      options.setup_route = setup;
      options.route = solve;
      options.max_coarse_rows = 20;
      expect_books_equal_calls(map, [&](const auto& comm) { set_up_and_solve(comm, options); });
    }
  }
}

// A compressed file is read by one rank and dealt out.
TEST(Ledger, EqualsTheCallsOfMpiWhenReadingAFile) {
  const std::string path = NODEWISE_SOURCE_DIR "/examples/matrices/combustor_poisson.mtx.gz";
  for (const auto& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    expect_books_equal_calls(map, [&](const auto& comm) { io::read_matrix<double>(comm, path); });
  }
}

}  // namespace mpi_ledger_test
}  // namespace nodewise::mpi
