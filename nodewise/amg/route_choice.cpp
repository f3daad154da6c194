#include "nodewise/amg/route_choice.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "nodewise/amg/network_look.hpp"
#include "nodewise/amg/route_costs.hpp"
#include "nodewise/amg/time_text.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

namespace {

using comm::Route;

constexpr std::array<Route, 3> all_routes = {Route::direct, Route::two_step, Route::three_step};

template <class T>
using Candidates = std::vector<std::shared_ptr<const matrix::DistMatrix<T>>>;

/// What a short look at the network saw.
std::string describe_look(const model::Machine& machine) {
  const auto seen = [&](model::Locality where) {
    const model::MessageParameters& p = machine.parameters(where, 0);
    return fmt::format("{} and {:.3g} GB/s", time_text(p.latency_s), 1e-9 * p.rate_bytes_per_s);
  };
  const model::MessageOverheads o = machine.overheads.value_or(model::MessageOverheads{});
  return fmt::format(
      "a short look at the network: {} between nodes, {} for each message more of a rank, {} of a "
      "node; {} on a node",
      seen(model::Locality::other_node), time_text(o.send_other_node_s + o.receive_other_node_s),
      time_text(o.nic_gap_s), seen(model::Locality::same_node));
}

/// Local. What this rank sends to other nodes over each of the candidates.
template <class T>
std::vector<std::int64_t> off_node_messages(const Candidates<T>& candidates) {
  std::vector<std::int64_t> messages;
  for (const auto& A : candidates) {
    const mpi::Comm& comm = A->comm();
    messages.push_back(
        comm::traffic(A->exchange().plan(), comm.topology(), comm.rank()).messages_off_node);
  }
  return messages;
}

/// The bytes of a row that travels, on average: a value and a column for each entry.
template <class T>
double bytes_of_row(const matrix::DistMatrix<T>& A) {
  const auto rows = static_cast<double>(std::max<GlobalIndex>(A.rows().n_global(), 1));
  return static_cast<double>(A.nnz_global()) / rows * (sizeof(T) + sizeof(GlobalIndex));
}

template <class T>
std::shared_ptr<const matrix::DistMatrix<T>> over(
    const std::shared_ptr<const matrix::DistMatrix<T>>& A, Route route) {
  if (A->route() == route && A->transport() == comm::Transport::point_to_point) return A;
  return std::make_shared<const matrix::DistMatrix<T>>(A->with_route(route));
}

/// What is known of the costs of some candidates.
struct Predictions {
  std::vector<RoutePrediction> solve, setup;
};

/// Of each candidate: a vector, and of rows their lengths, which travel first, and the rows.
template <class T>
std::vector<ExchangeQuestion> questions_about(const Candidates<T>& candidates) {
  std::vector<ExchangeQuestion> questions;
  for (const auto& A : candidates) {
    const comm::Plan& plan = A->exchange().plan();
    questions.push_back({&plan, sizeof(T)});
    questions.push_back({&plan, sizeof(Offset)});
    questions.push_back({&plan, bytes_of_row(*A)});
  }
  return questions;
}

/// From the answers; `messages` are those of the busiest rank over each candidate.
Predictions predictions_from(std::span<const double> seconds,
                             std::span<const std::int64_t> messages) {
  Predictions result;
  for (std::size_t c = 0; c < messages.size(); ++c) {
    const Route route = all_routes[c];
    result.solve.push_back({route, seconds[3 * c], messages[c]});
    // Lengths and rows are a message each.
    result.setup.push_back({route, seconds[3 * c + 1] + seconds[3 * c + 2], 2 * messages[c]});
  }
  return result;
}

/// Collective. By the max-rate model.
template <class T>
Predictions predict(const Candidates<T>& candidates, const model::Machine& machine) {
  const mpi::Comm& comm = candidates.front()->comm();
  std::vector<std::int64_t> messages = off_node_messages(candidates);
  mpi::max_in_place(comm, std::span(messages));
  const auto questions = questions_about(candidates);
  return predictions_from(exchange_seconds(comm, machine, questions), messages);
}

/// Collective. By what was seen of the network, where messages overlap.
template <class T>
Predictions predict_overlapped(const Candidates<T>& candidates, const model::Machine& machine) {
  const std::vector<std::int64_t> mine = off_node_messages(candidates);
  std::vector<double> most(mine.begin(), mine.end());
  const auto questions = questions_about(candidates);
  const std::size_t n_stages = candidates.size() == 1 ? 1 : 0;  // direct has one
  const std::vector<double> seconds =
      overlapped_seconds(candidates.front()->comm(), machine, questions, std::span(most), n_stages);
  std::vector<std::int64_t> messages;
  for (const double n : most) messages.push_back(static_cast<std::int64_t>(n));
  return predictions_from(seconds, messages);
}

/// Adds the other routes to that over which A goes straight.
template <class T>
void plan_others(Candidates<T>& candidates, const std::shared_ptr<const matrix::DistMatrix<T>>& A) {
  for (const Route route : {Route::two_step, Route::three_step}) {
    candidates.push_back(over(A->route() == route ? A : candidates.front(), route));
  }
}

/// Why no message need be sent to know that direct is best, if so.
std::string nothing_to_ask(const mpi::Topology& topology) {
  if (topology.n_nodes() <= 1) return "all ranks are on one node";
  if (topology.n_nodes() == topology.n_ranks()) return "every node has one rank";
  return {};
}

constexpr const char* too_few_messages = "no rank sends more than one message to another node";

/// How often a level's exchange runs while its hierarchy is used for one solve: some eight V(1,1)
/// cycles, each with about four of them. For the setup, rows of the matrix and of the interpolation
/// in the splitting, the interpolation and the Galerkin product.
constexpr double exchanges_of_a_solve = 30;
constexpr double exchanges_of_a_setup = 6;
/// What a model that leaves out as much as this one must at least see gained, as a part.
constexpr double margin = 0.1;

/// What it takes to plan other routes, in messages between nodes one after the other.
struct PlanningCosts {
  double to_compare_s = 0;  ///< both routes of a level, and to compare them
  double to_take_s = 0;     ///< that which is taken, for the interpolation as well
};

PlanningCosts planning_costs(const mpi::Topology& topology, const model::Machine& machine) {
  double reduction = 0;
  for (int n = 1; n < topology.n_nodes(); n *= 2) reduction += 1;
  const double latency_s = machine.parameters(model::Locality::other_node, 0).latency_s;
  // two_step is planned in the time of one message and three_step of three, each with an agreement;
  // two reductions compare them.
  return {(4 + 4 * reduction) * latency_s, (3 + reduction) * latency_s};
}

/// The most that any other route could save: whatever crosses the network takes a latency.
double most_saved_s(const Predictions& direct, const LevelRoutes& wanted,
                    const model::Machine& machine) {
  const double latency_s = machine.parameters(model::Locality::other_node, 0).latency_s;
  double saved = 0;
  if (wanted.solve == Route::automatic) {
    saved += exchanges_of_a_solve * (direct.solve.front().seconds - latency_s);
  }
  if (wanted.setup == Route::automatic) {
    saved += exchanges_of_a_setup * (direct.setup.front().seconds - 2 * latency_s);
  }
  return saved;
}

RouteDecision straight(std::string reason) {
  RouteDecision decision;
  decision.reason = std::move(reason);
  return decision;
}

struct Decisions {
  RouteDecision solve, setup;
};

/// By a machine that was given: whatever costs least.
Decisions decide_on(Predictions predictions, const model::Machine& machine) {
  Decisions decisions = {cheapest(std::move(predictions.solve)),
                         cheapest(std::move(predictions.setup))};
  for (RouteDecision* d : {&decisions.solve, &decisions.setup}) {
    d->basis = "the machine " + machine.name;
  }
  return decisions;
}

/// Collective. By a machine that was given.
template <class T>
Decisions decide_by_machine(Candidates<T>& candidates,
                            const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                            const model::Machine& machine) {
  const mpi::Topology& topology = A->comm().topology();
  if (!topology.has_domains()) {
    if (topology.n_nodes() <= 1)
      return {straight(nothing_to_ask(topology)), straight(nothing_to_ask(topology))};
    const std::int64_t most = mpi::max(A->comm(), off_node_messages(candidates).front());
    if (most <= 1) return {straight(too_few_messages), straight(too_few_messages)};
  }
  plan_others(candidates, A);
  return decide_on(predict(candidates, machine), machine);
}

/// Collective. By a short look at the network, taken only where a level might gain.
template <class T>
Decisions decide_by_look(Candidates<T>& candidates,
                         const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                         const LevelRoutes& wanted) {
  const mpi::Comm& comm = A->comm();
  std::string reason = nothing_to_ask(comm.topology());
  const model::Machine* machine = known_network(comm);
  if (reason.empty() && machine == nullptr) {
    const bool few = mpi::max(comm, off_node_messages(candidates).front()) <= 1;
    if (few) reason = too_few_messages;
    if (!few) machine = &look_at_network(comm);
  }
  if (!reason.empty()) return {straight(reason), straight(reason)};
  const std::string basis = describe_look(*machine);
  Predictions direct = predict_overlapped(candidates, *machine);
  Decisions decisions;
  const PlanningCosts planning = planning_costs(comm.topology(), *machine);
  const double saved_s = most_saved_s(direct, wanted, *machine);
  if (direct.solve.front().off_node_messages <= 1) {
    decisions = {straight(too_few_messages), straight(too_few_messages)};
  } else if (saved_s <= planning.to_compare_s + planning.to_take_s) {
    const auto decide = [&](std::vector<RoutePrediction>& predicted) {
      const double seconds = predicted.front().seconds;
      RouteDecision decision = cheapest(std::move(predicted));
      decision.reason =
          fmt::format("predicted {}: other routes would save too little to pay for planning them",
                      time_text(seconds));
      return decision;
    };
    decisions = {decide(direct.solve), decide(direct.setup)};
  } else {
    plan_others(candidates, A);
    Predictions all = predict_overlapped(candidates, *machine);
    decisions.solve =
        cheapest_that_pays(std::move(all.solve), exchanges_of_a_solve, planning.to_take_s);
    const Route solve = wanted.solve == Route::automatic ? decisions.solve.chosen : wanted.solve;
    // What the solve takes is planned anyway.
    const bool planned = cheapest(all.setup).chosen == solve;
    decisions.setup = cheapest_that_pays(std::move(all.setup), exchanges_of_a_setup,
                                         planned ? 0 : planning.to_take_s);
  }
  decisions.solve.basis = decisions.setup.basis = basis;
  return decisions;
}

/// Puts the decisions where they were asked for.
template <class T>
ChosenRoutes<T> follow(Decisions decisions, const LevelRoutes& wanted,
                       const Candidates<T>& candidates) {
  ChosenRoutes<T> result;
  result.routes = wanted;
  const auto take = [](Route& route, RouteDecision& decision) {
    if (route != Route::automatic) return std::shared_ptr<const RouteDecision>();
    route = decision.chosen;
    return std::make_shared<const RouteDecision>(std::move(decision));
  };
  result.solve = take(result.routes.solve, decisions.solve);
  result.setup = take(result.routes.setup, decisions.setup);
  const auto planned = [&](Route route) {
    const auto k = static_cast<std::size_t>(route);
    return k < candidates.size() ? candidates[k] : over(candidates.front(), route);
  };
  result.for_solve = planned(result.routes.solve);
  result.for_setup = planned(result.routes.setup);
  return result;
}

}  // namespace

RouteDecision cheapest(std::vector<RoutePrediction> predictions) {
  const auto less = [](const RoutePrediction& a, const RoutePrediction& b) {
    return a.seconds < b.seconds;
  };
  RouteDecision decision;
  decision.predictions = std::move(predictions);
  const auto& all = decision.predictions;
  const auto best = std::min_element(all.begin(), all.end(), less);
  decision.chosen = best->route;
  if (all.size() == 1) return decision;
  if (best == all.begin()) {
    const auto next = std::min_element(all.begin() + 1, all.end(), less);
    decision.reason =
        fmt::format("predicted {} against {} {}: {} messages to other nodes, {} then",
                    time_text(best->seconds), time_text(next->seconds),
                    comm::to_string(next->route), best->off_node_messages, next->off_node_messages);
  } else {
    decision.reason =
        fmt::format("predicted {} against {} direct: {} messages to other nodes become {}",
                    time_text(best->seconds), time_text(all.front().seconds),
                    all.front().off_node_messages, best->off_node_messages);
  }
  return decision;
}

RouteDecision cheapest_that_pays(std::vector<RoutePrediction> predictions, double exchanges,
                                 double planning_s) {
  RouteDecision decision = cheapest(std::move(predictions));
  if (decision.chosen == Route::direct) return decision;
  const double direct_s = decision.predictions.front().seconds;
  const auto& best =
      *std::find_if(decision.predictions.begin(), decision.predictions.end(),
                    [&](const RoutePrediction& p) { return p.route == decision.chosen; });
  const double saved_s = direct_s - best.seconds;
  if (saved_s >= margin * direct_s && exchanges * saved_s > planning_s) return decision;
  decision.reason =
      fmt::format("predicted {} against {} {}: too little to pay for planning that",
                  time_text(direct_s), time_text(best.seconds), comm::to_string(best.route));
  decision.chosen = Route::direct;
  return decision;
}

template <class T>
ChosenRoutes<T> choose_routes(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                              const LevelRoutes& wanted, const model::Machine& machine) {
  mpi::collectively(A->comm(), [&] { model::check(machine); });
  const mpi::Scope scope(A->comm(), "route_choice");
  Candidates<T> candidates = {over(A, Route::direct)};
  Decisions decisions = decide_by_machine(candidates, A, machine);
  return follow(std::move(decisions), wanted, candidates);
}

template <class T>
ChosenRoutes<T> choose_routes(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                              const LevelRoutes& wanted) {
  const mpi::Scope scope(A->comm(), "route_choice");
  Candidates<T> candidates = {over(A, Route::direct)};
  Decisions decisions = decide_by_look(candidates, A, wanted);
  return follow(std::move(decisions), wanted, candidates);
}

#define NODEWISE_INSTANTIATE(T)                                                               \
  template ChosenRoutes<T> choose_routes(const std::shared_ptr<const matrix::DistMatrix<T>>&, \
                                         const LevelRoutes&, const model::Machine&);          \
  template ChosenRoutes<T> choose_routes(const std::shared_ptr<const matrix::DistMatrix<T>>&, \
                                         const LevelRoutes&)
NODEWISE_INSTANTIATE(double);
NODEWISE_INSTANTIATE(float);
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg
