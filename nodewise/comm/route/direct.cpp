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

}  // namespace nodewise::comm::route
