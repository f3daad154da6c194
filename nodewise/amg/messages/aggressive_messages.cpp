#include "nodewise/amg/messages/aggressive_messages.hpp"

#include "nodewise/amg/coarsen/virtual_ranks.hpp"
#include "nodewise/amg/messages/splitting_messages.hpp"

namespace nodewise::amg {

using matrix::DistMatrix;
using model::MessageStages;

AggressiveSetup::AggressiveSetup(const DistMatrix<double>& A, const Strength& strength,
                                 std::span<const GlobalIndex> ranks, const Options& options)
    : A_(A),
      strength_(strength),
      ranks_(ranks),
      options_(options),
      first_(split_once(A_, strength_, ranks_)),
      coarse_ranks_(virtual_coarse_starts(ranks_, coarsen::places_of_coarse(first_.splitting))),
      steps_(coarsen::path_steps(A_, strength_, first_.splitting,
                                 coarsen::coarse_layout(A_.rows(), first_.splitting))),
      far_(coarsen::long_range_dependences(steps_, classical_options(options).aggressive_paths)),
      second_(split_once(far_.paths, far_.strength, coarse_ranks_)) {}

AggressiveSetup::Stage AggressiveSetup::split_once(const DistMatrix<double>& A,
                                                   const Strength& strength,
                                                   std::span<const GlobalIndex> ranks) const {
  constexpr const char* operation = "splitting";
  const mpi::Scope scope(A.comm(), operation, mpi::no_level);
  const auto reductions = [&] {
    return collectives_of(A.comm().ledger().accounts(), operation, mpi::no_level);
  };
  const std::int64_t before = reductions();
  Stage stage;
  stage.splitting = split(coarsening(), A, strength, ranks, options_.seed);
  stage.collectives = reductions() - before;
  return stage;
}

int AggressiveSetup::rounds() const {
  const SplittingMessages& messages = messages_of(coarsening());
  return messages.rounds(first_.collectives) + messages.rounds(second_.collectives);
}

MessageStages AggressiveSetup::splitting(const VirtualPlans& of_A) const {
  const mpi::Topology& topology = of_A.topology;
  VirtualExchanges over_A(of_A);
  const SplittingMessages& messages = messages_of(coarsening());
  messages.exchanges(first_.collectives, A_.on(), strength_, over_A);
  over_A.forward(sizeof(GlobalIndex));  // numbers of coarse points
  MessageStages stages = over_A.take();
  // New matrices, of the route `direct`.
  const auto of_first = plans_of(steps_.first.on(), coarse_ranks_, ranks_, topology);
  VirtualExchanges over_first({of_first, topology});
  over_first.rows(steps_.last.on(), ranks_, coarse_ranks_);
  append(stages, over_first.take());
  const auto of_paths = plans_of(far_.paths.on(), coarse_ranks_, coarse_ranks_, topology);
  VirtualExchanges over_paths({of_paths, topology});
  messages.exchanges(second_.collectives, far_.paths.on(), far_.strength, over_paths);
  append(stages, over_paths.take());
  return stages;
}

MessageStages AggressiveSetup::requests() const {
  MessageStages stages;
  add_requests(steps_.first.on(), coarse_ranks_, ranks_, stages);
  add_requests(steps_.last.on(), ranks_, coarse_ranks_, stages);
  add_requests(far_.paths.on(), coarse_ranks_, coarse_ranks_, stages);
  return stages;
}

}  // namespace nodewise::amg
