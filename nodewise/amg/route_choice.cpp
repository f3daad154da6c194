#include "nodewise/amg/route_choice.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "nodewise/model/contention.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

namespace {

using comm::Route;

constexpr std::array<Route, 3> all_routes = {Route::direct, Route::two_step, Route::three_step};

template <class T>
using Candidates = std::vector<std::shared_ptr<const matrix::DistMatrix<T>>>;

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", 1e6 * seconds);
  if (seconds < 1) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} s", seconds);
}

/// A plan, and the bytes that each of its entries is to have.
struct Question {
  const comm::Plan* plan = nullptr;
  double bytes_per_entry = 0;
};

/// What each rank finds out about its part of all questions, stage by stage.
using Loads = std::vector<std::vector<model::RankLoad>>;

Loads loads_of(const mpi::Comm& comm, const model::Machine& machine,
               std::span<const Question> questions) {
  Loads loads;
  for (const Question& question : questions) {
    model::ExchangeCostOptions options;
    options.bytes_per_entry = question.bytes_per_entry;
    loads.push_back(
        model::rank_loads(*question.plan, comm.topology(), comm.rank(), machine, options));
  }
  return loads;
}

/// Collective. Gives all questions the same number of stages, the same on every rank.
std::size_t even_out(const mpi::Comm& comm, Loads& loads) {
  std::size_t most = 0;
  for (const auto& stages : loads) most = std::max(most, stages.size());
  const auto n_stages = static_cast<std::size_t>(mpi::max(comm, static_cast<std::int64_t>(most)));
  for (auto& stages : loads) stages.resize(n_stages);
  return n_stages;
}

/// Collective. The seconds of each question: in every stage the busiest rank counts. Three
/// reductions over all ranks and one over each node. The last is a maximum, whose result is the
/// same bit for bit everywhere.
std::vector<double> seconds_of(const mpi::Comm& comm, const model::Machine& machine,
                               std::span<const Question> questions) {
  Loads loads = mpi::collectively(comm, [&] { return loads_of(comm, machine, questions); });
  const std::size_t n_stages = even_out(comm, loads);
  std::vector<double> of_node, of_all;
  for (const auto& stages : loads) {
    for (const model::RankLoad& load : stages) {
      of_node.insert(of_node.end(), {load.sent.injection_s, load.received.injection_s});
      of_all.insert(of_all.end(), {load.sent.off_node_bytes, load.byte_hops});
    }
  }
  mpi::sum_in_place(comm.node(), std::span(of_node));
  mpi::sum_in_place(comm, std::span(of_all));
  std::vector<double> stage_s;
  for (std::size_t q = 0, k = 0; q < loads.size(); ++q) {
    for (const model::RankLoad& load : loads[q]) {
      const double rank_s = model::stage_cost(machine, load, of_node[k], of_node[k + 1],
                                              model::ExchangeCostOptions().arrival)
                                .total();
      const model::NetworkLoad network = {of_all[k], of_all[k + 1], comm.topology().n_nodes()};
      stage_s.push_back(rank_s + model::contention_s(machine, network));
      k += 2;
    }
  }
  mpi::max_in_place(comm, std::span(stage_s));
  std::vector<double> seconds(questions.size());
  for (std::size_t k = 0; k < stage_s.size(); ++k) seconds[k / n_stages] += stage_s[k];
  return seconds;
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

/// Collective.
template <class T>
Predictions predict(const Candidates<T>& candidates, std::span<const std::int64_t> messages,
                    const model::Machine& machine) {
  std::vector<Question> questions;
  for (const auto& A : candidates) {
    const comm::Plan& plan = A->exchange().plan();
    questions.push_back({&plan, sizeof(T)});
    questions.push_back({&plan, sizeof(Offset)});  // the lengths of rows travel first
    questions.push_back({&plan, bytes_of_row(*A)});
  }
  const std::vector<double> seconds = seconds_of(candidates.front()->comm(), machine, questions);
  Predictions result;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const Route route = all_routes[c];
    result.solve.push_back({route, seconds[3 * c], messages[c]});
    // Lengths and rows are a message each.
    result.setup.push_back({route, seconds[3 * c + 1] + seconds[3 * c + 2], 2 * messages[c]});
  }
  return result;
}

/// Why nothing was predicted, if so: without messages to save no route is better than direct.
std::string nothing_to_choose(const mpi::Topology& topology, std::int64_t most_messages) {
  if (topology.has_domains()) return {};
  if (topology.n_nodes() <= 1) return "all ranks are on one node";
  if (most_messages <= 1) return "no rank sends more than one message to another node";
  return {};
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

template <class T>
ChosenRoutes<T> choose_routes(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                              const LevelRoutes& wanted, const model::Machine& machine) {
  const mpi::Comm& comm = A->comm();
  mpi::collectively(comm, [&] { model::check(machine); });
  const mpi::Scope scope(comm, "route_choice");
  const mpi::Topology& topology = comm.topology();
  ChosenRoutes<T> result;
  result.routes = wanted;
  Candidates<T> candidates = {over(A, Route::direct)};
  std::vector<std::int64_t> messages = off_node_messages(candidates);
  mpi::max_in_place(comm, std::span(messages));
  const std::string none = nothing_to_choose(topology, messages.front());
  Predictions predictions;
  if (none.empty()) {
    for (const Route route : {Route::two_step, Route::three_step}) {
      candidates.push_back(over(A->route() == route ? A : candidates.front(), route));
    }
    messages = off_node_messages(candidates);
    mpi::max_in_place(comm, std::span(messages));
    predictions = predict(candidates, std::span<const std::int64_t>(messages), machine);
  }
  const auto decide = [&](Route& route, std::vector<RoutePrediction>& predicted) {
    std::shared_ptr<RouteDecision> decision;
    if (route == Route::automatic) {
      decision = std::make_shared<RouteDecision>();
      if (none.empty()) *decision = cheapest(std::move(predicted));
      if (!none.empty()) decision->reason = none;
      route = decision->chosen;
    }
    return decision;
  };
  result.solve = decide(result.routes.solve, predictions.solve);
  result.setup = decide(result.routes.setup, predictions.setup);
  const auto planned = [&](Route route) {
    const auto k = static_cast<std::size_t>(route);
    return k < candidates.size() ? candidates[k] : over(candidates.front(), route);
  };
  result.for_solve = planned(result.routes.solve);
  result.for_setup = planned(result.routes.setup);
  return result;
}

template ChosenRoutes<double> choose_routes(
    const std::shared_ptr<const matrix::DistMatrix<double>>&, const LevelRoutes&,
    const model::Machine&);
template ChosenRoutes<float> choose_routes(const std::shared_ptr<const matrix::DistMatrix<float>>&,
                                           const LevelRoutes&, const model::Machine&);

}  // namespace nodewise::amg
