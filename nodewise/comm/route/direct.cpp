#include "nodewise/comm/route/direct.hpp"

#include "nodewise/comm/route/message_estimate.hpp"
#include "nodewise/comm/route/route.hpp"

namespace nodewise::comm::route {

Plan direct(const Pattern& pattern) {
  Plan plan;
  plan.n_owned = pattern.n_owned;
  plan.n_ghosts = pattern.n_ghosts;
  plan.stages.push_back({.send_ranks = pattern.send_ranks,
                         .send_offsets = pattern.send_offsets,
                         .send_entries = pattern.send_entries,
                         .recv_ranks = pattern.recv_ranks,
                         .recv_offsets = pattern.recv_offsets});
  return plan;
}

namespace {

class Direct : public Planner {
 public:
  explicit Direct(const Pattern& pattern) : pattern_(pattern) {}
  int n_rounds() const override { return 0; }
  Words step(int /*round*/, const Words& /*arrived*/) override { return {}; }
  Words step_after_failure(int /*round*/, const Words& /*arrived*/) override { return {}; }
  std::optional<std::vector<int>> sources(int /*round*/) const override { return std::nullopt; }
  Plan plan(const Words& /*arrived*/) override { return direct(pattern_); }

 private:
  const Pattern& pattern_;
};

}  // namespace

std::unique_ptr<Planner> direct_planner(const Pattern& pattern) {
  return std::make_unique<Direct>(pattern);
}

Pattern pattern_of(const Plan& direct_plan) {
  const Stage& stage = direct_plan.stages.front();
  return {.n_owned = direct_plan.n_owned,
          .n_ghosts = direct_plan.n_ghosts,
          .recv_ranks = stage.recv_ranks,
          .recv_offsets = stage.recv_offsets,
          .send_ranks = stage.send_ranks,
          .send_offsets = stage.send_offsets,
          .send_entries = stage.send_entries};
}

const RouteMethod& direct_method() {
  static const RouteMethod method = {
      {"direct", "every owner sends straight to every rank that needs its entries", ""},
      "direct",
      true,
      [](const Pattern& pattern, const mpi::Topology&, int /*rank*/, const NodeMapping&) {
        return direct_planner(pattern);
      },
      1,
      std::vector<std::size_t>{0},
      [](const NodeExchanges& known) { return sizes_of(known.direct); },
      PlanningSteps{}};
  return method;
}

}  // namespace nodewise::comm::route
