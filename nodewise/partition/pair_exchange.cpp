// Parts change places in pairs while that lowers what their exchanges cost.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "nodewise/model/contention.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/model/message_cost.hpp"
#include "nodewise/partition/placement_method.hpp"

namespace nodewise::partition {

namespace {

/// What two parts exchange, both ways, costs by where they are to each other.
struct Link {
  int part = 0;  ///< the other
  double s[model::n_localities] = {};
  double hop_s = 0;  ///< for each hop between two nodes
};

/// How far ranks are from each other, as links are priced.
class Distances {
 public:
  explicit Distances(const PlacementTask& task)
      : topology_(&task.topology), nodes_(static_cast<std::size_t>(task.topology.n_nodes())) {
    one_socket_ = task.machine != nullptr && task.machine->sockets_per_node == 1;
    if (task.machine == nullptr || nodes_ > max_nodes) return;  // then all nodes are as far
    hops_.resize(nodes_ * nodes_);
    for (std::size_t a = 0; a < nodes_; ++a) {
      for (std::size_t b = 0; b < nodes_; ++b) {
        hops_[a * nodes_ + b] = static_cast<short>(model::contention_hops(
            task.machine->network, topology_->n_nodes(), static_cast<int>(a), static_cast<int>(b)));
      }
    }
  }
  int hops(int a, int b) const {
    if (hops_.empty()) return 0;
    return hops_[static_cast<std::size_t>(topology_->node(a)) * nodes_ +
                 static_cast<std::size_t>(topology_->node(b))];
  }
  double seconds(const Link& link, int a, int b) const {
    if (!topology_->same_node(a, b)) {
      return link.s[static_cast<int>(model::Locality::other_node)] + link.hop_s * hops(a, b);
    }
    const bool same = topology_->has_domains() ? topology_->same_domain(a, b) : one_socket_;
    return link
        .s[static_cast<int>(same ? model::Locality::same_socket : model::Locality::same_node)];
  }

 private:
  static constexpr std::size_t max_nodes = 4096;
  const mpi::Topology* topology_;
  std::size_t nodes_;
  bool one_socket_ = false;
  std::vector<short> hops_;
};

/// All messages wait for the network's links: what a byte adds to that by each of its hops, with
/// part p on rank p, for all ranks, whose costs are added up here.
double waiting_s_per_byte_hop(const PlacementTask& task, const Distances& distances) {
  if (task.machine == nullptr) return 0;
  model::ExchangeTally tally(*task.machine, task.topology);
  double byte_hops = 0;
  for (const QuotientGraph::Edge& edge : task.graph->edges) {
    const double bytes = task.value_bytes * static_cast<double>(edge.values);
    tally.add(0, edge.from, edge.to, bytes);
    byte_hops += bytes * distances.hops(edge.from, edge.to);
  }
  const double waiting_s = tally.total().contention_s;
  return byte_hops > 0 ? waiting_s / byte_hops * task.graph->n_parts : 0;
}

/// The parts that exchange something with each part, and what that costs.
class Links {
 public:
  Links(const PlacementTask& task, const Distances& distances)
      : begins_(static_cast<std::size_t>(task.graph->n_parts) + 1, 0),
        waiting_s_(waiting_s_per_byte_hop(task, distances)) {
    for (const QuotientGraph::Edge& edge : task.graph->edges) {
      ++begins_[static_cast<std::size_t>(edge.from) + 1];
      ++begins_[static_cast<std::size_t>(edge.to) + 1];
    }
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    std::vector<std::size_t> ends(begins_.begin(), begins_.end() - 1);
    links_.resize(begins_.back());
    for (const QuotientGraph::Edge& edge : task.graph->edges) {
      Link link = priced(task, edge.values);
      for (const auto& [part, other] : {std::pair(edge.from, edge.to), {edge.to, edge.from}}) {
        link.part = other;
        links_[ends[static_cast<std::size_t>(part)]++] = link;
      }
    }
  }
  std::span<const Link> of(int part) const {
    const auto p = static_cast<std::size_t>(part);
    return std::span(links_).subspan(begins_[p], begins_[p + 1] - begins_[p]);
  }

 private:
  /// Ranks of a node are taken to send at the same time.
  Link priced(const PlacementTask& task, std::int64_t values) const {
    Link link;
    const auto count = static_cast<double>(values);
    if (task.machine == nullptr) {  // values between nodes, then between domains
      link.s[static_cast<int>(model::Locality::other_node)] = count;
      link.s[static_cast<int>(model::Locality::same_node)] = count / 16;
      return link;
    }
    const int per_node = (task.topology.n_ranks() - 1) / task.topology.n_nodes() + 1;
    for (const auto where :
         {model::Locality::same_socket, model::Locality::same_node, model::Locality::other_node}) {
      link.s[static_cast<int>(where)] =
          model::message_s(*task.machine, where, task.value_bytes * count, per_node);
    }
    link.hop_s = task.machine->hop_latency_s + waiting_s_ * task.value_bytes * count;
    return link;
  }

  std::vector<std::size_t> begins_;
  double waiting_s_;
  std::vector<Link> links_;
};

/// The parts on their ranks, which change places.
class Exchanging {
 public:
  Exchanging(const PlacementTask& task, std::vector<int> rank_of_part)
      : topology_(task.topology),
        distances_(task),
        links_(task, distances_),
        rank_of_(std::move(rank_of_part)) {
    part_on_.resize(rank_of_.size());
    for (std::size_t p = 0; p < rank_of_.size(); ++p) {
      part_on_[static_cast<std::size_t>(rank_of_[p])] = static_cast<int>(p);
    }
  }

  /// Until nothing is gained, or enough was tried.
  void run() {
    constexpr int most_rounds = 30;
    for (int round = 0; round < most_rounds; ++round) {
      bool gained = false;
      for (int part = 0; part < n_parts(); ++part) gained |= improve(part);
      if (!gained) return;
    }
  }
  double total() const {
    double sum = 0;
    for (int part = 0; part < n_parts(); ++part) sum += cost(part, rank(part), part, rank(part));
    return sum / 2;
  }
  const std::vector<int>& ranks() const { return rank_of_; }

 private:
  int n_parts() const { return static_cast<int>(rank_of_.size()); }
  int rank(int part) const { return rank_of_[static_cast<std::size_t>(part)]; }

  /// What a part exchanges with others than `but` where it is on rank `there`, and `but` on its
  /// own.
  double cost(int part, int there, int but, int but_there) const {
    double sum = 0;
    for (const Link& link : links_.of(part)) {
      sum += distances_.seconds(link, there, link.part == but ? but_there : rank(link.part));
    }
    return sum;
  }

  /// What it saves that two parts change places.
  double saving(int a, int b) {
    const int ra = rank(a), rb = rank(b);
    looked_at_ += 2 * static_cast<std::int64_t>(links_.of(a).size() + links_.of(b).size());
    return cost(a, ra, b, rb) + cost(b, rb, a, ra) - cost(a, rb, b, ra) - cost(b, ra, a, rb);
  }

  /// The ranks of the nodes that a part exchanges with; of few parts, all ranks.
  void find_candidates(int part) {
    candidates_.clear();
    if (n_parts() <= few_parts) {
      candidates_.resize(rank_of_.size());
      std::iota(candidates_.begin(), candidates_.end(), 0);
      return;
    }
    nodes_.clear();
    for (const Link& link : links_.of(part)) nodes_.push_back(topology_.node(rank(link.part)));
    std::sort(nodes_.begin(), nodes_.end());
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
    for (const int node : nodes_) {
      const auto ranks = topology_.ranks_on(node);
      candidates_.insert(candidates_.end(), ranks.begin(), ranks.end());
    }
  }

  /// Returns whether the part has changed places with the one that saves most.
  bool improve(int part) {
    if (links_.of(part).empty() || looked_at_ > most_looks) return false;
    find_candidates(part);
    int best = -1;
    double most = 1e-9 * cost(part, rank(part), part, rank(part));  // rounding gains nothing
    for (const int there : candidates_) {
      const int other = part_on_[static_cast<std::size_t>(there)];
      if (other == part) continue;
      const double saved = saving(part, other);
      if (saved > most) {
        most = saved;
        best = other;
      }
    }
    if (best < 0) return false;
    const int here = rank(part), there = rank(best);
    rank_of_[static_cast<std::size_t>(part)] = there;
    rank_of_[static_cast<std::size_t>(best)] = here;
    part_on_[static_cast<std::size_t>(there)] = part;
    part_on_[static_cast<std::size_t>(here)] = best;
    return true;
  }

  static constexpr int few_parts = 128;
  static constexpr std::int64_t most_looks = 400'000'000;  // a few seconds
  const mpi::Topology& topology_;
  Distances distances_;
  Links links_;
  std::vector<int> rank_of_, part_on_, candidates_, nodes_;
  std::int64_t looked_at_ = 0;
};

/// The values that the parts exchange with each other, both ways.
struct Neighbour {
  int part;
  std::int64_t values;
};

std::vector<std::vector<Neighbour>> neighbours_of_parts(const QuotientGraph& graph) {
  std::vector<std::vector<Neighbour>> all(static_cast<std::size_t>(graph.n_parts));
  for (const QuotientGraph::Edge& edge : graph.edges) {
    all[static_cast<std::size_t>(edge.from)].push_back({edge.to, edge.values});
    all[static_cast<std::size_t>(edge.to)].push_back({edge.from, edge.values});
  }
  return all;
}

/// Fills one node after the other with the part that exchanges most with those that it has; a new
/// node begins with the one that exchanges most with all that are placed.
class Filling {
 public:
  explicit Filling(const PlacementTask& task)
      : topology_(task.topology),
        neighbours_(neighbours_of_parts(*task.graph)),
        rank_of_(neighbours_.size(), -1),
        with_node_(neighbours_.size(), 0),
        with_all_(neighbours_.size(), 0) {}

  std::vector<int> run() {
    for (int node = 0; node < topology_.n_nodes(); ++node) {
      std::fill(with_node_.begin(), with_node_.end(), 0);
      for (const int rank : topology_.ranks_on(node)) place(next(), rank);
    }
    return rank_of_;
  }

 private:
  int next() const {
    int best = -1;
    for (std::size_t p = 0; p < rank_of_.size(); ++p) {
      if (rank_of_[p] >= 0) continue;
      const auto b = static_cast<std::size_t>(best);
      const bool is_better = best < 0 || with_node_[p] > with_node_[b] ||
                             (with_node_[p] == with_node_[b] && with_all_[p] > with_all_[b]);
      if (is_better) best = static_cast<int>(p);
    }
    return best;
  }
  void place(int part, int rank) {
    rank_of_[static_cast<std::size_t>(part)] = rank;
    for (const Neighbour& n : neighbours_[static_cast<std::size_t>(part)]) {
      with_node_[static_cast<std::size_t>(n.part)] += n.values;
      with_all_[static_cast<std::size_t>(n.part)] += n.values;
    }
  }

  const mpi::Topology& topology_;
  std::vector<std::vector<Neighbour>> neighbours_;
  std::vector<int> rank_of_;
  std::vector<std::int64_t> with_node_, with_all_;
};

/// From two beginnings; parts stay where they are unless that costs less, also by the cost of the
/// busiest rank.
std::vector<int> ranks_by_exchange(const PlacementTask& task) {
  const std::vector<int> numbers = ranks_as_numbered(task);
  if (task.graph == nullptr) return numbers;
  std::vector<int> best = numbers;
  PlacementGain gain = gain_of(numbers, task);
  double least = Exchanging(task, numbers).total();
  for (const std::vector<int>& begin : {numbers, Filling(task).run()}) {
    Exchanging parts(task, begin);
    parts.run();
    const PlacementGain found = gain_of(parts.ranks(), task);
    const double total = parts.total();
    const bool is_less =
        total < least && (!found.seconds_after || *found.seconds_after <= *gain.seconds_after);
    if (!is_less) continue;
    least = total;
    gain = found;
    best = parts.ranks();
  }
  return best;
}

}  // namespace

const PlacementMethod& pair_exchange_placement() {
  static const PlacementMethod method = {
      {"pair_exchange",
       "parts change places in pairs while that lowers what their messages cost, by the machine's "
       "costs or by the values between nodes",
       ""},
      true,
      ranks_by_exchange,
      node_in_blocks,
      false};
  return method;
}

}  // namespace nodewise::partition
