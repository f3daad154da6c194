#include "nodewise/comm/route/planner.hpp"

#include <optional>
#include <span>
#include <utility>

#include "nodewise/comm/sdde/buffers.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm::route {

namespace {

/// Returns what every rank receives when rank r sends sent[r]. Sent messages are used up, so that
/// the memory for many ranks is not needed twice.
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

/// Sends one message to each of sends.ranks and receives one from each of `sources`.
Words exchange_known(const mpi::Comm& comm, const Words& sends, std::span<const int> sources) {
  const mpi::Communicating communicating(comm);
  const sdde::Channel channel{comm, mpi::tag_planning, SparseOptions{}.max_message_bytes};
  const auto data = std::as_bytes(std::span(sends.data));
  sdde::SendRequests outbox(channel, {sends.ranks, sends.offsets, data, sizeof(std::int64_t)});
  sdde::ReceiveBuffers inbox;
  outbox.take_own(inbox);
  outbox.post(false);
  inbox.receive_from(channel, sources);
  outbox.wait();
  sdde::count_wait(channel, outbox, inbox);
  if (inbox.failure()) throw Error(*inbox.failure());
  Words arrived;
  const auto room = [&](std::size_t n) {
    arrived.data.resize(n);
    return reinterpret_cast<std::byte*>(arrived.data.data());
  };
  inbox.deliver(sizeof(std::int64_t), {arrived.ranks, arrived.offsets, room});
  return arrived;
}

/// A rank that hears nothing from one that failed may fail in turn, with an internal error: the
/// cause is what matters.
void agree_on_cause(const mpi::Comm& comm, const std::optional<Error>& error) {
  // No message inside a handler: a simulated MPI switches to other ranks there, which share the
  // stack of exceptions being handled.
  const std::optional<Error> agreed = mpi::error_of([&] { mpi::agree(comm, error); });
  if (!agreed) return;
  const bool is_cause = error && error->code() != ErrorCode::internal;
  if (agreed->code() == ErrorCode::internal) mpi::agree(comm, is_cause ? error : std::nullopt);
  throw *agreed;
}

}  // namespace

Words to_messages(const std::map<int, std::vector<std::int64_t>>& words_to) {
  Words messages;
  for (const auto& [rank, words] : words_to) {
    messages.ranks.push_back(rank);
    messages.data.insert(messages.data.end(), words.begin(), words.end());
    messages.offsets.push_back(static_cast<Offset>(messages.data.size()));
  }
  return messages;
}

Words empty_messages_to(std::vector<int> ranks) {
  std::vector<Offset> offsets(ranks.size() + 1, 0);
  return {.ranks = std::move(ranks), .offsets = std::move(offsets), .data = {}};
}

Plan run(const mpi::Comm& comm, Planner& planner) {
  // All agree once, at the end: to agree in every round would cost more than the round.
  std::optional<Error> error;
  const auto attempt = [&error](const auto& work) {
    const std::optional<Error> failure = mpi::caught(work);
    if (!error) error = failure;
  };
  Words arrived;
  for (int round = 0; round < planner.n_rounds(); ++round) {
    Words sends;
    if (!error) attempt([&] { sends = planner.step(round, arrived); });
    if (error) sends = planner.step_after_failure(round, arrived);
    const auto sources = planner.sources(round);
    arrived = {};
    // Exceptions here leave only when all messages of the round are sent and received.
    attempt([&] {
      arrived = sources ? exchange_known(comm, sends, *sources)
                        : exchange_on_node(comm, std::move(sends));
    });
  }
  Plan plan;
  if (!error) attempt([&] { plan = planner.plan(arrived); });
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
    for (std::size_t r = 0; r < planners.size(); ++r) {
      const auto sources = planners[r]->sources(round);
      if (sources && *sources != arrived[r].ranks) {
        throw Error(ErrorCode::internal, "route: a rank waits for others than send to it");
      }
    }
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
