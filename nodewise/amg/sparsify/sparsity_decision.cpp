#include "nodewise/amg/sparsify/sparsity_decision.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "nodewise/amg/sparsify/rest.hpp"
#include "nodewise/base/format_numbers.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg::sparsify {

namespace {

/// What must be saved of what the level takes, and of all cycles.
constexpr double least_part_of_level = 0.05, least_part_of_all = 0.01;
/// What planning the sparser matrix costs; what was spent to decide is spent.
constexpr double exchanges_of_sparsification = 3;

/// The rules that are tried, each with the largest tolerance of its ladder.
template <class T>
std::vector<DropRules<T>> rules_to_try(const DropRules<T>& rules, bool gathers_on_nodes) {
  std::vector<DropRules<T>> all;
  for (const DropRule& drop : DropRule::family()) {
    for (const bool by_nodes : {false, true}) {
      if (by_nodes && !(drop.depends_on_route && gathers_on_nodes)) continue;
      DropRules<T>& own = all.emplace_back(rules);
      own.drop = drop;
      own.places.by_nodes = by_nodes;
      own.tolerance = drop.ladder->back();
    }
  }
  return all;
}

/// What may be dropped.
struct Candidate {
  std::size_t rule = 0;
  double tolerance = 0;  ///< 0: nothing
};

/// Nothing, then all that may be dropped by the rules.
template <class T>
std::vector<Candidate> candidates_of(std::span<const DropRules<T>> rules) {
  std::vector<Candidate> all = {{}};
  for (std::size_t r = 0; r < rules.size(); ++r) {
    for (const double tolerance : *rules[r].drop->ladder) all.push_back({r, tolerance});
  }
  return all;
}

/// What is known of each candidate on this rank alone, or on all that one process stands for.
struct Questions {
  explicit Questions(std::size_t n_candidates)
      : patterns(n_candidates), most_nonzeros(n_candidates), losses(n_candidates) {}

  std::vector<comm::Pattern> patterns;
  std::vector<double> most_nonzeros, losses;
};

/// Local.
template <class T>
void ask(const matrix::DistMatrix<T>& A, std::span<const DropRules<T>> rules,
         std::span<const WeighedEntries<T>> entries, std::span<const Candidate> candidates,
         Questions& questions) {
  const PointBlocks<T> norms(A, rules.front().unknowns);
  const RowPlaces places = places_for(A, rules.front());
  std::vector<comm::Pattern> patterns;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    const auto [rule, tolerance] = candidates[k];
    Rest rest = rest_of(A, norms, entries[rule].worth, static_cast<T>(tolerance), places);
    patterns.insert(patterns.end(), std::make_move_iterator(rest.patterns.begin()),
                    std::make_move_iterator(rest.patterns.end()));
    questions.most_nonzeros[k] = rest.most_nonzeros;
    questions.losses[k] = rest.losses;
  }
  questions.patterns = std::move(patterns);
}

/// Local. What a level takes in a V(1,1) cycle: its products, and two transfers that cost what a
/// product's exchange does, by the rank that has most entries.
double level_s(const NextLevel& level, const model::Machine& machine, double exchange_s,
               double nonzeros) {
  return (products_of_a_cycle + transfers_of_a_cycle) * exchange_s +
         products_of_a_cycle * 2 * nonzeros * flop_s(machine, level.level(), nonzeros);
}

/// The ranks with rows on the node that has fewest of them.
int fewest_ranks_of_a_node(const NextLevel& level) {
  std::map<int, int> ranks;
  for (std::size_t r = 0; r + 1 < level.starts().size(); ++r) {
    if (level.starts()[r] < level.starts()[r + 1]) {
      ++ranks[level.topology().node(static_cast<int>(r))];
    }
  }
  int fewest = level.topology().n_ranks();
  for (const auto& [node, count] : ranks) fewest = std::min(fewest, count);
  return fewest;
}

/// Why nothing need be asked, if so.
std::string nothing_to_ask(const NextLevel& level) {
  const int nodes = level.active_nodes();
  if (nodes <= 1) return "all rows are on one node";
  if (level.may_gather_on_nodes() && nodes - 1 <= fewest_ranks_of_a_node(level)) {
    return "routes that gather on nodes leave each rank one message between nodes at most";
  }
  return {};
}

std::string reason(const SparsityDecision& decision, const std::string& dropped, bool pays) {
  return fmt::format(
      "predicted {} in a cycle without {} against {} with all, {}{:.0f} % more iterations",
      duration(decision.sparse_s), dropped, duration(decision.full_s),
      pays ? "for up to " : "too little for up to ", 100 * (decision.growth - 1));
}

template <class T>
std::string describe(const DropRules<T>& rules, double tolerance) {
  return fmt::format("{}{} of {:g}", rules.drop.name(), rules.places.by_nodes ? " by nodes" : "",
                     tolerance);
}

}  // namespace

double growth_of_iterations(double mean_loss) {
  return 1 + 0.5 * mean_loss + 6 * mean_loss * mean_loss;
}

BestCost best_cost(const KnownCycle& cycle, std::span<const SparserCost> costs) {
  const double least_saving =
      std::max(least_part_of_level * cycle.level_s, least_part_of_all * cycle.all_s());
  BestCost result;
  double least_s = model::unlimited;
  for (std::size_t k = 0; k < costs.size(); ++k) {
    const double saved_s = cycle.level_s - costs[k].level_s;
    const double seconds = cycle.price_s + cycle.cycles * (cycle.all_s() - saved_s) *
                                               growth_of_iterations(costs[k].mean_loss);
    if (seconds >= least_s) continue;
    result.best = k;
    least_s = seconds;
  }
  result.pays = least_s < cycle.cycles * (cycle.all_s() - least_saving);
  return result;
}

double finest_level_s(NextLevel& level) {
  const model::Machine* machine = nothing_to_ask(level).empty() ? level.machine() : nullptr;
  if (machine == nullptr) return 0;
  constexpr double reductions_of_an_iteration = 2;
  double most[] = {0};
  for (const RankExchanges& rank : level.exchanges()) most[0] = std::max(most[0], rank.nonzeros);
  const double exchange_s = level.exchange_s(level.product_patterns(), {.most = most}, {}).front();
  return level_s(level, *machine, exchange_s, most[0]) +
         reductions_of_an_iteration *
             reduction_s(*machine, level.active_ranks(), level.active_nodes());
}

template <class T>
SparserChoice<T> cheapest_sparsity(const MatrixPointer<T>& A, const Coarsening<T>& coarsening,
                                   const DropRules<T>& rules, NextLevel& level, FinerLevels& finer,
                                   std::optional<Error> failure) {
  const mpi::Scope scope(A->comm(), "sparsification");
  SparserChoice<T> choice;
  SparsityDecision& decision = choice.decision;
  decision.reason = nothing_to_ask(level);
  const model::Machine* machine = decision.reason.empty() ? level.machine() : nullptr;
  if (machine == nullptr) {
    mpi::agree(A->comm(), failure);
    return choice;
  }
  std::vector<DropRules<T>> all = rules_to_try(rules, level.may_gather_on_nodes());
  const std::span<const DropRules<T>> asked = all;
  const std::vector<Candidate> candidates = candidates_of(asked);
  Questions questions(candidates.size());
  auto entries = weighed(A, coarsening, asked, failure);
  const auto count = [&] {
    ask<T>(*A, asked, std::span<const WeighedEntries<T>>(entries), candidates, questions);
  };
  if (!failure) failure = mpi::caught(count);
  const std::vector<double> seconds = level.exchange_s(
      questions.patterns, {.sums = questions.losses, .most = questions.most_nonzeros}, failure);
  std::vector<SparserCost> costs;
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    costs.push_back({level_s(level, *machine, seconds[k], questions.most_nonzeros[k]),
                     questions.losses[k] * rules.unknowns / std::max(level.rows(), 1.0)});
  }
  KnownCycle cycle;
  cycle.finer_s = finer.cycle_s;
  cycle.level_s = decision.full_s = costs.front().level_s;
  cycle.cycles = cycles_of_a_solve * level.expected_solves();
  cycle.price_s = exchanges_of_sparsification * seconds.front();
  const BestCost best = best_cost(cycle, std::span(costs).subspan(1));
  const SparserCost& cost = costs[best.best + 1];
  finer.cycle_s += best.pays ? cost.level_s : cycle.level_s;
  const Candidate& candidate = candidates[best.best + 1];
  DropRules<T>& rule = all[candidate.rule];
  decision.sparse_s = cost.level_s;
  decision.growth = growth_of_iterations(cost.mean_loss);
  decision.reason = reason(decision, describe(rule, candidate.tolerance), best.pays);
  if (!best.pays) return choice;
  decision.drop = rule.drop.name();
  decision.by_nodes = rule.places.by_nodes;
  decision.tolerance = rule.tolerance = candidate.tolerance;
  choice.sparse = without_light(A, std::move(entries[candidate.rule]), rule, std::move(failure));
  return choice;
}

#define NODEWISE_INSTANTIATE(T)                                                              \
  template SparserChoice<T> cheapest_sparsity(const MatrixPointer<T>&, const Coarsening<T>&, \
                                              const DropRules<T>&, NextLevel&, FinerLevels&, \
                                              std::optional<Error>);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::sparsify
