// Allreduce by MPI's own algorithm and by the schedules.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/collectives/allreduce.hpp"
#include "nodewise/mpi/collectives/scheduled_allreduce.hpp"

#include "collective_error.hpp"
#include "mpi_counter.hpp"
#include "support.hpp"

namespace nodewise::mpi::collectives {
namespace mpi_allreduce_test {

using Algorithm = Choice<AllreduceMethod>;
using Work = std::function<void(const Comm&)>;

CommSettings with(Algorithm allreduce) {
  CommSettings settings;
  settings.allreduce = allreduce;
  return settings;
}

/// Those with a schedule, by which all ranks combine in one order.
std::vector<std::string> scheduled() {
  std::vector<std::string> names;
  for (const AllreduceMethod& method : AllreduceMethod::family()) {
    if (*method.schedule != nullptr) names.push_back(method.name);
  }
  return names;
}

std::vector<std::string> all_algorithms() {
  std::vector<std::string> names = AllreduceMethod::family().names();
  names.push_back("automatic");
  return names;
}

/// Collective. Runs `work` on every placement of the ranks, by every schedule.
void on_every_map_by_schedules(const Work& work);

/// Collective. Runs `work` on every placement of the ranks.
void on_every_map(Algorithm algorithm, const Work& work) {
  for (const test::NodeMap& map : test::node_maps(test::test_comm()->size())) {
    SCOPED_TRACE(map.name);
    work(*Comm::create(MPI_COMM_WORLD, map.node_of_rank, with(algorithm)));
  }
}

void on_every_map_by_schedules(const Work& work) {
  for (const std::string& name : scheduled()) {
    SCOPED_TRACE(name);
    on_every_map(name, work);
  }
}

/// Collective. Whether all ranks have the same bytes; by MPI's own means.
bool same_everywhere(const void* data, std::size_t bytes) {
  std::uint64_t h = 7;
  for (std::size_t k = 0; k < bytes; ++k) {
    h = hash64(static_cast<const unsigned char*>(data)[k], h);
  }
  std::uint64_t least = 0, most = 0;
  MPI_Allreduce(&h, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&h, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return least == most;
}

/// Numbers of all signs and magnitudes: any two orders of summation differ in some bits.
std::vector<double> wild_numbers(std::size_t n, int rank, std::uint64_t seed) {
  std::vector<double> values(n);
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint64_t h = hash64(k, hash64(static_cast<std::uint64_t>(rank), seed));
    values[k] = std::ldexp(hash_uniform(h, 1) - 0.5, static_cast<int>(h % 120) - 60);
  }
  return values;
}

TEST(Allreduce, AllRanksHaveTheSameBits) {
  on_every_map_by_schedules([](const Comm& comm) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      for (const std::size_t n : {1U, 5U, 100U}) {
        const std::vector<double> mine = wild_numbers(n, comm.rank(), seed);
        std::vector<double> total(n);
        allreduce(comm, mine.data(), total.data(), std::ssize(mine), MPI_DOUBLE, MPI_SUM);
        EXPECT_TRUE(same_everywhere(total.data(), 8 * n));
        std::vector<double> magnitude(n), expected(n);
        for (std::size_t k = 0; k < n; ++k) magnitude[k] = std::abs(mine[k]);
        MPI_Allreduce(mine.data(), expected.data(), static_cast<int>(n), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, magnitude.data(), static_cast<int>(n), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        const double unit = comm.size() * std::numeric_limits<double>::epsilon();
        for (std::size_t k = 0; k < n; ++k) {
          EXPECT_LE(std::abs(total[k] - expected[k]), unit * magnitude[k]);
        }
        const std::vector<double> before = total;  // and again
        allreduce(comm, mine.data(), total.data(), std::ssize(mine), MPI_DOUBLE, MPI_SUM);
        EXPECT_EQ(std::memcmp(total.data(), before.data(), 8 * n), 0);
      }
    }
  });
}

TEST(Allreduce, SumsOfTheLibraryHaveTheSameBitsToo) {
  for (const std::string& algorithm : scheduled()) {
    on_every_map(algorithm, [](const Comm& comm) {
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const double total = sum(comm, wild_numbers(1, comm.rank(), seed)[0]);
        EXPECT_TRUE(same_everywhere(&total, sizeof total));
      }
    });
  }
}

/// Lengths around the limits of `automatic` and of a piece.
const std::vector<Offset> lengths = {0, 1, 2, 7, 255, 256, 257, 1023, 1024, 1025, 2500};

TEST(Allreduce, EqualsMpiOnWholeNumbers) {
  for (const std::string& algorithm : all_algorithms()) {
    on_every_map(algorithm, [](const Comm& comm) {
      for (const Offset n : lengths) {
        for (const MPI_Op op : {MPI_SUM, MPI_MAX, MPI_MIN, MPI_BXOR, MPI_PROD}) {
          std::vector<std::int64_t> mine, expected(static_cast<std::size_t>(n));
          for (Offset k = 0; k < n; ++k) {
            mine.push_back(
                static_cast<std::int64_t>(
                    hash64(static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(comm.rank())) %
                    100) -
                50);
          }
          MPI_Allreduce(mine.data(), expected.data(), static_cast<int>(n), MPI_INT64_T, op,
                        MPI_COMM_WORLD);
          std::vector<std::int64_t> result(mine.size(), -1);
          allreduce(comm, mine.data(), result.data(), n, MPI_INT64_T, op);
          EXPECT_EQ(result, expected);
          allreduce(comm, MPI_IN_PLACE, mine.data(), n, MPI_INT64_T, op);
          EXPECT_EQ(mine, expected);
        }
      }
    });
  }
}

// A pair type: 12 bytes that lie 16 apart.
TEST(Allreduce, PlaceOfTheLargest) {
  on_every_map_by_schedules([](const Comm& comm) {
    struct Pair {
      double value;
      int place;
    };
    std::vector<Pair> mine(700), result(700), expected(700);
    for (std::size_t k = 0; k < mine.size(); ++k) {
      const auto rank = static_cast<std::uint64_t>(comm.rank());
      mine[k] = {static_cast<double>(hash64(k, rank) % 3), comm.rank()};
    }
    std::memset(static_cast<void*>(result.data()), 0x5a, result.size() * sizeof(Pair));
    allreduce(comm, mine.data(), result.data(), 700, MPI_DOUBLE_INT, MPI_MAXLOC);
    MPI_Allreduce(mine.data(), expected.data(), 700, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    for (std::size_t k = 0; k < mine.size(); ++k) {
      EXPECT_EQ(result[k].value, expected[k].value);
      EXPECT_EQ(result[k].place, expected[k].place);
      unsigned char gap[4];
      std::memcpy(gap, reinterpret_cast<const char*>(&result[k]) + 12, 4);
      for (const unsigned char c : gap) EXPECT_EQ(c, 0x5a) << "wrote between the elements";
    }
  });
}

/// Mixes so that order matters in every bit.
void mix(void* in, void* inout, int* n, MPI_Datatype*) {
  for (int k = 0; k < *n; ++k) {
    auto& to = static_cast<std::uint64_t*>(inout)[k];
    to = hash64(static_cast<std::uint64_t*>(in)[k], to);
  }
}

void add_every_other(void* in, void* inout, int* n, MPI_Datatype*) {
  for (int k = 0; k < *n; ++k) {  // two ints that stand 8 bytes apart, 16 in all
    for (const int i : {0, 2}) {
      static_cast<int*>(inout)[4 * k + i] += static_cast<int*>(in)[4 * k + i];
    }
  }
}

class UserOp {
 public:
  UserOp(MPI_User_function* function, bool commutes) { MPI_Op_create(function, commutes, &op_); }
  ~UserOp() { MPI_Op_free(&op_); }
  UserOp(const UserOp&) = delete;
  UserOp& operator=(const UserOp&) = delete;
  MPI_Op get() const { return op_; }

 private:
  MPI_Op op_ = MPI_OP_NULL;
};

// The caller says that it commutes; it does not, and still all ranks agree.
TEST(Allreduce, AllRanksCombineInTheSameOrder) {
  const UserOp op(mix, true);
  on_every_map_by_schedules([&](const Comm& comm) {
    std::vector<std::uint64_t> values(33, static_cast<std::uint64_t>(comm.rank()));
    allreduce(comm, MPI_IN_PLACE, values.data(), 33, MPI_UINT64_T, op.get());
    EXPECT_TRUE(same_everywhere(values.data(), 33 * 8));
    EXPECT_EQ(values[0], values[32]);
  });
}

TEST(Allreduce, UsersTypeAndOperation) {
  MPI_Datatype two = MPI_DATATYPE_NULL, padded = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &two);
  MPI_Type_create_resized(two, 0, 16, &padded);
  MPI_Type_commit(&padded);
  {
    const UserOp op(add_every_other, true);
    on_every_map_by_schedules([&](const Comm& comm) {
      const int n = 600;
      std::vector<int> mine(4 * n), result(4 * n, -7);
      for (int k = 0; k < 4 * n; ++k) mine[static_cast<std::size_t>(k)] = k + comm.rank();
      allreduce(comm, mine.data(), result.data(), n, padded, op.get());
      const int p = comm.size();
      for (int k = 0; k < 4 * n; ++k) {
        const int expected = k % 2 == 0 ? p * k + p * (p - 1) / 2 : -7;
        EXPECT_EQ(result[static_cast<std::size_t>(k)], expected) << k;
      }
    });
  }
  MPI_Type_free(&padded);
  MPI_Type_free(&two);
}

TEST(Allreduce, OperationsThatDoNotCommute) {
  const UserOp op(mix, false);
  std::uint64_t mine = static_cast<std::uint64_t>(test::test_comm()->rank());
  std::uint64_t expected = 0;
  MPI_Allreduce(&mine, &expected, 1, MPI_UINT64_T, op.get(), MPI_COMM_WORLD);
  on_every_map_by_schedules([&](const Comm& comm) {
    std::uint64_t result = 1;
    const std::string text = test::expect_same_error(comm, ErrorCode::unsupported, [&] {
      allreduce(comm, &mine, &result, 1, MPI_UINT64_T, op.get());
    });
    EXPECT_EQ(text, "allreduce: the algorithm " + comm.settings().allreduce.name() +
                        " needs a commutative operation");
    EXPECT_EQ(result, 1U);
  });
  for (const Algorithm algorithm : {"automatic", "mpi"}) {
    on_every_map(algorithm, [&](const Comm& comm) {
      std::uint64_t result = 1;
      allreduce(comm, &mine, &result, 1, MPI_UINT64_T, op.get());
      EXPECT_EQ(result, expected);
    });
  }
}

TEST(Allreduce, ElementsThatAreTooLong) {
  MPI_Datatype huge = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2000, MPI_DOUBLE, &huge);
  MPI_Type_commit(&huge);
  {
    const UserOp op(mix, true);
    std::vector<double> values(2000);
    on_every_map("node_aware", [&](const Comm& comm) {
      test::expect_same_error(comm, ErrorCode::invalid_argument, [&] {
        allreduce(comm, MPI_IN_PLACE, values.data(), 1, huge, op.get());
      });
    });
  }
  MPI_Type_free(&huge);
}

// One rank is wrong: all hear of it, nobody waits, and the next call is as if nothing had been.
TEST(Allreduce, AnErrorOnOneRankIsEverybodys) {
  for (const std::string& algorithm : all_algorithms()) {
    on_every_map(algorithm, [](const Comm& comm) {
      for (int bad = 0; bad < comm.size(); ++bad) {
        const bool here = comm.rank() == bad;
        std::vector<double> values(601, 1.0);  // the longest of the wrong counts
        const std::string where = comm.size() == 1 ? "" : "rank " + std::to_string(bad) + ": ";
        const auto fails = [&](Offset n, void* data, MPI_Datatype type, MPI_Op op) {
          return test::expect_same_error(comm, ErrorCode::invalid_argument,
                                         [&] { allreduce(comm, MPI_IN_PLACE, data, n, type, op); });
        };
        for (const Offset n : {Offset{2}, Offset{600}}) {
          EXPECT_EQ(fails(here ? -3 : n, values.data(), MPI_DOUBLE, MPI_SUM),
                    where + "allreduce: a count of -3");
          EXPECT_EQ(fails(n, here ? nullptr : values.data(), MPI_DOUBLE, MPI_SUM),
                    where + "allreduce: a buffer is null");
          EXPECT_EQ(fails(n, values.data(), MPI_DOUBLE, here ? MPI_OP_NULL : MPI_SUM),
                    where + "allreduce: the operation is MPI_OP_NULL");
          EXPECT_EQ(fails(n, values.data(), here ? MPI_DATATYPE_NULL : MPI_DOUBLE, MPI_SUM),
                    where + "allreduce: the datatype is MPI_DATATYPE_NULL");
          if (comm.size() > 1) {
            for (const Offset other : {Offset{0}, n - 1, n + 1, Offset{300}}) {
              const std::string text = fails(here ? other : n, values.data(), MPI_DOUBLE, MPI_SUM);
              EXPECT_EQ(text.find("allreduce: the ranks bring vectors of different lengths"), 0U);
            }
          }
          std::vector<double> good(static_cast<std::size_t>(n), 1.0);
          allreduce(comm, MPI_IN_PLACE, good.data(), n, MPI_DOUBLE, MPI_SUM);
          EXPECT_EQ(good, std::vector<double>(static_cast<std::size_t>(n), comm.size()));
        }
      }
    });
  }
}

// What MPI is asked to send is the schedule, in every message its slots and 16 bytes more; and the
// ledger knows.
TEST(Allreduce, SendsWhatTheScheduleSays) {
  for (const test::NodeMap& map : test::node_maps(test::test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = Comm::create(MPI_COMM_WORLD, map.node_of_rank, with("node_aware"));
    const Topology& topology = comm->topology();
    const Schedule schedule = make_schedule(topology, comm->rank());
    const MessageCounts counts = count_messages(schedule, topology, comm->rank());
    for (const int n : {1, 40}) {
      test::MpiCalls expected;
      expected.messages_on_node = counts.on_node;
      expected.messages_off_node = counts.off_node;
      for (const Stage& stage : schedule.stages) {
        for (const Round& round : stage.rounds) {
          for (const Message& m : round.sends) {
            const bool on_node = topology.same_node(m.rank, comm->rank());
            (on_node ? expected.bytes_on_node : expected.bytes_off_node) +=
                16 + 8 * n * std::ssize(m.slots);
          }
        }
      }
      std::vector<double> values(static_cast<std::size_t>(n), 1.0);
      comm->ledger().clear();
      const test::MpiCalls checked = test::counted(map.node_of_rank, [&] {
        allreduce(*comm, MPI_IN_PLACE, values.data(), n, MPI_DOUBLE, MPI_SUM);
      });
      EXPECT_EQ(checked, expected);
      EXPECT_EQ(test::booked(comm->ledger()), expected);
      const test::MpiCalls unchecked = test::counted(
          map.node_of_rank, [&] { sum_in_place<double>(*comm, std::span<double>(values)); });
      EXPECT_EQ(unchecked, expected);
    }
  }
}

// Vectors of many pieces, by those that take long ones.
TEST(Allreduce, LongVectorsGoInPieces) {
  on_every_map_by_schedules([](const Comm& comm) {
    const Offset piece = comm.settings().allreduce->piece_bytes;
    for (const Offset n : {piece / 8, piece / 8 + 1, 3 * piece / 8 + 5}) {
      std::vector<std::int64_t> values(static_cast<std::size_t>(n));
      for (std::size_t k = 0; k < values.size(); ++k) {
        values[k] = static_cast<std::int64_t>(k) * (comm.rank() + 1);
      }
      allreduce(comm, MPI_IN_PLACE, values.data(), n, MPI_INT64_T, MPI_SUM);
      const std::int64_t p = comm.size();
      for (std::size_t k = 0; k < values.size(); ++k) {
        ASSERT_EQ(values[k], static_cast<std::int64_t>(k) * (p * (p + 1) / 2));
      }
    }
  });
}

TEST(Allreduce, AnotherAlgorithmForOneCall) {
  for (const std::string& setting : all_algorithms()) {
    on_every_map(setting, [&](const Comm& comm) {
      for (const std::string& algorithm : all_algorithms()) {
        SCOPED_TRACE(setting + ", " + algorithm);
        std::vector<int> values(50, comm.rank());
        allreduce(comm, MPI_IN_PLACE, values.data(), 50, MPI_INT, MPI_SUM, Algorithm(algorithm));
        EXPECT_EQ(values, std::vector<int>(50, comm.size() * (comm.size() - 1) / 2));
        const std::string taken = chosen_allreduce(algorithm, comm.topology(), 200).name;
        if (comm.size() == 1 || taken == "mpi") continue;
        const std::string text = test::expect_same_error(comm, ErrorCode::invalid_argument, [&] {
          allreduce(comm, MPI_IN_PLACE, values.data(), 50, MPI_INT, MPI_SUM,
                    Algorithm(comm.rank() == 0 ? "mpi" : algorithm));
        });
        EXPECT_NE(text.find("name different algorithms"), std::string::npos);
      }
    });
  }
}

// On one node the library's sums are what they were: one call of MPI's own.
TEST(Allreduce, AutomaticCostsNothingOnOneNode) {
  const std::vector<int> one_node(static_cast<std::size_t>(test::test_comm()->size()), 0);
  const auto comm = Comm::create(MPI_COMM_WORLD, one_node);
  EXPECT_EQ(test::counted(one_node, [&] { sum(*comm, 1.0); }), (test::MpiCalls{.collectives = 1}));
}

TEST(Allreduce, ManyCallsDoNotMix) {
  on_every_map_by_schedules([](const Comm& comm) {
    const int p = comm.size();
    for (int call = 0; call < 200; ++call) {
      const auto n = static_cast<std::size_t>(1 + call % 3);
      std::vector<int> values(n, call * (comm.rank() + 1));
      allreduce(comm, MPI_IN_PLACE, values.data(), std::ssize(values), MPI_INT, MPI_SUM);
      EXPECT_EQ(values, std::vector<int>(n, call * p * (p + 1) / 2));
      EXPECT_EQ(max(comm, comm.rank() * call), (p - 1) * call);
    }
  });
}

TEST(Allreduce, OnASubsetOfTheRanks) {
  const int rank = test::test_comm()->rank();
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  {
    int size = 0;
    MPI_Comm_size(part, &size);
    for (const test::NodeMap& map : test::node_maps(size)) {
      const auto comm = Comm::create(part, map.node_of_rank, with("node_aware"));
      std::vector<int> values = {rank, 1};
      allreduce(*comm, MPI_IN_PLACE, values.data(), 2, MPI_INT, MPI_SUM);
      int expected = 0;
      for (int r = rank % 2; r < test::test_comm()->size(); r += 2) expected += r;
      EXPECT_EQ(values, (std::vector<int>{expected, size}));
    }
  }
  MPI_Comm_free(&part);
}

TEST(Allreduce, NodesHaveTheirOwn) {
  on_every_map("node_aware", [](const Comm& comm) {
    const Topology& t = comm.topology();
    const auto here = t.ranks_on(t.node(comm.rank()));
    EXPECT_EQ(sum(comm.node(), 1), static_cast<int>(here.size()));
    EXPECT_EQ(max(comm.node(), comm.rank()), here.back());
  });
}

TEST(Allreduce, AutomaticIsMpisWhereThereIsNothingToShareOut) {
  EXPECT_TRUE(allreduce_ranges("automatic", Topology(std::vector{0, 0, 0})).empty());
  EXPECT_TRUE(allreduce_ranges("automatic", Topology(std::vector{0, 1, 2})).empty());
  EXPECT_FALSE(allreduce_ranges("automatic", Topology(std::vector{0, 1, 1})).empty());
  EXPECT_FALSE(allreduce_ranges("node_aware", Topology(std::vector{0, 0})).empty());
  EXPECT_TRUE(allreduce_ranges("mpi", Topology(std::vector{0, 1, 1})).empty());
  EXPECT_TRUE(test::test_comm()->allreduces().empty());
}

TEST(Allreduce, TellsWhatItDoes) {
  const int p = test::test_comm()->size();
  std::vector<int> two(static_cast<std::size_t>(p));
  for (int r = 0; r < p; ++r) two[static_cast<std::size_t>(r)] = r == 0 ? 0 : 1;
  const auto explain = [&](Algorithm algorithm) {
    return explain_allreduce(*Comm::create(MPI_COMM_WORLD, two, with(algorithm)));
  };
  EXPECT_EQ(explain("mpi"), "MPI's own algorithm, as set.");
  if (p > 2) {
    const std::string ranks = "1 to " + std::to_string(p - 1) + " ranks";
    const Offset longest = longest_shared_out(Topology(two));
    std::string text = "For vectors of up to " + std::to_string(longest) +
                       " bytes the node-aware algorithm on 2 nodes of " + ranks +
                       ", 1 stage between nodes, 1 message to other nodes from this node, at most "
                       "1 from a rank. ";
    if (longest < automatic_allreduce_bytes) {
      text +=
          "For vectors of up to 8192 bytes the algorithm node_leaders: one rank of each node "
          "adds up what the node has, and these exchange by recursive doubling. ";
    }
    EXPECT_EQ(explain("automatic"),
              text + "For longer ones, and for operations that are not commutative, MPI's own.");
    EXPECT_EQ(explain("recursive_doubling"),
              "As set, the algorithm recursive_doubling: all ranks exchange with others at "
              "distances 1, 2, 4 and so on.");
    EXPECT_EQ(explain("node_aware"),
              "As set, the node-aware algorithm on 2 nodes of " + ranks +
                  ", 1 stage between nodes, 1 message to other nodes from this node, at most 1 "
                  "from a rank.");
  } else {
    EXPECT_EQ(explain("automatic").find("MPI's own algorithm: with "), 0U);
  }
}

}  // namespace mpi_allreduce_test
}  // namespace nodewise::mpi::collectives
