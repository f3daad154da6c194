#include "nodewise/routing/transport_choice.hpp"

#include <array>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/timer.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/routing/decision_rule.hpp"
#include "nodewise/routing/trial_times.hpp"

namespace nodewise::routing {

namespace {

template <class T>
using Pointer = std::shared_ptr<const matrix::DistMatrix<T>>;

/// Collective. Whether anybody sends anything, and whether anybody does so on a node.
struct Use {
  bool any = false;
  bool on_node = false;
};

template <class T>
Use use_of(const matrix::DistMatrix<T>& A) {
  const mpi::Comm& comm = A.comm();
  if (comm.size() == 1) return {};
  const comm::Traffic traffic = comm::traffic(A.exchange().plan(), comm.topology(), comm.rank());
  std::array<std::int64_t, 2> most = {traffic.messages_on_node, traffic.messages_off_node};
  mpi::max_in_place(comm, std::span<std::int64_t>(most));
  return {most[0] + most[1] > 0, most[0] > 0};
}

/// Collective. The matrix over each transport that there is, point_to_point first.
template <class T>
std::vector<Pointer<T>> entrants(const Pointer<T>& A, const Use& use) {
  std::vector<Pointer<T>> result;
  for (const comm::TransportMethod& transport : comm::TransportMethod::family()) {
    if (!transport.may_be_tried) continue;
    if (!transport.between_nodes->empty() && !use.on_node) continue;
    try {
      result.push_back(A->transport() == transport ? A
                                                   : std::make_shared<const matrix::DistMatrix<T>>(
                                                         A->with_route(A->route(), transport)));
    } catch (const Error& error) {
      // The same on every rank: this MPI does not have it.
      if (error.code() != ErrorCode::unsupported) throw;
    }
  }
  return result;
}

/// Collective. The median seconds of one exchange over each.
template <class T>
std::vector<double> try_all(std::span<const Pointer<T>> matrices) {
  const auto& A = *matrices.front();
  const std::vector<T> x(static_cast<std::size_t>(A.n_local()));
  std::vector<T> ghosts(static_cast<std::size_t>(A.n_ghosts()));
  return median_seconds(A.comm(), matrices.size(), [&](std::size_t k) {
    const Timer timer;
    matrices[k]->exchange().forward(std::span<const T>(x), std::span<T>(ghosts));
    return timer.seconds();
  });
}

/// Collective. Without a trial.
template <class T>
ChosenTransport<T> untried(const Pointer<T>& A, std::string reason) {
  auto decision = std::make_shared<TransportDecision>();
  decision->reason = std::move(reason);
  if (A->transport() == comm::Transport()) return {A, std::move(decision)};
  return {std::make_shared<const matrix::DistMatrix<T>>(A->with_route(A->route())),
          std::move(decision)};
}

}  // namespace

TransportDecision quickest(std::vector<TransportTrial> trials) {
  std::vector<double> seconds;
  for (const TransportTrial& trial : trials) seconds.push_back(trial.seconds);
  const Selection selection = select(seconds);
  TransportDecision decision;
  decision.trials = std::move(trials);
  if (decision.trials.size() < 2) {
    decision.reason = "there is no other";
    return decision;
  }
  const TransportTrial& plain = decision.trials.front();
  const TransportTrial& best = decision.trials[selection.rival];
  decision.chosen = decision.trials[selection.chosen].transport;
  if (selection.chosen > 0) {
    decision.reason = fmt::format("{} against {} point_to_point in {} exchanges each",
                                  duration(best.seconds), duration(plain.seconds), rounds_of_trial);
  } else {
    decision.reason = fmt::format(
        "{} against {} {} in {} exchanges each, and a tenth would have to be saved",
        duration(plain.seconds), duration(best.seconds), best.transport.name(), rounds_of_trial);
  }
  return decision;
}

template <class T>
ChosenTransport<T> choose_transport(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                                    int solves) {
  if (solves < solves_for_a_trial) {
    return untried(A, fmt::format("a trial pays from {} expected solves on", solves_for_a_trial));
  }
  const mpi::Scope scope(A->comm(), "transport_trial");
  const Use use = use_of(*A);
  if (!use.any) return untried(A, "no rank sends a message");
  const std::vector<Pointer<T>> matrices = entrants(A, use);
  const std::vector<double> seconds = try_all(std::span(matrices));
  std::vector<TransportTrial> trials;
  for (std::size_t k = 0; k < matrices.size(); ++k) {
    trials.push_back({matrices[k]->transport(), seconds[k]});
  }
  auto decision = std::make_shared<TransportDecision>(quickest(std::move(trials)));
  for (const Pointer<T>& M : matrices) {
    if (M->transport() == decision->chosen) return {M, std::move(decision)};
  }
  return {matrices.front(), std::move(decision)};  // never reached: one of them was chosen
}

template ChosenTransport<double> choose_transport(
    const std::shared_ptr<const matrix::DistMatrix<double>>&, int);
template ChosenTransport<float> choose_transport(
    const std::shared_ptr<const matrix::DistMatrix<float>>&, int);

}  // namespace nodewise::routing
