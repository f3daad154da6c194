#include "nodewise/routing/route_choice.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/comm/route/message_estimate.hpp"
#include "nodewise/model/penalties.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/routing/decision_rule.hpp"
#include "nodewise/routing/network_probe.hpp"
#include "nodewise/routing/route_costs.hpp"

namespace nodewise::routing {

namespace {

using comm::Route;

const Family<comm::RouteMethod>& all_routes() {
  return comm::RouteMethod::family();
}

/// What a short look at the network saw.
std::string describe_probe(const model::Machine& machine) {
  const auto seen = [&](model::Locality where) {
    const model::MessageParameters& p = machine.parameters(where, 0);
    return fmt::format("{} and {:.3g} GB/s", duration(p.latency_s), 1e-9 * p.rate_bytes_per_s);
  };
  const model::MessageOverheads o = machine.overheads.value_or(model::MessageOverheads{});
  return fmt::format(
      "a short look at the network: {} between nodes, {} for each message more of a rank, {} of a "
      "node; {} on a node",
      seen(model::Locality::other_node), duration(o.send_other_node_s + o.receive_other_node_s),
      duration(o.nic_gap_s), seen(model::Locality::same_node));
}

/// The bytes of a row that travels, on average: a value and a column for each entry.
template <class T>
double bytes_of_row(const matrix::DistMatrix<T>& A) {
  const auto rows = static_cast<double>(std::max<GlobalIndex>(A.rows().n_global(), 1));
  return static_cast<double>(A.nnz_global()) / rows * (sizeof(T) + sizeof(GlobalIndex));
}

template <class T>
std::shared_ptr<const matrix::DistMatrix<T>> over(
    const std::shared_ptr<const matrix::DistMatrix<T>>& A, const Route& route) {
  if (A->route() == route && A->transport() == comm::Transport()) return A;
  return std::make_shared<const matrix::DistMatrix<T>>(A->with_route(route));
}

/// This rank's messages over each route, in the order of the family. What fails on this rank alone
/// waits for the next reduction.
struct Estimates {
  std::vector<std::vector<comm::StageSizes>> stages;
  std::optional<Error> failure;

  /// This rank's messages to other nodes over each route.
  std::vector<double> messages_off_node(const mpi::Comm& comm) const {
    std::vector<double> messages;
    for (const auto& of_route : stages) {
      const comm::Traffic t = comm::traffic(of_route, comm.topology(), comm.rank());
      messages.push_back(static_cast<double>(t.messages_off_node));
    }
    return messages;
  }
};

/// Collective on each node.
Estimates estimate(const mpi::Comm& comm, const comm::Plan& direct) {
  Estimates estimates;
  const comm::MessageEstimate forecast = comm::forecast(comm, direct, estimates.failure);
  const auto list = [&] {
    for (const Route route : all_routes()) estimates.stages.push_back(forecast.sizes(route));
  };
  if (!estimates.failure) estimates.failure = mpi::caught(list);
  if (estimates.failure) {
    estimates.stages.clear();
    for (const comm::RouteMethod& route : all_routes()) {
      estimates.stages.emplace_back(static_cast<std::size_t>(*route.n_stages));
    }
  }
  return estimates;
}

/// What is known of the costs of the routes.
struct Predictions {
  std::vector<RoutePrediction> solve, setup;
};

/// What the exchanges of a level carry.
struct Payload {
  double bytes_of_value, bytes_of_row;
};

/// Collective. A vector, and rows with their lengths.
Predictions predict(const mpi::Comm& comm, const Estimates& estimates, const Payload& payload,
                    const model::Machine& machine, MessageCosts costs) {
  std::vector<ExchangeQuestion> questions;
  std::vector<double> most = estimates.messages_off_node(comm);
  for (const std::span<const comm::StageSizes> stages : estimates.stages) {
    for (const double bytes :
         {payload.bytes_of_value, static_cast<double>(sizeof(Offset)) + payload.bytes_of_row}) {
      questions.push_back({stages, bytes});
    }
  }
  most.push_back(estimates.failure ? 1 : 0);
  const std::vector<double> seconds =
      exchange_seconds(comm, machine, costs, questions, std::span(most));
  if (most.back() > 0) mpi::agree(comm, estimates.failure);
  Predictions result;
  for (std::size_t r = 0; r < all_routes().size(); ++r) {
    const Route route = all_routes()[r];
    const auto messages = static_cast<std::int64_t>(most[r]);
    result.solve.push_back({route, seconds[2 * r], messages});
    result.setup.push_back({route, seconds[2 * r + 1], messages});
  }
  return result;
}

constexpr const char* too_few_messages = "no rank sends more than one message to another node";

/// Collective. Why nothing can be gained, whatever messages cost, if so: where no route has fewer
/// of them, neither of a rank nor of a node.
std::string nothing_to_gain(const mpi::Comm& comm, const Estimates& estimates) {
  const std::size_t n_routes = estimates.stages.size();
  std::vector<double> of_node = estimates.messages_off_node(comm);
  std::vector<double> most = of_node;
  mpi::sum_in_place(comm.node(), std::span<double>(of_node));
  most.insert(most.end(), of_node.begin(), of_node.end());
  most.push_back(estimates.failure ? 1 : 0);
  mpi::max_in_place(comm, std::span<double>(most));
  if (most.back() > 0) mpi::agree(comm, estimates.failure);
  if (most[0] <= 1) return too_few_messages;
  for (std::size_t r = 1; r < n_routes; ++r) {
    if (most[r] < most[0] || most[n_routes + r] < most[n_routes]) return {};
  }
  return "no route has fewer messages to other nodes";
}

/// Why no message need be sent to know that direct is best, if so.
std::string nothing_to_ask(const mpi::Topology& topology) {
  if (topology.n_nodes() <= 1) return "all ranks are on one node";
  if (topology.n_nodes() == topology.n_ranks()) return "every node has one rank";
  return {};
}

/// Of rows of the matrix and of the interpolation, in the splitting, the interpolation and the
/// Galerkin product.
constexpr double exchanges_of_a_setup = 6;

/// The rounds of a reduction among n.
double rounds_among(std::size_t n) {
  return static_cast<double>(std::bit_width(n - 1));
}

/// The seconds that it takes to plan each route, for the matrix and the interpolation.
std::vector<double> planning_costs(const mpi::Topology& topology, const model::Machine& machine) {
  const model::Charges charges = model::charges(machine, {.n_nodes = topology.n_nodes()});
  const double between_s =
      charges.latency(machine.parameters(model::Locality::other_node, 0).latency_s);
  const double on_node_s = machine.parameters(model::Locality::same_node, 0).latency_s;
  const double on_node = rounds_among(topology.most_ranks_on_a_node());
  const double agreement_s =
      rounds_among(static_cast<std::size_t>(topology.n_nodes())) * between_s + on_node * on_node_s;
  std::vector<double> seconds;
  for (const comm::RouteMethod& route : all_routes()) {
    const comm::PlanningSteps& steps = route.planning;
    seconds.push_back(2 *
                      (steps.messages_between_nodes * between_s + steps.agreements * agreement_s +
                       steps.sparse_exchanges * (1 + on_node) * on_node_s));
  }
  return seconds;
}

struct Decisions {
  RouteDecision solve, setup;
};

/// The operations of a level where a route is sure to be planned for the solve.
Decisions decide(Predictions predictions, const LevelRoutes& wanted, std::vector<double> planning_s,
                 int solves) {
  Decisions decisions;
  decisions.solve =
      cheapest(std::move(predictions.solve), solves * exchanges_of_a_solve, planning_s);
  const Route& solve = wanted.solve.is_automatic() ? decisions.solve.chosen : wanted.solve;
  planning_s[all_routes().index_of(solve.name())] = 0;  // planned anyway
  decisions.setup = cheapest(std::move(predictions.setup), exchanges_of_a_setup, planning_s);
  return decisions;
}

/// Collective. By a machine, or by a short look at the network, taken only where a level might
/// gain.
template <class T>
Decisions decide(const matrix::DistMatrix<T>& direct, const LevelRoutes& wanted,
                 const model::Machine* given, int solves) {
  const mpi::Comm& comm = direct.comm();
  const bool between_domains = given != nullptr && comm.topology().has_domains();
  std::string reason = between_domains ? "" : nothing_to_ask(comm.topology());
  if (!reason.empty()) return {straight(reason), straight(reason)};
  const Estimates estimates = estimate(comm, direct.exchange().plan());
  const model::Machine* machine = given != nullptr ? given : probed_network(comm);
  if (machine == nullptr) {
    reason = nothing_to_gain(comm, estimates);
    if (!reason.empty()) return {straight(reason), straight(reason)};
    machine = &probe_network(comm);
  }
  const MessageCosts costs = message_costs(*machine);
  Predictions predictions =
      predict(comm, estimates, {sizeof(T), bytes_of_row(direct)}, *machine, costs);
  Decisions decisions;
  if (predictions.solve.front().off_node_messages <= 1 && !between_domains) {
    decisions = {straight(too_few_messages), straight(too_few_messages)};
  } else {
    decisions =
        decide(std::move(predictions), wanted, planning_costs(comm.topology(), *machine), solves);
  }
  const std::string basis =
      given != nullptr ? "the machine " + machine->name : describe_probe(*machine);
  decisions.solve.basis = decisions.setup.basis = basis;
  return decisions;
}

/// Collective. Puts the decisions where they were asked for, and plans what they say.
template <class T>
ChosenRoutes<T> choose(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                       const LevelRoutes& wanted, const model::Machine* machine, int solves) {
  const mpi::Scope scope(A->comm(), "route_choice");
  const auto direct = over(A, Route());
  Decisions decisions = decide(*direct, wanted, machine, solves);
  ChosenRoutes<T> result;
  result.routes = wanted;
  const auto take = [](Route& route, RouteDecision& decision) {
    if (!route.is_automatic()) return std::shared_ptr<const RouteDecision>();
    route = decision.chosen;
    return std::make_shared<const RouteDecision>(std::move(decision));
  };
  result.solve = take(result.routes.solve, decisions.solve);
  result.setup = take(result.routes.setup, decisions.setup);
  result.for_solve = over(direct, result.routes.solve);
  result.for_setup = result.routes.setup == result.routes.solve ? result.for_solve
                                                                : over(direct, result.routes.setup);
  return result;
}

}  // namespace

RouteDecision straight(std::string reason) {
  RouteDecision decision;
  decision.reason = std::move(reason);
  return decision;
}

RouteDecision cheapest(std::vector<RoutePrediction> predictions, double exchanges,
                       std::span<const double> planning_s) {
  std::vector<double> seconds;
  for (const RoutePrediction& p : predictions) seconds.push_back(p.seconds);
  const Selection selection = select(seconds, exchanges, planning_s);
  RouteDecision decision;
  decision.predictions = std::move(predictions);
  const RoutePrediction& first = decision.predictions.front();
  const RoutePrediction& rival = decision.predictions[selection.rival];
  const std::string straight_s = duration(first.seconds), rival_s = duration(rival.seconds);
  const std::string& name = rival.route.name();
  decision.chosen = decision.predictions[selection.chosen].route;
  if (selection.chosen > 0) {
    decision.reason =
        fmt::format("predicted {} against {} direct: {} messages to other nodes become {}", rival_s,
                    straight_s, first.off_node_messages, rival.off_node_messages);
  } else if (rival.seconds < first.seconds) {
    decision.reason = fmt::format("predicted {} against {} {}: too little to pay for planning that",
                                  straight_s, rival_s, name);
  } else {
    decision.reason =
        fmt::format("predicted {} against {} {}: {} messages to other nodes, {} then", straight_s,
                    rival_s, name, first.off_node_messages, rival.off_node_messages);
  }
  return decision;
}

template <class T>
ChosenRoutes<T> choose_routes(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                              const LevelRoutes& wanted, const model::Machine& machine,
                              int solves) {
  model::check(machine);
  return choose(A, wanted, &machine, solves);
}

template <class T>
ChosenRoutes<T> choose_routes(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                              const LevelRoutes& wanted, int solves) {
  return choose<T>(A, wanted, nullptr, solves);
}

#define NODEWISE_INSTANTIATE(T)                                                               \
  template ChosenRoutes<T> choose_routes(const std::shared_ptr<const matrix::DistMatrix<T>>&, \
                                         const LevelRoutes&, const model::Machine&, int);     \
  template ChosenRoutes<T> choose_routes(const std::shared_ptr<const matrix::DistMatrix<T>>&, \
                                         const LevelRoutes&, int)
NODEWISE_INSTANTIATE(double);
NODEWISE_INSTANTIATE(float);
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::routing
