#include "nodewise/model/allreduce_cost.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/model/message_cost.hpp"
#include "nodewise/model/penalties.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::model {

namespace {

struct Job {
  const Machine& machine;
  int nodes, ranks_per_node;

  Locality on_node() const {
    return machine.sockets_per_node > 1 ? Locality::same_node : Locality::same_socket;
  }
  double on_node_s(double bytes) const { return message_s(machine, on_node(), bytes, 1); }
  double off_node_s(double bytes) const {
    // All ranks send, to one each.
    const Charges charges =
        model::charges(machine, {nodes, 1.0 * nodes * ranks_per_node, 1.0 * ranks_per_node});
    return max_rate_s(charged(machine, machine.parameters(Locality::other_node, bytes), charges),
                      bytes, ranks_per_node);
  }
};

double doubling_s(const Job& job, double bytes) {
  return rounds_of_doubling(job.ranks_per_node) * job.on_node_s(bytes) +
         rounds_of_doubling(job.nodes) * job.off_node_s(bytes);
}

/// Halves of the vector, then quarters, ...; and all of them back. The first, longest pieces stay
/// on the node.
double halving_s(const Job& job, double bytes) {
  double seconds = 0;
  double piece = bytes / 2;
  for (int k = 0; k < rounds_of_doubling(job.ranks_per_node); ++k, piece /= 2) {
    seconds += 2 * job.on_node_s(piece);
  }
  for (int k = 0; k < rounds_of_doubling(job.nodes); ++k, piece /= 2) {
    seconds += 2 * job.off_node_s(piece);
  }
  return seconds;
}

/// All ranks of a node come to know `slots` vectors, of which each has one.
double rounds_on_node_s(const Job& job, double bytes) {
  double seconds = 0;
  int known = 1;
  for (int k = 0; k < rounds_of_doubling(job.ranks_per_node); ++k) {
    const int sent = std::min(known, job.ranks_per_node - known);
    seconds += job.on_node_s(sent * bytes);
    known += sent;
  }
  return seconds;
}

double node_aware_s(const Job& job, double bytes) {
  double seconds = rounds_on_node_s(job, bytes);
  for (std::int64_t united = 1; united < job.nodes; united *= job.ranks_per_node + 1) {
    seconds += job.off_node_s(bytes) + rounds_on_node_s(job, bytes);
  }
  return seconds;
}

}  // namespace

int rounds_of_doubling(int n) {
  return mpi::tree_depth(n);
}

double allreduce_s(const Machine& machine, AllreduceAlgorithm algorithm, int nodes,
                   int ranks_per_node, double bytes) {
  if (nodes < 1 || ranks_per_node < 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} nodes of {} ranks cannot reduce", nodes, ranks_per_node));
  }
  const Job job = {machine, nodes, ranks_per_node};
  switch (algorithm) {
    case AllreduceAlgorithm::recursive_doubling:
      return doubling_s(job, bytes);
    case AllreduceAlgorithm::reduce_scatter_allgather:
      return halving_s(job, bytes);
    case AllreduceAlgorithm::node_aware:
      return node_aware_s(job, bytes);
  }
  throw Error(ErrorCode::internal, "an algorithm without a cost");
}

double allreduce_scale(const Machine& machine, AllreduceAlgorithm algorithm, double bytes) {
  if (!machine.allreduces || !(bytes > 0)) return 1;
  const MeasuredAllreduces& measured = *machine.allreduces;
  const bool node_aware = algorithm == AllreduceAlgorithm::node_aware;
  const std::vector<AllreduceTime>& times = node_aware ? measured.node_aware : measured.mpi;
  if (times.empty()) return 1;
  const auto distance = [bytes](const AllreduceTime& t) {
    return std::abs(std::log(t.bytes / bytes));
  };
  const AllreduceTime& nearest = *std::min_element(
      times.begin(), times.end(),
      [&](const AllreduceTime& a, const AllreduceTime& b) { return distance(a) < distance(b); });
  const int ranks_per_node = (measured.ranks + measured.nodes - 1) / measured.nodes;
  const double formula =
      allreduce_s(machine, node_aware ? algorithm : AllreduceAlgorithm::recursive_doubling,
                  measured.nodes, ranks_per_node, nearest.bytes);
  return formula > 0 ? nearest.seconds / formula : 1;
}

}  // namespace nodewise::model
