#include "nodewise/comm/route/planner.hpp"

#include <optional>
#include <span>
#include <utility>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm::route {

namespace {

/// What every rank receives when rank r sends sent[r]. What is sent is used up, so that the memory
/// for many ranks is not needed twice.
std::vector<Words> deliver(std::vector<Words> sent) {
  std::vector<Words> arrived(sent.size());
  std::vector<std::size_t> n_messages(sent.size(), 0);
  std::vector<std::size_t> n_words(sent.size(), 0);
  for (const Words& words : sent) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto to = static_cast<std::size_t>(words.ranks[i]);
      ++n_messages[to];
      n_words[to] += words.message(i).size();
    }
  }
  for (std::size_t r = 0; r < arrived.size(); ++r) {
    arrived[r].ranks.reserve(n_messages[r]);
    arrived[r].offsets.reserve(n_messages[r] + 1);
    arrived[r].data.reserve(n_words[r]);
  }
  for (std::size_t source = 0; source < sent.size(); ++source) {
    const Words words = std::exchange(sent[source], {});
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto message = words.message(i);
      Words& to = arrived[static_cast<std::size_t>(words.ranks[i])];
      to.ranks.push_back(static_cast<int>(source));
      to.data.insert(to.data.end(), message.begin(), message.end());
      to.offsets.push_back(static_cast<Offset>(to.data.size()));
    }
  }
  return arrived;
}

Words exchange_on_node(const mpi::Comm& comm, Words sends) {
  const mpi::Topology& topology = comm.topology();
  for (int& rank : sends.ranks) rank = static_cast<int>(topology.place_on_node(rank));
  Words arrived = exchange_sparse(comm.node(), sends);
  const auto here = topology.ranks_on(topology.node(comm.rank()));
  for (int& rank : arrived.ranks) rank = here[static_cast<std::size_t>(rank)];
  return arrived;
}

/// Sends one message to each of answers.ranks and receives one from each of `asked`.
Words exchange_answers(const mpi::Comm& comm, const Words& answers, std::span<const int> asked) {
  const mpi::Communicating communicating(comm);
  std::vector<MPI_Request> requests(answers.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto message = answers.message(i);
    mpi::check(MPI_Isend(message.data(), narrow<int>(message.size(), "message length"), MPI_INT64_T,
                         answers.ranks[i], mpi::tag_answer, comm.get(), &requests[i]),
               "MPI_Isend");
    comm.count_message(answers.ranks[i], static_cast<std::int64_t>(message.size_bytes()));
  }
  Words arrived;
  for (const int rank : asked) {
    MPI_Status status;
    int length = 0;
    mpi::check(MPI_Probe(rank, mpi::tag_answer, comm.get(), &status), "MPI_Probe");
    mpi::check(MPI_Get_count(&status, MPI_INT64_T, &length), "MPI_Get_count");
    arrived.ranks.push_back(rank);
    arrived.offsets.push_back(arrived.offsets.back() + length);
    arrived.data.resize(static_cast<std::size_t>(arrived.offsets.back()));
    mpi::check(MPI_Recv(arrived.data.data() + (arrived.offsets.back() - length), length,
                        MPI_INT64_T, rank, mpi::tag_answer, comm.get(), MPI_STATUS_IGNORE),
               "MPI_Recv");
  }
  mpi::check(MPI_Waitall(narrow<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
             "MPI_Waitall");
  return arrived;
}

Words empty_messages_to(const std::vector<int>& ranks) {
  return {.ranks = ranks, .offsets = std::vector<Offset>(ranks.size() + 1, 0), .data = {}};
}

/// A rank that hears nothing from one that failed may fail in turn, with an internal error: the
/// cause is what matters.
void agree_on_cause(const mpi::Comm& comm, const std::optional<Error>& error) {
  // No message inside a handler: a simulated MPI switches to other ranks there, which share the
  // stack of exceptions being handled.
  const std::optional<Error> agreed = mpi::caught([&] { mpi::agree(comm, error); });
  if (!agreed) return;
  const bool is_cause = error && error->code() != ErrorCode::internal;
  if (agreed->code() == ErrorCode::internal) mpi::agree(comm, is_cause ? error : std::nullopt);
  throw *agreed;
}

}  // namespace

Plan run(const mpi::Comm& comm, Planner& planner) {
  // A rank that fails says nothing more until all agree at the end: to agree in every round would
  // cost as much as the round.
  std::optional<Error> error;
  Words arrived;
  std::vector<int> asked;
  for (int round = 0; round < planner.n_rounds(); ++round) {
    Words sends;
    if (!error) error = mpi::caught([&] { sends = planner.step(round, arrived); });
    if (error) sends = planner.answers(round) ? empty_messages_to(arrived.ranks) : Words{};
    std::vector<int> destinations = sends.ranks;
    arrived = planner.answers(round)         ? exchange_answers(comm, sends, asked)
              : planner.stays_on_node(round) ? exchange_on_node(comm, std::move(sends))
                                             : exchange_sparse(comm, sends);
    asked = std::move(destinations);
  }
  Plan plan;
  if (!error) error = mpi::caught([&] { plan = planner.plan(arrived); });
  agree_on_cause(comm, error);
  return plan;
}

std::vector<Plan> run_virtually(std::vector<std::unique_ptr<Planner>>& planners) {
  std::vector<Words> arrived(planners.size());
  const int n_rounds = planners.empty() ? 0 : planners.front()->n_rounds();
  for (int round = 0; round < n_rounds; ++round) {
    std::vector<Words> sent;
    sent.reserve(planners.size());
    for (std::size_t r = 0; r < planners.size(); ++r) {
      const Words heard = std::exchange(arrived[r], {});
      sent.push_back(planners[r]->step(round, heard));
    }
    arrived = deliver(std::move(sent));
  }
  std::vector<Plan> plans;
  plans.reserve(planners.size());
  for (std::size_t r = 0; r < planners.size(); ++r) {
    const Words heard = std::exchange(arrived[r], {});
    plans.push_back(std::exchange(planners[r], nullptr)->plan(heard));
  }
  return plans;
}

}  // namespace nodewise::comm::route
