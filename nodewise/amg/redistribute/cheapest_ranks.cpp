// The number of ranks that the costs of exchanges and of arithmetic say is best.
#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "nodewise/amg/redistribute/copy_holders.hpp"
#include "nodewise/amg/redistribute/copy_traffic.hpp"
#include "nodewise/amg/redistribute/holder_traffic.hpp"
#include "nodewise/amg/redistribute/redistribution_method.hpp"
#include "nodewise/base/format_numbers.hpp"
#include "nodewise/routing/decision_rule.hpp"

namespace nodewise::amg {

namespace {

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
/// Copies: links of four matrices, what is known of the level besides its matrix, and reductions.
constexpr double exchanges_of_copies = 6;
constexpr double reductions_of_copies = 7;
/// Of a row that travels: a value, and a column at the most (matrix/row_runs.hpp).
constexpr double bytes_of_a_moved_entry = 16;
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

/// The traffic of every candidate.
struct CandidateTraffic {
  std::vector<HolderTraffic> holders;
  std::optional<CopyTraffic> copies;  // of one rank, where that may be copied

  /// Calls f(numbers to be added up over the ranks) for each.
  template <class F>
  void for_sums(const F& f) {
    for (HolderTraffic& traffic : holders) f(traffic.sums());
    if (copies) f(copies->sums());
  }
};

/// Local. Of this rank, or of all that one process stands for.
CandidateTraffic traffic_here(const NextLevel& next, std::span<const int> candidates,
                              std::span<const RankExchanges> exchanges) {
  const std::vector<GlobalIndex> rows = next.rows_of_ranks();
  const mpi::Topology& topology = next.topology();
  CandidateTraffic traffic;
  for (const int groups : candidates) traffic.holders.emplace_back(topology, rows, groups);
  if (candidates.front() == 1 && next.may_have_copies()) {
    const int owner = traffic.holders.front().holders().front();
    traffic.copies.emplace(topology, holders_of_copies(topology, next.ranks_above(), owner));
    if (traffic.copies->n_copies() < 2) traffic.copies.reset();
  }
  for (const RankExchanges& rank : exchanges) {
    for (HolderTraffic& of_holders : traffic.holders) of_holders.add(rank);
    if (traffic.copies) traffic.copies->add(rank);
  }
  return traffic;
}

/// Collective. Of all ranks: a reduction on each node, and one over all.
CandidateTraffic traffic_of(NextLevel& next, std::span<const int> candidates,
                            std::span<const RankExchanges> exchanges) {
  CandidateTraffic all = traffic_here(next, candidates, exchanges);
  std::set<int> nodes;
  for (const RankExchanges& rank : exchanges) nodes.insert(next.topology().node(rank.rank));
  std::vector<double> sums;
  for (HolderTraffic& traffic : all.holders) {
    for (const int node : nodes) append(sums, traffic.of_node(node));
  }
  next.sum_on_nodes(sums);
  std::span<const double> from = sums;
  for (HolderTraffic& traffic : all.holders) {
    for (const int node : nodes) take(traffic.of_node(node), from);
    for (const int node : nodes) {
      if (next.speaks_for(node)) traffic.add_node(node);
    }
  }
  sums.clear();
  all.for_sums([&](std::span<double> numbers) { append(sums, numbers); });
  next.sum(sums);
  from = sums;
  all.for_sums([&](std::span<double> numbers) { take(numbers, from); });
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
  const double reduction = reduction_s(machine, ranks, nodes);
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

/// One rank has the level, and copies go to the others: on one rank it takes `there`.
LevelTime copied_time(const NextLevel& next, const model::Machine& machine,
                      const CandidateTraffic& traffic, const LevelTime& there, double transfer_s) {
  const CopyTraffic& copies = *traffic.copies;
  const double bytes = next.value_bytes();
  const double restriction = copies.restriction_s(machine, bytes, next.may_gather_on_nodes());
  LevelTime time = there;
  time.cycle_s +=
      restriction + copies.prolongation_s(machine, bytes) - transfers_of_a_cycle * transfer_s;
  const double matrix_bytes = bytes_of_a_moved_entry * next.nonzeros();
  const int owner = traffic.holders.front().holders().front();
  time.move_s +=
      exchanges_of_copies * restriction + copies.spreading_s(machine, owner, matrix_bytes) +
      reductions_of_copies * reduction_s(machine, next.active_ranks(), next.active_nodes());
  return time;
}

/// The level where it is and on each number of ranks, and with copies, if it may have some.
struct CandidateTimes {
  std::vector<LevelTime> ranks;
  std::optional<LevelTime> copied;
  int n_copies = 1;
};

/// Collective.
CandidateTimes times_of(NextLevel& next, const model::Machine& machine,
                        std::span<const int> candidates) {
  const std::vector<RankExchanges> exchanges = next.exchanges();
  double most[] = {0};
  for (const RankExchanges& rank : exchanges) most[0] = std::max(most[0], rank.nonzeros);
  next.max(most);
  CandidateTimes times;
  times.ranks = {
      level_time(next, machine, most[0], next.times(), next.active_ranks(), next.active_nodes())};
  times.ranks.front().move_s = 0;
  const double bytes = next.value_bytes();
  const bool gathers = next.may_gather_on_nodes();
  const CandidateTraffic traffic = traffic_of(next, candidates, exchanges);
  for (const HolderTraffic& there : traffic.holders) {
    const NextLevel::Times of_exchanges = {there.product_s(machine, bytes, gathers),
                                           there.transfer_s(machine, bytes, gathers)};
    times.ranks.push_back(level_time(next, machine, there.most_nonzeros(), of_exchanges,
                                     there.n_holders(), there.n_nodes()));
    if (traffic.copies && !times.copied) {  // one rank comes first
      times.n_copies = traffic.copies->n_copies();
      times.copied =
          copied_time(next, machine, traffic, times.ranks.back(), of_exchanges.transfer_s);
    }
  }
  return times;
}

/// The best of several ways, and whether the level takes it.
struct Best {
  LevelTime time;
  int ranks = 1;
  bool is_copied = false;
  bool pays = false;
};

/// Copies must save a tenth of the best without them, too, and their price.
Best best_of(const CandidateTimes& times, std::span<const int> groups, double cycles) {
  std::vector<double> seconds, prices;
  for (const LevelTime& time : times.ranks) {
    seconds.push_back(time.altogether(cycles));
    prices.push_back(time.move_s);
  }
  const routing::Selection best = routing::select(seconds, 1, prices);
  const Best of_ranks = {times.ranks[best.rival], groups[best.rival - 1], false, best.chosen > 0};
  if (!times.copied) return of_ranks;
  const double both[] = {seconds[best.chosen], times.copied->altogether(cycles)};
  const double both_prices[] = {prices[best.chosen], times.copied->move_s};
  const bool pays = routing::select(both, 1, both_prices).chosen > 0;
  const bool is_cheaper = both[1] + both_prices[1] < seconds[best.rival] + prices[best.rival];
  if (!pays && (of_ranks.pays || !is_cheaper)) return of_ranks;
  return {*times.copied, 1, true, pays};
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
  const CandidateTimes times = times_of(next, *machine, groups);
  const Best best = best_of(times, groups, cycles_of_a_solve * next.expected_solves());
  const LevelTime& stays = times.ranks.front();
  decision.stay_s = stays.cycle_s;
  decision.stay_setup_s = stays.setup_s;
  decision.moved_s = best.time.cycle_s;
  decision.moved_setup_s = best.time.setup_s + best.time.move_s;
  if (best.pays) {
    decision.ranks = best.ranks;
    decision.redundant = best.is_copied;
  }
  const std::string copied =
      best.is_copied ? fmt::format(", copied to {} nodes", times.n_copies) : "";
  decision.reason =
      best.pays ? fmt::format("predicted {} on {} of {} ranks{} against {} on all", say(best.time),
                              best.ranks, decision.ranks_before, copied, say(stays))
                : fmt::format("predicted {} on {} ranks against {} on {}{}", say(stays),
                              decision.ranks_before, say(best.time), best.ranks, copied);
  return decision;
}

}  // namespace

const RedistributionMethod& redistribution_by_cost() {
  static const RedistributionMethod method = {{"automatic",
                                               "as many ranks as the costs of messages and "
                                               "arithmetic say is best, level by level; one may be "
                                               "copied to each node",
                                               ""},
                                              true,
                                              ranks_as_before,
                                              nullptr,
                                              decide_by_cost};
  return method;
}

}  // namespace nodewise::amg
