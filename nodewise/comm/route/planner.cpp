#include "nodewise/comm/route/planner.hpp"

#include "nodewise/mpi/agree.hpp"

namespace nodewise::comm::route {

namespace {

/// What every rank receives when rank r sends sent[r].
std::vector<Words> deliver(const std::vector<Words>& sent) {
  std::vector<Words> arrived(sent.size());
  for (std::size_t source = 0; source < sent.size(); ++source) {
    for (std::size_t i = 0; i < sent[source].size(); ++i) {
      const auto message = sent[source].message(i);
      Words& to = arrived[static_cast<std::size_t>(sent[source].ranks[i])];
      to.ranks.push_back(static_cast<int>(source));
      to.data.insert(to.data.end(), message.begin(), message.end());
      to.offsets.push_back(static_cast<Offset>(to.data.size()));
    }
  }
  return arrived;
}

}  // namespace

Plan run(const mpi::Comm& comm, Planner& planner) {
  Words arrived;
  for (int round = 0; round < planner.n_rounds(); ++round) {
    arrived = exchange_sparse(
        comm, mpi::collectively(comm, [&] { return planner.step(round, arrived); }));
  }
  return mpi::collectively(comm, [&] { return planner.plan(arrived); });
}

std::vector<Plan> run_virtually(std::vector<std::unique_ptr<Planner>>& planners) {
  std::vector<Words> arrived(planners.size());
  const int n_rounds = planners.empty() ? 0 : planners.front()->n_rounds();
  for (int round = 0; round < n_rounds; ++round) {
    std::vector<Words> sent;
    sent.reserve(planners.size());
    for (std::size_t r = 0; r < planners.size(); ++r) {
      sent.push_back(planners[r]->step(round, arrived[r]));
    }
    arrived = deliver(sent);
  }
  std::vector<Plan> plans;
  plans.reserve(planners.size());
  for (std::size_t r = 0; r < planners.size(); ++r) {
    plans.push_back(planners[r]->plan(arrived[r]));
  }
  return plans;
}

}  // namespace nodewise::comm::route
