#include <numeric>
#include <vector>

#include "nodewise/comm/sdde/joined.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm::sdde {

namespace {

void within_nonblocking(const Channel& channel, SendRequests& outbox, ReceiveBuffers& inbox) {
  TerminationReduction termination(channel.comm);
  send_nonblocking(channel, outbox, inbox, termination, {});
}

/// Every rank of the region hears from every other how many pieces come.
void within_dense(const Channel& channel, SendRequests& outbox, ReceiveBuffers& inbox) {
  const auto n = static_cast<std::size_t>(channel.comm.size());
  std::vector<std::int64_t> sent(n, 0), coming(n, 0);
  outbox.count_pieces(sent);
  {
    const mpi::CollectiveCall call(channel.comm);
    mpi::check(MPI_Alltoall(sent.data(), 1, MPI_INT64_T, coming.data(), 1, MPI_INT64_T,
                            channel.comm.get()),
               "MPI_Alltoall");
  }
  send_counted(channel, outbox, inbox, std::reduce(coming.begin(), coming.end()));
}

}  // namespace

const mpi::SparseExchangeMethod& locality_personalized_method() {
  static const mpi::SparseExchangeMethod method = {
      {"locality_personalized", "one message a rank and destination node, then on the node",
       "Geyko et al. 2024, algorithm 4"},
      false,
      "personalized",
      [](Call& call) {
        exchange_joined(call, {between_personalized, send_personalized});
      }};
  return method;
}

const mpi::SparseExchangeMethod& locality_nonblocking_method() {
  static const mpi::SparseExchangeMethod method = {
      {"locality_nonblocking", "the same with synchronous sends and a nonblocking barrier",
       "Geyko et al. 2024, algorithm 5"},
      false,
      "nonblocking",
      [](Call& call) {
        exchange_joined(call, {between_nonblocking, within_nonblocking});
      }};
  return method;
}

const mpi::SparseExchangeMethod& locality_dense_method() {
  static const mpi::SparseExchangeMethod method = {
      {"locality_dense",
       "locality_personalized where on the node each tells each other how much comes", ""},
      false,
      "personalized",
      [](Call& call) {
        exchange_joined(call, {between_personalized, within_dense});
      }};
  return method;
}

}  // namespace nodewise::comm::sdde
