// All that a prediction finds: what `nodewise predict` prints.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/comm/overlap.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/model/scenario.hpp"
#include "nodewise/partition/partition_decision.hpp"
#include "nodewise/partition/placement_method.hpp"

namespace nodewise::model {
struct CostTerm;
struct GpuTransport;
}  // namespace nodewise::model

namespace nodewise::predict {

/// The exchanges of a level that are predicted.
enum class Exchanged {
  product,             ///< with the level's matrix: a sweep, a residual
  restriction,         ///< to the next level
  prolongation,        ///< from the next level
  splitting,           ///< of the setup, as all that follow: the rounds of independent sets
  spectral_radius,     ///< products with the level's matrix that estimate its spectral radius
  row_scales,          ///< square roots of the diagonal, which l1 forms weigh couplings by
  interpolation,       ///< coarse numbers and links of ghosts; the tentative prolongator
  interpolation_rows,  ///< rows of the interpolation on their way to A P of the Galerkin product
  product_rows,        ///< partial rows of the Galerkin product on their way to their owners
  requests,            ///< who needs what of the new matrices
  redistribution       ///< what is known of the next level besides, on its way to fewer ranks
};
inline constexpr std::array<Exchanged, 11> all_exchanged = {
    Exchanged::product,       Exchanged::restriction,        Exchanged::prolongation,
    Exchanged::splitting,     Exchanged::spectral_radius,    Exchanged::row_scales,
    Exchanged::interpolation, Exchanged::interpolation_rows, Exchanged::product_rows,
    Exchanged::requests,      Exchanged::redistribution};
/// Those of the setup, each once on a level.
inline constexpr std::array<Exchanged, 8> setup_exchanged = {
    Exchanged::splitting,     Exchanged::spectral_radius,    Exchanged::row_scales,
    Exchanged::interpolation, Exchanged::interpolation_rows, Exchanged::product_rows,
    Exchanged::requests,      Exchanged::redistribution};
const char* to_string(Exchanged exchanged) noexcept;

/// One exchange over one route, or one collective by one algorithm.
struct ExchangeTime {
  model::ExchangeCost formula;  ///< seconds of messages by the closed formulas, term by term
  /// Seconds of copies from GPUs and to them, for whoever reckons; 0 where nothing lies there.
  double copies_s = 0;
  /// Seconds by scenario, in the order of Prediction::scenarios, copies among them.
  std::vector<double> simulated;
  std::int64_t max_off_node = 0;  ///< messages to other nodes of the rank that sends most
  std::int64_t messages = 0;      ///< of all ranks together
  std::int64_t bytes = 0;         ///< likewise
  std::int64_t waits = 0;         ///< stages with messages between nodes, of the rank that has most

  double low() const;  ///< the ends of the band that the scenarios span
  double high() const;
  ExchangeTime& add(const ExchangeTime& other, double times = 1);
  void add_copies(double copies_s);
};

/// How often one cycle does what, on a level.
struct Visits {
  double products = 0;   ///< exchanges of the level's vectors
  double passes = 0;     ///< over the level's matrix
  double transfers = 0;  ///< to and from the next level
  double solves = 0;     ///< directly, on the last level
};

/// An algorithm for a collective.
enum class CollectiveKind { plain, node_aware };

/// One level on the virtual ranks.
struct PredictedLevel {
  GlobalIndex rows = 0;
  GlobalIndex nonzeros = 0;
  int active_ranks = 0;           ///< that own rows
  int copies = 1;                 ///< ranks that have the whole level, if several do
  GlobalIndex most_rows = 0;      ///< of a rank
  GlobalIndex most_nonzeros = 0;  ///< of a rank
  Visits visits;
  /// By Exchanged, then by route. Only `product` on the last level.
  std::array<std::vector<ExchangeTime>, all_exchanged.size()> times;
  /// On a last level that is solved directly: gathering the right-hand side, by CollectiveKind.
  std::vector<ExchangeTime> gathering;
  /// Likewise the entries of its matrix, once, in the setup.
  std::vector<ExchangeTime> matrix_gathering;
  std::optional<int> splitting_rounds;
  std::int64_t setup_reductions = 0;  ///< agreements and sums of the setup
  double work_s = 0;  ///< of arithmetic in one cycle, on the rank with most; 0: not known
  /// The multiplications and additions of the Galerkin product that makes the next level, on the
  /// rank with most, and their seconds; 0: not known.
  double galerkin_flops = 0;
  double setup_work_s = 0;
  /// Of that rank's nonzeros, those in its own columns: arithmetic that needs no message.
  double own_part = 1;
  double slowdown_beside = 1;         ///< model::slowdown_beside()
  std::vector<double> hidden_by_mpi;  ///< by route: model::hidden_by_mpi() of a product
  /// Why its rows were moved to fewer ranks, or not; null where costs did not decide.
  std::shared_ptr<const amg::RedistributionDecision> redistribution_choice;
  /// Likewise, why its matrix lost entries, or not.
  std::shared_ptr<const amg::sparsify::SparsityDecision> sparsity_choice;

  const std::vector<ExchangeTime>& of(Exchanged exchanged) const {
    return times[static_cast<std::size_t>(exchanged)];
  }
  /// What a cycle exchanges here, over one route and gathering in one way.
  ExchangeTime of_cycle(std::size_t route, CollectiveKind kind) const;
  /// What the setup exchanges here, reductions of the given cost among it.
  ExchangeTime of_setup(std::size_t route, CollectiveKind kind,
                        const ExchangeTime& reduction) const;
};

/// A measure by which times are compared: number 0 is the formulas', k + 1 that of scenario k.
double seconds(const ExchangeTime& time, std::size_t measure);
inline constexpr std::size_t by_formula = 0;
inline constexpr std::size_t by_simulation = 1;  ///< of the base

/// The choice of routes that a measure finds cheapest.
struct BestRoutes {
  std::vector<std::size_t> of_level;  ///< places in Prediction::routes
  CollectiveKind gathering = CollectiveKind::plain;
};

/// One number of ranks.
struct Prediction {
  std::vector<int> ranks_per_node;
  int threads_per_rank = 1;
  std::vector<comm::Route> routes;
  std::vector<const model::CostTerm*> terms;  ///< that the formulas charge on this machine
  std::vector<std::string> scenarios;         ///< the first is the base
  std::vector<PredictedLevel> levels;
  std::vector<ExchangeTime> allreduce;  ///< of one number, by CollectiveKind
  std::int64_t setup_reductions = 0;    ///< of the setup that belong to no level
  amg::Redistribution redistribution = "none";
  std::optional<partition::PartitionDecision> partition_decision;
  std::optional<partition::PlacementGain> placement_gain;
  bool levels_are_exact = false;               ///< see VirtualCounts
  std::vector<std::string> left_out_of_setup;  ///< operations of its ledger that are not counted

  int n_ranks() const;
  double work_s() const;
  double setup_work_s() const;
  /// The exchanges of a cycle, always over one route, with plain collectives.
  ExchangeTime cycle(std::size_t route) const;
  BestRoutes best(std::size_t measure) const;
  ExchangeTime cycle(const BestRoutes& routes) const;
  /// Seconds of a cycle over these routes, arithmetic included, in a mode for all levels, or in
  /// that which each level is quickest in (automatic): of each level all exchanges overlap all own
  /// parts. On one thread task is naive.
  double hybrid_cycle_s(const BestRoutes& routes, std::size_t measure, comm::Overlap mode) const;
  /// Whether every scenario agrees with the base on the cheapest route of a level.
  bool is_certain(std::size_t level) const;
  /// The level that costs a cycle most over these routes; 0 where none costs anything.
  std::size_t dearest_level(const BestRoutes& routes, std::size_t measure) const;
  /// The same of the setup, but for what is left out.
  ExchangeTime setup(std::size_t route) const;
  BestRoutes best_for_setup(std::size_t measure) const;
  ExchangeTime setup(const BestRoutes& routes) const;
  ExchangeTime setup_of_level(std::size_t level, std::size_t route, CollectiveKind kind) const;
};

/// Always the same route, and plain collectives.
BestRoutes one_route(const Prediction& prediction, std::size_t route);

/// What one number of ranks does, arithmetic on the rank with most and exchanges.
struct ScalingParts {
  double work_s = 0;
  ExchangeTime first_route;  ///< always over the first route named: `direct`, unless left out
  ExchangeTime best_by_formula, best_by_simulation;

  /// Arithmetic and exchanges, one after the other, by measure 0 or 1.
  double seconds_of_first(std::size_t measure) const;
  double seconds_of_best(std::size_t measure) const;
};

/// A point of the curve of strong scaling, by formula and by simulation of the base.
struct ScalingPoint {
  int ranks = 0;
  int nodes = 0;
  double rows_of_a_rank = 0;  ///< on average
  ScalingParts cycle;
  ScalingParts setup;  ///< with the arithmetic of its Galerkin products
};
/// Where the curve of the cycle is lowest; without points 0.
std::size_t fastest(const std::vector<ScalingPoint>& curve, bool best, std::size_t measure);

/// The exchanges of a cycle whose vectors lie on GPUs.
struct GpuPrediction {
  /// One way, over every route. The setup, which is made on the host, is not in it.
  struct Way {
    const model::GpuTransport* transport;
    Prediction prediction;
  };
  std::vector<Way> ways;                ///< that the machine tells of
  std::vector<std::string> unanswered;  ///< why it does not of others: name and reason
  int gpus_per_node = 1;
  /// From how many messages on copies take less time than messages straight from GPU to GPU, by
  /// level, where messages are as long as those of its product are on average.
  struct CopiesWin {
    double message_bytes = 0;  ///< 0: there are no messages
    int messages = 0;          ///< 0: never, or not known
    const model::GpuTransport* transport = nullptr;
  };
  std::vector<CopiesWin> copies_win;

  /// A way and a route, by their places.
  struct Pair {
    std::size_t way = 0;
    std::size_t route = 0;
  };
  struct Best {
    std::vector<Pair> of_level;
    CollectiveKind gathering = CollectiveKind::plain;
  };
  /// The prediction by the way that every machine with GPUs has (model::plain_gpu_transport).
  const Prediction& plain() const;
  ExchangeTime of_cycle(std::size_t level, const Pair& pair, CollectiveKind kind) const;
  Best best(std::size_t measure) const;
  ExchangeTime cycle(const Best& chosen) const;
};

/// The machine whose costs are taken.
struct PredictedMachine {
  std::string name;
  std::string source;
  bool measured = false;
  bool knows_overheads = false;   ///< of messages; otherwise they are assumed
  bool knows_work = false;        ///< times of arithmetic
  bool knows_allreduces = false;  ///< measured ones, by which those predicted are scaled
  std::array<double, 2> allreduce_scale = {1, 1};  ///< by CollectiveKind, for one number
  Choice<model::Scenario> scenario;                ///< what messages between nodes are charged
  std::vector<std::string>
      unknown;  ///< of these, what the machine's file does not tell: they are 0
  std::vector<std::string> left_out;  ///< keys of the machine's file that no prediction takes
};

/// All that is predicted.
struct Result {
  PredictedMachine machine;
  Prediction prediction;              ///< of vectors on the host, and of the setup
  std::optional<GpuPrediction> gpu;   ///< of the same cycle, where vectors lie on GPUs
  std::vector<ScalingPoint> scaling;  ///< for each of the numbers of ranks that were asked for
  double setup_s = 0;                 ///< that making hierarchies took
  double predict_s = 0;
};

}  // namespace nodewise::predict
