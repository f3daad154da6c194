// The number of ranks that the costs of exchanges and of arithmetic say is best.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "nodewise/amg/redistribute/holder_traffic.hpp"
#include "nodewise/amg/redistribute/redistribution_method.hpp"
#include "nodewise/base/format_numbers.hpp"
#include "nodewise/model/allreduce_cost.hpp"
#include "nodewise/routing/decision_rule.hpp"

namespace nodewise::amg {

namespace {

/// A V(1,1) cycle has, on each level, about so many products, each with an exchange.
constexpr double products_of_a_cycle = 5;
/// A restriction and a prolongation.
constexpr double transfers_of_a_cycle = 2;
constexpr double cycles_of_a_solve = routing::exchanges_of_a_solve / 4;
/// What coarsening a level takes besides, counted on model problems and rounded: exchanges like
/// those of a product, reductions, and the arithmetic of so many products.
constexpr double exchanges_of_a_setup = 20;
constexpr double reductions_of_a_setup = 6;
constexpr double products_of_a_setup = 60;
/// The coarsest matrix is gathered, and what failed agreed on.
constexpr double reductions_to_factorize = 3;
/// A move lays the interpolation out anew, and makes the Galerkin product once more.
constexpr double exchanges_of_a_move = 12;
constexpr double products_of_a_move = 20;
/// More groups are not looked at: their messages are added up over all ranks.
constexpr int most_groups = 32;

void append(std::vector<double>& all, std::span<const double> more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// Takes the first numbers off `from`.
void take(std::span<double> to, std::span<const double>& from) {
  std::copy_n(from.begin(), to.size(), to.begin());
  from = from.subspan(to.size());
}

/// The numbers of ranks that are looked at: powers of two, and a rank for each node that has some.
std::vector<int> candidates(const NextLevel& next) {
  std::vector<int> groups = {next.active_nodes()};
  for (int n = 1; n <= most_groups; n *= 2) groups.push_back(n);
  const int active = next.active_ranks();
  std::erase_if(groups, [&](int n) { return n >= active || n > most_groups; });
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

/// Collective. The traffic of every candidate: a reduction on each node, and one over all ranks.
std::vector<HolderTraffic> traffic_of(NextLevel& next, std::span<const int> candidates,
                                      std::span<const RankExchanges> exchanges) {
  const std::vector<GlobalIndex> rows = next.rows_of_ranks();
  const mpi::Topology& topology = next.topology();
  std::vector<HolderTraffic> all;
  std::set<int> nodes;
  for (const RankExchanges& rank : exchanges) nodes.insert(topology.node(rank.rank));
  std::vector<double> sums;
  for (const int groups : candidates) {
    HolderTraffic& traffic = all.emplace_back(topology, rows, groups);
    for (const RankExchanges& rank : exchanges) traffic.add(rank);
    for (const int node : nodes) append(sums, traffic.of_node(node));
  }
  next.sum_on_nodes(sums);
  std::span<const double> from = sums;
  for (HolderTraffic& traffic : all) {
    for (const int node : nodes) take(traffic.of_node(node), from);
  }
  sums.clear();
  for (HolderTraffic& traffic : all) {
    for (const int node : nodes) {
      if (next.speaks_for(node)) traffic.add_node(node);
    }
    append(sums, traffic.sums());
  }
  next.sum(sums);
  from = sums;
  for (HolderTraffic& traffic : all) take(traffic.sums(), from);
  return all;
}

/// What a level takes on some number of ranks, in seconds.
struct LevelTime {
  double cycle_s = 0;
  double setup_s = 0;
  double move_s = 0;  // to have it there

  double altogether(double cycles) const { return setup_s + cycles * cycle_s; }
};

/// On ranks of which one has so many nonzeros, on so many nodes.
LevelTime level_time(const NextLevel& next, const model::Machine& machine, double nonzeros,
                     const NextLevel::Times& times, int ranks, int nodes) {
  const double work = 2 * nonzeros * flop_s(machine, next.level(), nonzeros);
  const double reduction =
      ranks == 1 ? 0
                 : model::allreduce_s(machine, model::AllreduceAlgorithm::recursive_doubling, nodes,
                                      (ranks + nodes - 1) / nodes, sizeof(double));
  LevelTime time;
  time.cycle_s = transfers_of_a_cycle * times.transfer_s;
  if (next.is_solved()) {  // a gathering, which takes the rounds of a reduction
    time.cycle_s += reduction;
    time.setup_s = reductions_to_factorize * reduction;
  } else {
    time.cycle_s += products_of_a_cycle * (times.product_s + work);
    time.setup_s = exchanges_of_a_setup * times.product_s + reductions_of_a_setup * reduction +
                   products_of_a_setup * work;
  }
  time.move_s = exchanges_of_a_move * times.transfer_s + products_of_a_move * work;
  return time;
}

/// Collective. Of the level where it is, and of each candidate.
std::vector<LevelTime> times_of(NextLevel& next, const model::Machine& machine,
                                std::span<const int> candidates) {
  const std::vector<RankExchanges> exchanges = next.exchanges();
  double most[] = {0};
  for (const RankExchanges& rank : exchanges) most[0] = std::max(most[0], rank.nonzeros);
  next.max(most);
  std::vector<LevelTime> times = {
      level_time(next, machine, most[0], next.times(), next.active_ranks(), next.active_nodes())};
  times.front().move_s = 0;
  const double bytes = next.value_bytes();
  const bool gathers = next.may_gather_on_nodes();
  for (const HolderTraffic& there : traffic_of(next, candidates, exchanges)) {
    times.push_back(level_time(
        next, machine, there.most_nonzeros(),
        {there.product_s(machine, bytes, gathers), there.transfer_s(machine, bytes, gathers)},
        there.n_holders(), there.n_nodes()));
  }
  return times;
}

std::string say(const LevelTime& time) {
  return fmt::format("{} in a cycle and {} in the setup", duration(time.cycle_s),
                     duration(time.setup_s));
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
  const std::vector<LevelTime> times = times_of(next, *machine, groups);
  const double cycles = cycles_of_a_solve * next.expected_solves();
  std::vector<double> seconds, prices;
  for (const LevelTime& time : times) {
    seconds.push_back(time.altogether(cycles));
    prices.push_back(time.move_s);
  }
  const routing::Selection best = routing::select(seconds, 1, prices);
  const LevelTime &stays = times.front(), &moved = times[best.rival];
  decision.stay_s = stays.cycle_s;
  decision.stay_setup_s = stays.setup_s;
  decision.moved_s = moved.cycle_s;
  decision.moved_setup_s = moved.setup_s + moved.move_s;
  const int there = groups[best.rival - 1];
  if (best.chosen > 0) decision.ranks = there;
  decision.reason = best.chosen > 0
                        ? fmt::format("predicted {} on {} of {} ranks against {} on all",
                                      say(moved), there, decision.ranks_before, say(stays))
                        : fmt::format("predicted {} on {} ranks against {} on {}", say(stays),
                                      decision.ranks_before, say(moved), there);
  return decision;
}

}  // namespace

const RedistributionMethod& redistribution_by_cost() {
  static const RedistributionMethod method = {
      {"automatic",
       "as many ranks as the costs of messages and arithmetic say is best, level by level", ""},
      true,
      ranks_as_before,
      nullptr,
      decide_by_cost};
  return method;
}

}  // namespace nodewise::amg
