// How far a queue of receives is searched in the products of a hierarchy, by looking which message
// is there first: section 3.5 of Bienz 2018. Every rank sends what the product of each level sends;
// then it takes the messages as they are there, and counts each one's place among the receives that
// are still open, in the order of the senders' ranks. A line of JSON for each level.
//   mpirun -n 16 nodewise_bench_queue_positions --problem beam:6 --option unknowns=3
#include <algorithm>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/error.hpp"
#include "nodewise/comm/points.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"

#include "name_and_value.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using bench::Matrix;

struct Arguments {
  int repeats = 20;
  std::string problem = "beam:6";
  std::vector<std::string> options;
};

/// Steps through a queue of n receives.
struct Steps {
  std::int64_t messages = 0;
  std::int64_t steps = 0;           ///< with receives in the order of the senders
  std::int64_t steps_reversed = 0;  ///< had they been posted in the opposite order
};

/// Takes one message from each sender as they are there.
Steps take_all(MPI_Comm comm, std::span<const int> senders, int tag, std::span<char> buffer) {
  std::vector<int> open(senders.begin(), senders.end());
  Steps steps = {std::ssize(open), 0, 0};
  while (!open.empty()) {
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, tag, comm, &status);
    const auto at = std::lower_bound(open.begin(), open.end(), status.MPI_SOURCE);
    steps.steps += at - open.begin() + 1;
    steps.steps_reversed += open.end() - at;
    MPI_Recv(buffer.data(), static_cast<int>(buffer.size()), MPI_CHAR, status.MPI_SOURCE, tag, comm,
             MPI_STATUS_IGNORE);
    open.erase(at);
  }
  return steps;
}

/// One product's messages, 8 bytes an entry.
Steps exchange(MPI_Comm comm, const comm::Pattern& mine, int tag) {
  std::vector<char> outgoing(8 * mine.send_entries.size() + 1);
  std::vector<char> incoming(8 * static_cast<std::size_t>(mine.n_ghosts) + 1);
  std::vector<MPI_Request> requests(mine.send_ranks.size());
  MPI_Barrier(comm);
  for (std::size_t k = 0; k < requests.size(); ++k) {
    const auto begin = static_cast<std::size_t>(mine.send_offsets[k]);
    const int bytes = 8 * (mine.send_offsets[k + 1] - mine.send_offsets[k]);
    MPI_Isend(outgoing.data() + 8 * begin, bytes, MPI_CHAR, mine.send_ranks[k], tag, comm,
              &requests[k]);
  }
  const Steps steps = take_all(comm, mine.recv_ranks, tag, incoming);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return steps;
}

/// The steps of the rank that has most, in both orders, by repeat; and its messages.
void write(const amg::Hierarchy<double>& hierarchy, std::size_t level, const Arguments& arguments) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto starts = hierarchy.virtual_starts(level);
  const auto patterns = comm::virtual_patterns(
      starts, matrix::virtual_ghosts(hierarchy.matrix(level)->on(), starts, starts));
  std::int64_t most_messages = 0;
  std::vector<double> shares, shares_reversed;  // of n^2, where n is the most of any rank
  for (int k = 0; k < arguments.repeats; ++k) {
    const Steps mine = exchange(MPI_COMM_WORLD, patterns[static_cast<std::size_t>(rank)], k);
    const std::array<std::int64_t, 3> own = {mine.messages, mine.steps, mine.steps_reversed};
    std::array<std::int64_t, 3> most = {};
    MPI_Allreduce(own.data(), most.data(), 3, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    most_messages = most[0];
    if (most_messages == 0) return;
    const double square = static_cast<double>(most[0] * most[0]);
    shares.push_back(static_cast<double>(most[1]) / square);
    shares_reversed.push_back(static_cast<double>(most[2]) / square);
  }
  if (rank != 0) return;
  std::cout << fmt::format(
                   "{{\"problem\": \"{}\", \"ranks\": {}, \"level\": {}, \"rows\": {}, "
                   "\"most_messages\": {}, \"steps\": [{:.4f}], \"steps_reversed\": [{:.4f}]}}",
                   arguments.problem, starts.size() - 1, level,
                   hierarchy.matrix(level)->rows().n_global(), most_messages,
                   fmt::join(shares, ", "), fmt::join(shares_reversed, ", "))
            << std::endl;
}

void run(const Arguments& arguments) {
  int n_ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  const auto A =
      bench::make_matrix(mpi::Comm::create(MPI_COMM_SELF), bench::parse_problem(arguments.problem));
  amg::Options options;
  bench::set_from_words(options, arguments.options);
  amg::ProblemInfo<double> info;
  info.virtual_starts = comm::uniform_point_starts(A->rows().n_global(), n_ranks, options.unknowns);
  const amg::Hierarchy<double> hierarchy(A, options, info);  // every rank makes all of it
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) write(hierarchy, l, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("How far a queue of receives is searched in the products of a hierarchy");
  app.add_option("--problem", arguments.problem, "name:n; small: every rank makes all of it");
  app.add_option("--option", arguments.options, "options of the hierarchy: name=value");
  app.add_option("--repeats", arguments.repeats)->check(CLI::PositiveNumber);
  return bench::run_program(app, argc, argv, [&] { run(arguments); });
}
