#include "nodewise/predict/solve_prediction.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "nodewise/comm/route/message_estimate.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/predict/cycle_work.hpp"
#include "nodewise/predict/level_messages.hpp"
#include "nodewise/routing/route_costs.hpp"

namespace nodewise::predict {

namespace {

/// One exchange of this rank: its messages stage by stage, and the bytes of a value.
struct OwnExchange {
  std::vector<comm::StageSizes> stages;
  double bytes;
};

OwnExchange forward_exchange(const comm::Plan& plan, double bytes) {
  return {comm::sizes_of(plan), bytes};
}

/// The same messages the other way, the last stage first.
OwnExchange reversed_exchange(const comm::Plan& plan, double bytes) {
  OwnExchange exchange = forward_exchange(plan, bytes);
  std::reverse(exchange.stages.begin(), exchange.stages.end());
  for (comm::StageSizes& stage : exchange.stages) std::swap(stage.sent, stage.received);
  return exchange;
}

/// Collective. A rank without a part of a level has no stages, where others have some.
void give_all_as_many_stages(const mpi::Comm& comm, std::span<OwnExchange> exchanges) {
  std::vector<std::int64_t> most;
  for (const OwnExchange& e : exchanges) most.push_back(static_cast<std::int64_t>(e.stages.size()));
  mpi::max_in_place(comm, std::span(most));
  for (std::size_t k = 0; k < most.size(); ++k) {
    exchanges[k].stages.resize(static_cast<std::size_t>(most[k]));
  }
}

/// Collective. The seconds of each.
std::vector<double> priced(const mpi::Comm& comm, const model::Machine& machine,
                           std::vector<OwnExchange> exchanges) {
  give_all_as_many_stages(comm, exchanges);
  std::vector<routing::ExchangeQuestion> questions;
  for (const OwnExchange& e : exchanges) questions.push_back({e.stages, e.bytes});
  return routing::exchange_seconds(comm, machine, routing::message_costs(machine), questions, {});
}

/// Local. Those of a level: its product, restriction and prolongation.
std::vector<OwnExchange> exchanges_of_level(const amg::Hierarchy<double>& hierarchy,
                                            std::size_t level) {
  const auto bytes = static_cast<double>(value_bytes(hierarchy, level));
  std::vector<OwnExchange> exchanges;
  exchanges.push_back(forward_exchange(hierarchy.matrix(level)->exchange().plan(), bytes));
  const auto* const P = hierarchy.interpolation(level);
  if (P == nullptr) return exchanges;
  const auto* const R = hierarchy.restriction(level);
  exchanges.push_back(R != nullptr ? forward_exchange(R->exchange().plan(), bytes)
                                   : reversed_exchange(P->exchange().plan(), bytes));
  exchanges.push_back(forward_exchange(P->exchange().plan(), bytes));
  return exchanges;
}

/// Collective.
LevelExchanges predict_level(const mpi::Comm& comm, const amg::Hierarchy<double>& hierarchy,
                             std::size_t level, const model::Machine& machine) {
  const std::vector<double> seconds = priced(
      comm, machine, mpi::collectively(comm, [&] { return exchanges_of_level(hierarchy, level); }));
  LevelExchanges result;
  result.product_s = seconds.front();
  if (seconds.size() == 1) return result;
  result.restriction_s = seconds[1];
  result.prolongation_s = seconds[2];
  return result;
}

}  // namespace

SolvePrediction predict_solve(const matrix::DistMatrix<double>& A,
                              const amg::Hierarchy<double>* hierarchy, bool is_symmetric,
                              const model::Machine& machine) {
  model::check(machine);
  const mpi::Comm& comm = A.comm();
  SolvePrediction prediction;
  prediction.machine = machine.name;
  prediction.krylov_product_s =
      priced(comm, machine, {forward_exchange(A.exchange().plan(), sizeof(double))}).front();
  if (hierarchy == nullptr) return prediction;
  std::vector<Visits> visits;
  try {
    const bool is_direct = hierarchy->levels().back().coarse_solver.starts_with("direct");
    visits =
        work_of_cycle(hierarchy->options(), is_symmetric, hierarchy->levels().size(), is_direct);
  } catch (const Error& error) {  // by the options alone: the same on every rank
    prediction.not_predicted = error.what();
    return prediction;
  }
  for (std::size_t l = 0; l < visits.size(); ++l) {
    prediction.levels.push_back(predict_level(comm, *hierarchy, l, machine));
    prediction.levels.back().visits = visits[l];
  }
  return prediction;
}

}  // namespace nodewise::predict
