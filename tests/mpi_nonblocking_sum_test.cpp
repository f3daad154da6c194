// A sum that goes on beside other communication.
#include <gtest/gtest.h>

#include "nodewise/mpi/nonblocking_sum.hpp"

#include "mpi_counter.hpp"
#include "support.hpp"

namespace nodewise::test {
namespace mpi_nonblocking_sum_test {

TEST(NonblockingSum, SumsBesideOtherCommunication) {
  const mpi::Comm& comm = *test_comm();
  std::vector<double> values = {1.0, static_cast<double>(comm.rank()), 0.25};
  const std::vector<int> one_node(static_cast<std::size_t>(comm.size()), 0);
  comm.ledger().clear();
  const MpiCalls calls = counted(one_node, [&] {
    mpi::NonblockingSum sum(comm, values);
    EXPECT_EQ(mpi::sum(comm, 1.0), comm.size());
    sum.finish();
  });
  const double n = comm.size();
  EXPECT_EQ(values, (std::vector<double>{n, n * (n - 1) / 2, n / 4}));
  EXPECT_EQ(calls.collectives, 2);
  EXPECT_EQ(booked(comm.ledger()).collectives, 2);
}

TEST(NonblockingSum, IsCompletedWhereNobodyAsks) {
  const mpi::Comm& comm = *test_comm();
  std::vector<double> values = {2.0};
  { const mpi::NonblockingSum sum(comm, values); }
  EXPECT_EQ(values[0], 2.0 * comm.size());
}

}  // namespace mpi_nonblocking_sum_test
}  // namespace nodewise::test
