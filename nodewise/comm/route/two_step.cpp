#include "nodewise/comm/route/two_step.hpp"

#include "nodewise/comm/route/relay.hpp"

namespace nodewise::comm::route {

namespace {

class TwoStep : public Planner {
 public:
  TwoStep(const Pattern& pattern, const mpi::Topology& topology, int rank)
      : topology_(topology), relay_(pattern, rank) {}

  int n_rounds() const override { return 2; }
  bool stays_on_node(int round) const override { return round == 1; }

  Words step(int round, const Words& arrived) override {
    if (round > 0) relay_.receive(arrived);
    for (Parcel& parcel : relay_.parcels()) {
      parcel.next = topology_.same_node(relay_.rank(), parcel.dest) ? parcel.dest
                                                                    : corresponding(parcel.dest);
    }
    return relay_.send();
  }

  Plan plan(const Words& arrived) override {
    relay_.receive(arrived);
    return relay_.finish();
  }

 private:
  /// The rank on the node of `dest` that stands for this one.
  int corresponding(int dest) const {
    const auto there = topology_.ranks_on(topology_.node(dest));
    return there[topology_.place_on_node(relay_.rank()) % there.size()];
  }

  const mpi::Topology& topology_;
  Relay relay_;
};

}  // namespace

std::unique_ptr<Planner> two_step(const Pattern& pattern, const mpi::Topology& topology, int rank) {
  return std::make_unique<TwoStep>(pattern, topology, rank);
}

}  // namespace nodewise::comm::route
