#include "nodewise/comm/route/direct.hpp"

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

}  // namespace nodewise::comm::route
