// The number of ranks that the costs of exchanges and of arithmetic say is best.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "nodewise/amg/redistribute/rank_groups.hpp"
#include "nodewise/amg/redistribute/redistribution_method.hpp"
#include "nodewise/base/format_numbers.hpp"
#include "nodewise/routing/decision_rule.hpp"
#include "nodewise/routing/route_costs.hpp"

namespace nodewise::amg {

namespace {

/// A V(1,1) cycle has, on each level, about so many products, each with an exchange.
constexpr double products_of_a_cycle = 5;
/// A restriction and a prolongation.
constexpr double transfers_of_a_cycle = 2;
constexpr double cycles_of_a_solve = routing::exchanges_of_a_solve / 4;
/// Of a setup, for the interpolation laid out anew and a Galerkin product once more.
constexpr double exchanges_of_a_move = 6;
/// More groups are not looked at: their messages are added up over all ranks.
constexpr int most_groups = 32;

/// The exchanges of a level on the ranks that are to hold its rows: of a product between them, and
/// of the transfers, in which they have to do with all ranks.
class HolderTraffic {
 public:
  HolderTraffic(const mpi::Topology& topology, std::span<const GlobalIndex> rows, int groups)
      : topology_(&topology), holder_of_(holders_of_rows(topology, rows, groups)) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const int holder = holder_of_[r];
      if (rows[r] > 0 && number_.emplace(holder, holders_.size()).second)
        holders_.push_back(holder);
    }
    const std::size_t n = holders_.size();
    sums_.assign(n * n + 5 * n, 0);
  }

  int n_holders() const { return static_cast<int>(holders_.size()); }
  /// Numbers that are to be added up over the ranks.
  std::span<double> sums() { return sums_; }

  void add(const RankExchanges& rank) {
    const std::size_t own = number_of(rank.rank);
    if (own != none) {
      for (const comm::MessageSize& message : rank.product) {
        const std::size_t other = number_of(message.rank);
        if (other != own && other != none) {
          entries(own, other) += static_cast<double>(message.entries);
        }
      }
      field(nonzeros, own) += rank.nonzeros;
    }
    std::map<std::size_t, double> rows;  // by holder
    for (const comm::MessageSize& message : rank.transfer) {
      const std::size_t holder = number_of(message.rank);
      if (holder != none) rows[holder] += static_cast<double>(message.entries);
    }
    for (const auto& [holder, n] : rows) {
      if (holders_[holder] == rank.rank || n == 0) continue;
      const bool on_node = topology_->same_node(holders_[holder], rank.rank);
      field(on_node ? messages_on : messages_off, holder) += 1;
      field(on_node ? rows_on : rows_off, holder) += n;
    }
  }

  double most_nonzeros() const {
    double most = 0;
    for (std::size_t h = 0; h < holders_.size(); ++h) most = std::max(most, field(nonzeros, h));
    return most;
  }

  /// Seconds of the exchange of a product, going straight.
  double product_s(const model::Machine& machine, double bytes) const {
    std::vector<model::RankLoad> loads(holders_.size());
    for (std::size_t g = 0; g < holders_.size(); ++g) {
      for (std::size_t h = 0; h < holders_.size(); ++h) {
        if (entries(g, h) == 0) continue;
        const model::Locality where =
            model::locality(*topology_, machine, holders_[g], holders_[h]);
        loads[g].sent.add(machine, where, bytes * entries(g, h));
        loads[h].received.add(machine, where, bytes * entries(g, h));
      }
    }
    return stage_s(machine, loads);
  }

  /// Seconds of a restriction, going straight: for the ranks that hold the rows.
  double transfer_s(const model::Machine& machine, double bytes) const {
    std::vector<model::RankLoad> loads(holders_.size());
    for (std::size_t h = 0; h < holders_.size(); ++h) {
      const auto receive = [&](model::Locality where, double messages, double rows) {
        for (double k = 0; k < messages; ++k) {
          loads[h].received.add(machine, where, bytes * rows / messages);
        }
      };
      receive(model::Locality::same_node, field(messages_on, h), field(rows_on, h));
      receive(model::Locality::other_node, field(messages_off, h), field(rows_off, h));
    }
    return stage_s(machine, loads);
  }

 private:
  enum Field : std::size_t { nonzeros, messages_on, messages_off, rows_on, rows_off };
  static constexpr auto none = static_cast<std::size_t>(-1);

  std::size_t number_of(int rank) const {
    const auto found = number_.find(holder_of_[static_cast<std::size_t>(rank)]);
    return found == number_.end() ? none : found->second;
  }
  double& entries(std::size_t g, std::size_t h) { return sums_[g * holders_.size() + h]; }
  double entries(std::size_t g, std::size_t h) const { return sums_[g * holders_.size() + h]; }
  double& field(Field f, std::size_t h) {
    return sums_[holders_.size() * (holders_.size() + f) + h];
  }
  double field(Field f, std::size_t h) const {
    return sums_[holders_.size() * (holders_.size() + f) + h];
  }

  /// Seconds of a stage: those of the busiest holder.
  double stage_s(const model::Machine& machine, std::span<const model::RankLoad> loads) const {
    std::map<int, routing::NodeStage> nodes;
    model::NetworkLoad network;
    network.n_nodes = topology_->n_nodes();
    for (std::size_t h = 0; h < loads.size(); ++h) {
      const model::RankLoad& load = loads[h];
      routing::NodeStage& node = nodes[topology_->node(holders_[h])];
      node.sent.messages += load.sent.off_node_messages;
      node.sent.injection_s += load.sent.injection_s;
      node.received.messages += load.received.off_node_messages;
      node.received.injection_s += load.received.injection_s;
      const double messages =
          std::max(load.sent.off_node_messages, load.received.off_node_messages);
      network.messages += messages;
      network.senders += messages > 0 ? 1 : 0;
    }
    double most = 0;
    for (std::size_t h = 0; h < loads.size(); ++h) {
      most =
          std::max(most, routing::stage_seconds(machine, routing::message_costs(machine), loads[h],
                                                nodes[topology_->node(holders_[h])], network));
    }
    return most;
  }

  const mpi::Topology* topology_;
  std::vector<int> holder_of_;
  std::vector<int> holders_;
  std::map<int, std::size_t> number_;  // of holders
  std::vector<double> sums_;
};

/// The numbers of ranks that are looked at: powers of two, and a rank for each node that has some.
std::vector<int> candidates(const NextLevel& next) {
  const std::vector<GlobalIndex> rows = next.rows_of_ranks();
  std::vector<char> has_rows(static_cast<std::size_t>(next.topology().n_nodes()), 0);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r] > 0)
      has_rows[static_cast<std::size_t>(next.topology().node(static_cast<int>(r)))] = 1;
  }
  std::vector<int> groups = {static_cast<int>(std::count(has_rows.begin(), has_rows.end(), 1))};
  for (int n = 1; n <= most_groups; n *= 2) groups.push_back(n);
  const int active = next.active_ranks();
  std::erase_if(groups, [&](int n) { return n >= active || n > most_groups; });
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

/// Collective. The traffic of every candidate: a reduction.
std::vector<HolderTraffic> traffic_of(NextLevel& next, std::span<const int> candidates,
                                      std::span<const RankExchanges> exchanges) {
  const std::vector<GlobalIndex> rows = next.rows_of_ranks();
  std::vector<HolderTraffic> all;
  std::vector<double> sums;
  for (const int groups : candidates) {
    HolderTraffic& traffic = all.emplace_back(next.topology(), rows, groups);
    for (const RankExchanges& rank : exchanges) traffic.add(rank);
    sums.insert(sums.end(), traffic.sums().begin(), traffic.sums().end());
  }
  next.sum(sums);
  auto from = sums.begin();
  for (HolderTraffic& traffic : all) {
    std::copy_n(from, traffic.sums().size(), traffic.sums().begin());
    from += static_cast<std::ptrdiff_t>(traffic.sums().size());
  }
  return all;
}

/// Seconds of the level in a cycle.
double cycle_s(const model::Machine& machine, int level, double nonzeros,
               const NextLevel::Times& times) {
  const double work = 2 * nonzeros * flop_s(machine, level, nonzeros);
  return products_of_a_cycle * (times.product_s + work) + transfers_of_a_cycle * times.transfer_s;
}

RedistributionDecision decide_by_cost(NextLevel& next, FinerLevels&) {
  RedistributionDecision decision;
  decision.ranks_before = decision.ranks = next.active_ranks();
  const model::Machine* machine = next.level() > 0 ? next.machine() : nullptr;
  const std::vector<int> groups = machine ? candidates(next) : std::vector<int>();
  if (groups.empty()) {
    decision.reason = decision.ranks == 1 ? "one rank has all rows"
                      : next.level() == 0 ? "the finest level stays"
                                          : "all ranks are on one node";
    return decision;
  }
  const std::vector<RankExchanges> exchanges = next.exchanges();
  double most[] = {0};
  for (const RankExchanges& rank : exchanges) most[0] = std::max(most[0], rank.nonzeros);
  next.max(most);
  const std::vector<HolderTraffic> traffic = traffic_of(next, groups, exchanges);
  std::vector<double> seconds = {cycle_s(*machine, next.level(), most[0], next.times())};
  std::vector<double> prices = {0};
  for (const HolderTraffic& there : traffic) {
    const double bytes = next.value_bytes();
    const NextLevel::Times times = {there.product_s(*machine, bytes),
                                    there.transfer_s(*machine, bytes)};
    seconds.push_back(cycle_s(*machine, next.level(), there.most_nonzeros(), times));
    prices.push_back(exchanges_of_a_move * times.transfer_s);
  }
  const routing::Selection best =
      routing::select(seconds, cycles_of_a_solve * next.expected_solves(), prices);
  decision.stay_s = seconds.front();
  decision.moved_s = seconds[best.rival];
  const int there = groups[best.rival - 1];
  const std::string stay = duration(decision.stay_s), moved = duration(decision.moved_s);
  if (best.chosen > 0) decision.ranks = there;
  decision.reason = best.chosen > 0
                        ? fmt::format("predicted {} in a cycle on {} of {} ranks against {} on all",
                                      moved, there, decision.ranks_before, stay)
                        : fmt::format("predicted {} in a cycle on {} ranks against {} on {}", stay,
                                      decision.ranks_before, moved, there);
  return decision;
}

}  // namespace

const RedistributionMethod& redistribution_by_cost() {
  static const RedistributionMethod method = {
      {"automatic",
       "as many ranks as the costs of messages and arithmetic say is best, level by level", ""},
      true,
      ranks_as_before,
      decide_by_cost};
  return method;
}

}  // namespace nodewise::amg
