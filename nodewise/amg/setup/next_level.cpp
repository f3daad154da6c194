#include "nodewise/amg/setup/next_level.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "nodewise/amg/redistribute/copy_holders.hpp"
#include "nodewise/amg/setup/level.hpp"
#include "nodewise/amg/setup/level_choice.hpp"
#include "nodewise/comm/route/direct.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"
#include "nodewise/model/overlapped_cost.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/routing/network_probe.hpp"
#include "nodewise/routing/route_costs.hpp"

namespace nodewise::amg {

namespace {

using matrix::DistMatrix;

/// The routes that a level may take.
std::vector<comm::Route> routes_allowed(const Options& options, int level) {
  const comm::Route wanted = routes_of_level(options, level).solve;
  if (!wanted.is_automatic()) return {wanted};
  std::vector<comm::Route> routes;
  for (const comm::Route route : comm::RouteMethod::family()) routes.push_back(route);
  return routes;
}

std::vector<comm::MessageSize> message_sizes(std::span<const int> ranks,
                                             std::span<const LocalIndex> offsets) {
  std::vector<comm::MessageSize> sizes;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    sizes.push_back({ranks[i], offsets[i + 1] - offsets[i]});
  }
  return sizes;
}

/// The part of a level that both kinds share.
template <class T>
class LevelBase : public NextLevel {
 public:
  LevelBase(const MatrixPointer<T>& A, const MatrixPointer<T>& P, const Options& options, int level)
      : A_(A), P_(P), options_(options), level_(level) {}
  int level() const override { return level_; }
  bool is_solved() const override {
    const GlobalIndex rows = A_->rows().n_global();
    return !may_coarsen(rows, options_, level_) && may_solve_directly(rows, options_);
  }
  double nonzeros() const override { return static_cast<double>(A_->nnz_global()); }
  double expected_solves() const override { return options_.expected_solves; }
  double value_bytes() const override { return sizeof(T); }
  bool may_gather_on_nodes() const override {
    for (const comm::Route& route : routes()) {
      if (route != comm::Route()) return true;
    }
    return false;
  }
  bool may_have_copies() const override { return !options_.redistribution_move->moves_vectors; }

 protected:
  std::vector<comm::Route> routes() const { return routes_allowed(options_, level_); }

  const MatrixPointer<T>& A_;
  const MatrixPointer<T>& P_;
  const Options& options_;
  int level_;
};

template <class T>
class RealLevel final : public LevelBase<T> {
 public:
  using LevelBase<T>::LevelBase;

  const mpi::Topology& topology() const override { return comm().topology(); }
  std::span<const GlobalIndex> starts() const override { return A_->rows().starts(); }
  const model::Machine* machine() override {
    if (options_.machine) return options_.machine.get();
    if (topology().n_nodes() <= 1) return nullptr;
    return &routing::probe_network(comm());
  }
  std::vector<RankExchanges> exchanges() override {
    RankExchanges rank;
    rank.rank = comm().rank();
    rank.nonzeros = static_cast<double>(A_->nnz_local());
    const comm::Pattern product = product_patterns().front();
    rank.product = message_sizes(product.send_ranks, product.send_offsets);
    if (P_) {
      for (const comm::Stage& stage : P_->exchange().plan().stages) {
        rank.transfer = message_sizes(stage.recv_ranks, stage.recv_offsets);
      }
      rank.transfer.push_back({rank.rank, A_->n_local()});
    }
    return {rank};
  }
  NextLevel::Times times() override {
    std::vector<comm::Pattern> patterns = product_patterns();
    patterns.push_back(comm::route::pattern_of(P_->exchange().plan()));
    const std::vector<double> seconds = exchange_s(patterns, {}, {});
    return {seconds[0], seconds[1]};
  }
  std::vector<comm::Pattern> product_patterns() const override {
    return {comm::route::pattern_of(
        routed<T>(A_, comm::Route(), comm::Transport())->exchange().plan())};
  }
  std::vector<double> exchange_s(std::span<const comm::Pattern> patterns, const Riders& riders,
                                 std::optional<Error> failure) override {
    const std::vector<comm::Route> routes = this->routes();
    std::vector<comm::Plan> plans(patterns.size());
    const auto plan = [&] {
      std::transform(patterns.begin(), patterns.end(), plans.begin(), comm::route::direct);
    };
    if (!failure) failure = mpi::caught(plan);
    const auto estimates = comm::forecasts(comm(), plans, failure);
    std::vector<std::vector<comm::StageSizes>> stages;
    const auto foresee = [&] {
      for (const comm::MessageEstimate& estimate : estimates) {
        for (const comm::Route& route : routes) stages.push_back(estimate.sizes(route));
      }
    };
    if (!failure) failure = mpi::caught(foresee);
    mpi::agree_on_sums(comm(), failure, riders.sums);
    std::vector<routing::ExchangeQuestion> questions;
    for (const auto& of_route : stages) questions.push_back({of_route, sizeof(T)});
    const std::vector<double> seconds = routing::exchange_seconds(
        comm(), *machine(), routing::message_costs(*machine()), questions, riders.most);
    std::vector<double> least;
    for (auto first = seconds.begin(); first != seconds.end();) {
      const auto end = first + static_cast<std::ptrdiff_t>(routes.size());
      least.push_back(*std::min_element(first, end));
      first = end;
    }
    return least;
  }
  std::vector<int> ranks_above() const override {
    std::vector<int> ranks(static_cast<std::size_t>(comm().size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
  }
  void sum_on_nodes(std::span<double> values) override { mpi::sum_in_place(comm().node(), values); }
  bool speaks_for(int) const override { return comm().node().rank() == 0; }
  void sum(std::span<double> values) override { mpi::sum_in_place(comm(), values); }
  void max(std::span<double> values) override { mpi::max_in_place(comm(), values); }

 private:
  using LevelBase<T>::A_;
  using LevelBase<T>::P_;
  using LevelBase<T>::options_;

  const mpi::Comm& comm() const { return A_->comm(); }
};

template <class T>
class VirtualLevel final : public LevelBase<T> {
 public:
  VirtualLevel(const MatrixPointer<T>& A, const MatrixPointer<T>& P, const Options& options,
               int level, std::vector<GlobalIndex> starts, const ProblemInfo<T>& above)
      : LevelBase<T>(A, P, options, level),
        topology_(*above.virtual_topology),
        starts_(std::move(starts)),
        ranks_above_(ranks_of_level(above.virtual_starts, above.level)),
        product_(comm::virtual_patterns(starts_, ghosts_of(*A, starts_))) {
    if (P) transfer_ = comm::virtual_patterns(starts_, ghosts_of(*P, above.virtual_starts));
    if (!options.machine) {
      throw Error(ErrorCode::unsupported,
                  "multigrid setup: choices by costs for levels of virtual ranks take the costs of "
                  "a machine, as predictions have them");
    }
  }

  const mpi::Topology& topology() const override { return topology_; }
  std::span<const GlobalIndex> starts() const override { return starts_; }
  const model::Machine* machine() override { return options_.machine.get(); }
  std::vector<RankExchanges> exchanges() override {
    std::vector<RankExchanges> all;
    for (std::size_t r = 0; r < product_.size(); ++r) {
      RankExchanges& rank = all.emplace_back();
      rank.rank = static_cast<int>(r);
      const auto begin = static_cast<LocalIndex>(starts_[r]),
                 end = static_cast<LocalIndex>(starts_[r + 1]);
      rank.nonzeros = static_cast<double>(A_->on().row_ptr[static_cast<std::size_t>(end)] -
                                          A_->on().row_ptr[static_cast<std::size_t>(begin)]);
      rank.product = message_sizes(product_[r].send_ranks, product_[r].send_offsets);
      if (!P_) continue;
      rank.transfer = message_sizes(transfer_[r].recv_ranks, transfer_[r].recv_offsets);
      rank.transfer.push_back({rank.rank, end - begin});
    }
    return all;
  }
  NextLevel::Times times() override {
    std::vector<comm::Pattern> patterns = product_;
    patterns.insert(patterns.end(), transfer_.begin(), transfer_.end());
    const std::vector<double> seconds = exchange_s(patterns, {}, {});
    return {seconds[0], seconds[1]};
  }
  std::vector<comm::Pattern> product_patterns() const override { return product_; }
  std::vector<double> exchange_s(std::span<const comm::Pattern> patterns, const Riders& riders,
                                 std::optional<Error> failure) override {
    mpi::agree_on_sums(A_->comm(), failure, riders.sums);
    std::vector<double> all(riders.most.begin(), riders.most.end());
    const std::size_t n_ranks = starts_.size() - 1;
    for (std::size_t at = 0; at < patterns.size(); at += n_ranks) {
      all.push_back(seconds(patterns.subspan(at, n_ranks)));
    }
    max(all);
    std::copy_n(all.begin(), riders.most.size(), riders.most.begin());
    all.erase(all.begin(), all.begin() + std::ssize(riders.most));
    return all;
  }
  std::vector<int> ranks_above() const override { return ranks_above_; }
  void sum_on_nodes(std::span<double>) override {}
  bool speaks_for(int) const override { return true; }
  // On one rank they change nothing, but the ledger has them as that of many ranks has.
  void sum(std::span<double> values) override { mpi::sum_in_place(A_->comm(), values); }
  void max(std::span<double> values) override { mpi::max_in_place(A_->comm(), values); }

 private:
  using LevelBase<T>::A_;
  using LevelBase<T>::P_;
  using LevelBase<T>::options_;

  comm::Records<GlobalIndex> ghosts_of(const DistMatrix<T>& M,
                                       std::span<const GlobalIndex> rows) const {
    return matrix::virtual_ghosts(M.on(), rows, starts_);
  }
  double seconds(std::span<const comm::Pattern> patterns) const {
    double least = model::unlimited;
    const model::Machine& machine = *options_.machine;
    for (const comm::Route& route : this->routes()) {
      const auto plans = comm::virtual_plans(patterns, topology_, route);
      least = std::min(least, machine.overheads
                                  ? model::overlapped_forward_s(plans, topology_, machine)
                                  : model::forward_cost(plans, topology_, machine).total());
    }
    return least;
  }

  const mpi::Topology& topology_;
  std::vector<GlobalIndex> starts_;
  std::vector<int> ranks_above_;
  std::vector<comm::Pattern> product_, transfer_;
};

}  // namespace

template <class T>
std::unique_ptr<NextLevel> next_level(const MatrixPointer<T>& A, const MatrixPointer<T>& P,
                                      const Options& options, int level) {
  return std::make_unique<RealLevel<T>>(A, P, options, level);
}

template <class T>
std::unique_ptr<NextLevel> next_virtual_level(const MatrixPointer<T>& A, const MatrixPointer<T>& P,
                                              const Options& options, int level,
                                              std::vector<GlobalIndex> starts,
                                              const ProblemInfo<T>& above) {
  return std::make_unique<VirtualLevel<T>>(A, P, options, level, std::move(starts), above);
}

#define NODEWISE_INSTANTIATE(T)                                                                    \
  template std::unique_ptr<NextLevel> next_level(const MatrixPointer<T>&, const MatrixPointer<T>&, \
                                                 const Options&, int);                             \
  template std::unique_ptr<NextLevel> next_virtual_level(                                          \
      const MatrixPointer<T>&, const MatrixPointer<T>&, const Options&, int,                       \
      std::vector<GlobalIndex>, const ProblemInfo<T>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg
