// Predictions and inspections as functions of the library.
#include "nodewise/predict/predict.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/io/gallery.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/predict/galerkin_work.hpp"
#include "nodewise/report/inspect_json.hpp"
#include "nodewise/report/predict_json.hpp"
#include "nodewise/solver/method_choice.hpp"

#include "collective_error.hpp"
#include "support.hpp"

namespace nodewise::predict {
namespace predict_test {

using test::test_comm;

/// On this rank alone.
Problem small_problem() {
  const auto self = mpi::Comm::create(MPI_COMM_SELF);
  return {std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(self, {.problem = "laplace5", .n = 16}))};
}

Request request_for(int ranks, int per_node) {
  PredictOptions options;
  options.machine = "generic-cluster";
  options.rank_counts = "4," + std::to_string(ranks);
  VirtualOptions virtual_options;
  virtual_options.virtual_ranks = ranks;
  run::PlacementOptions placement;
  placement.ranks_per_node = per_node;
  return make_request(options, virtual_options, placement);
}

TEST(Predict, CyclesAndSetupsCostLessOverTheBestRoutes) {
  std::vector<int> begun;
  Progress progress;
  progress.begin = [&](int n_ranks) { begun.push_back(n_ranks); };
  const Result result = predict(small_problem(), request_for(32, 8), progress);
  EXPECT_EQ(begun, (std::vector{32, 4}));
  const Prediction& p = result.prediction;
  EXPECT_EQ(p.n_ranks(), 32);
  EXPECT_EQ(p.ranks_per_node.size(), 4U);
  for (const std::size_t measure : {by_formula, by_simulation}) {
    const double best = seconds(p.cycle(p.best(measure)), measure);
    const double best_setup = seconds(p.setup(p.best_for_setup(measure)), measure);
    EXPECT_GT(best, 0);
    for (std::size_t route = 0; route < p.routes.size(); ++route) {
      EXPECT_LE(best, seconds(p.cycle(route), measure) * (1 + 1e-12));
      EXPECT_LE(best_setup, seconds(p.setup(route), measure) * (1 + 1e-12));
    }
    const std::size_t dearest = p.dearest_level(p.best(measure), measure);
    const BestRoutes routes = p.best(measure);
    double sum = 0;
    double most = 0;
    for (std::size_t l = 0; l < p.levels.size(); ++l) {
      const double t = seconds(p.levels[l].of_cycle(routes.of_level[l], routes.gathering), measure);
      sum += t;
      most = std::max(most, t);
      if (l == dearest) {
        EXPECT_GE(t, most);
      } else if (l > dearest) {
        EXPECT_LE(t, most);
      }
    }
    EXPECT_NEAR(sum, best, 1e-12 * sum);
  }
  EXPECT_NE(report::predict_json(result).find("\"best_by_formula\""), std::string::npos);
  ASSERT_EQ(result.scaling.size(), 2U);
  EXPECT_EQ(result.scaling[0].ranks, 4);
  EXPECT_EQ(result.scaling[1].ranks, 32);
  EXPECT_EQ(seconds(result.scaling[1].cycle.first_route, by_formula),
            seconds(p.cycle(0), by_formula));
}

/// Successive ranks on nodes of 2, 1, 3, 2 ranks.
std::vector<int> uneven_nodes(int n_ranks) {
  std::vector<int> nodes;
  for (const int size : {2, 1, 3, 2})
    nodes.insert(nodes.end(), size, nodes.empty() ? 0 : nodes.back() + 1);
  nodes.resize(static_cast<std::size_t>(n_ranks));
  return nodes;
}

/// What all ranks send in a product with a level's matrix, going straight.
comm::Traffic sent_in_product(const amg::Hierarchy<double>& hierarchy, std::size_t level) {
  const auto A = hierarchy.matrix(level)->with_route(comm::Route("direct"));
  const comm::Traffic here =
      comm::traffic(A.exchange().plan(), A.comm().topology(), A.comm().rank());
  std::int64_t sums[] = {here.messages_on_node, here.messages_off_node, here.entries_on_node,
                         here.entries_off_node};
  mpi::sum_in_place<std::int64_t>(*test_comm(), sums);
  return {.messages_on_node = sums[0],
          .messages_off_node = sums[1],
          .entries_on_node = sums[2],
          .entries_off_node = sums[3]};
}

// Three points in a row, two coarse ones; the middle one is interpolated from both.
TEST(Predict, CountsTheProductsOfGalerkin) {
  kernels::Csr<double> A(3, 3), P(3, 2);
  A.row_ptr = {0, 2, 5, 7};
  A.cols = {0, 1, 0, 1, 2, 1, 2};
  P.row_ptr = {0, 1, 3, 4};
  P.cols = {0, 0, 1, 1};
  // A P has rows of 2, 2 and 2 entries, from 1 + 2, 1 + 2 + 1 and 2 + 1 products; P^T (A P) takes
  // 1, 2 and 1 times 2 more.
  const std::vector<GlobalIndex> alone = {0, 3}, two = {0, 1, 3}, with_empty = {0, 0, 2, 3};
  EXPECT_EQ(galerkin_flops(A, P, alone), 2 * (3 + 4 + 3 + 2 + 4 + 2));
  EXPECT_EQ(galerkin_flops(A, P, two), 2 * (4 + 3 + 4 + 2));
  EXPECT_EQ(galerkin_flops(A, P, with_empty), 2 * (3 + 4 + 2 + 4));
}

TEST(Predict, ScalesTheSetupToo) {
  Request request = request_for(32, 8);
  const Result result = predict(small_problem(), request);
  const Prediction& p = result.prediction;
  ASSERT_TRUE(result.machine.knows_work);
  EXPECT_GT(p.levels.front().setup_work_s, 0);
  EXPECT_EQ(p.levels.back().setup_work_s, 0);  // makes no level
  for (const ScalingPoint& point : result.scaling) {
    EXPECT_GT(point.setup.work_s, 0) << point.ranks;
    EXPECT_LE(point.setup.seconds_of_best(by_formula), point.setup.seconds_of_first(by_formula));
  }
  EXPECT_EQ(result.scaling.back().setup.work_s, p.setup_work_s());
  EXPECT_EQ(seconds(result.scaling.back().setup.first_route, by_formula),
            seconds(p.setup(0), by_formula));
}

// The default of solves, with messages between nodes that are dear enough for levels to move.
TEST(Predict, CyclesOverlapInTheLongerOfBoth) {
  Request request = request_for(32, 8);
  const Result alone = predict(small_problem(), request);
  const auto in = [](const Prediction& p, comm::Overlap mode) {
    return p.hybrid_cycle_s(p.best(by_formula), by_formula, mode);
  };
  const Prediction& p = alone.prediction;
  ASSERT_TRUE(alone.machine.knows_work);
  const double sum = p.work_s() + seconds(p.cycle(p.best(by_formula)), by_formula);
  EXPECT_NEAR(in(p, comm::Overlap::none), sum, 1e-12 * sum);
  EXPECT_LE(in(p, comm::Overlap::naive), sum);
  EXPECT_EQ(in(p, comm::Overlap::task), in(p, comm::Overlap::naive));  // one thread
  for (const PredictedLevel& level : p.levels) {
    EXPECT_GE(level.own_part, 0);
    EXPECT_LE(level.own_part, 1);
  }
  // Rows of 8 in a grid of 16 x 16 on 32 ranks: five entries a row, of which the two to the rows
  // of the grid above and below are those of others, and one of each two ends.
  EXPECT_NEAR(p.levels[0].own_part, (8 + 14.0) / (5 * 8 - 1), 1e-12);

  request.threads = 4;
  const Prediction threaded = predict(small_problem(), request).prediction;
  double task = 0;
  const BestRoutes best = threaded.best(by_formula);
  for (std::size_t l = 0; l < threaded.levels.size(); ++l) {
    const PredictedLevel& level = threaded.levels[l];
    const double exchange = seconds(level.of_cycle(best.of_level[l], best.gathering), by_formula);
    task += std::max(exchange, level.slowdown_beside * level.own_part * level.work_s) +
            (1 - level.own_part) * level.work_s;
  }
  EXPECT_NEAR(in(threaded, comm::Overlap::task), task, 1e-12 * task);
  EXPECT_LE(in(threaded, comm::Overlap::automatic), in(threaded, comm::Overlap::naive));
}

TEST(Predict, LevelsAreOnTheRanksThatASolveWouldChoose) {
  const std::vector<int> nodes = uneven_nodes(test_comm()->size());
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, nodes);
  Request request = request_for(test_comm()->size(), 1);
  request.scaling.clear();
  request.machine.topology = mpi::Topology(nodes);
  for (auto& parameters : request.costs.path(model::Locality::other_node)) {
    if (parameters) parameters->latency_s *= 100;
  }
  for (const char* problem : {"laplace5", "rotated_fe"}) {
    SCOPED_TRACE(problem);
    const io::GalleryOptions gallery = {.problem = problem, .n = 24};
    const auto make = [&](const std::shared_ptr<const mpi::Comm>& on) {
      return std::make_shared<const matrix::DistMatrix<double>>(io::generate<double>(on, gallery));
    };
    Problem alone = {make(mpi::Comm::create(MPI_COMM_SELF))};
    alone.options.set("max_interpolation_entries",
                      0);  // which of equal weights is dropped may differ
    alone.options.max_coarse_rows = 8;
    alone.options.expected_solves = 50;
    alone.chooses_redistribution = true;
    amg::Options options = alone.options;
    options.redistribution = solver::usual_redistribution(comm->topology());
    options.machine = std::make_shared<const model::Machine>(request.costs);
    options.route = comm::Route("automatic");
    const amg::Hierarchy<double> real(make(comm), options);
    const Prediction p = predict(alone, request).prediction;
    EXPECT_EQ(p.redistribution.name(), comm->topology().n_nodes() > 1 ? "automatic" : "none");
    ASSERT_EQ(p.levels.size(), real.levels().size());
    for (std::size_t l = 0; l < p.levels.size(); ++l) {
      EXPECT_EQ(p.levels[l].active_ranks, real.levels()[l].active_ranks);
      EXPECT_EQ(p.levels[l].copies, real.levels()[l].copies);
      const comm::Traffic sent = sent_in_product(real, l);
      const ExchangeTime& product = p.levels[l].of(Exchanged::product)[0];
      EXPECT_EQ(product.messages, sent.messages_on_node + sent.messages_off_node);
      EXPECT_EQ(product.bytes, 8 * (sent.entries_on_node + sent.entries_off_node));
    }
    if (test_comm()->size() > 2) {
      EXPECT_LT(p.levels[1].active_ranks, p.levels[0].active_ranks);
    }
  }
}

/// Collective. What all ranks sent in an operation of the finest level.
comm::Traffic sent_in(const mpi::Comm& comm, const std::string& operation) {
  std::int64_t sums[] = {0, 0, 0};
  for (const mpi::Account& account : comm.ledger().accounts()) {
    if (account.operation != operation || account.level != 0) continue;
    sums[0] += account.counts.messages_on_node;
    sums[1] += account.counts.messages_off_node;
    sums[2] += account.counts.bytes();
  }
  mpi::sum_in_place<std::int64_t>(comm, sums);
  return {.messages_on_node = sums[0], .messages_off_node = sums[1], .entries_on_node = sums[2]};
}

TEST(Predict, CyclesGoToCopiesAsRealOnesDo) {
  const std::vector<int> nodes = uneven_nodes(test_comm()->size());
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, nodes);
  Request request = request_for(test_comm()->size(), 1);
  request.scaling.clear();
  request.machine.topology = mpi::Topology(nodes);
  struct Case {
    const char *problem, *method;
  };
  for (const Case& c : {Case{"rotated_fe", "classical"}, Case{"laplace9", "aggregation"},
                        Case{"convection2d", "air"}}) {
    SCOPED_TRACE(c.method);
    const io::GalleryOptions gallery = {.problem = c.problem, .n = 24};
    const auto make = [&](const std::shared_ptr<const mpi::Comm>& on) {
      return std::make_shared<const matrix::DistMatrix<double>>(io::generate<double>(on, gallery));
    };
    Problem alone = {make(mpi::Comm::create(MPI_COMM_SELF))};
    alone.options.max_coarse_rows = 8;
    alone.options.set("method", c.method);
    if (alone.options.method->has_coarse_points) {
      alone.options.set("coarsening", "pmis").set("max_interpolation_entries", 0);
    } else {
      alone.options.set("aggregates", "independent_set");
    }
    alone.options.set("redistribution", "ranks").set("redundant", true);
    const Prediction p = predict(alone, request).prediction;
    ASSERT_GT(p.levels.size(), 1U);
    EXPECT_EQ(p.levels[1].copies, comm->topology().n_nodes());
    for (std::size_t k = 0; k < p.routes.size(); ++k) {
      SCOPED_TRACE(p.routes[k].name());
      amg::Options options = alone.options;
      options.route = p.routes[k];
      const amg::Hierarchy<double> real(make(comm), options);
      ASSERT_EQ(real.levels().size(), p.levels.size());
      comm->ledger().clear();
      std::vector<double> b(static_cast<std::size_t>(real.layout().n_local()), 1), x(b.size());
      real.apply(b, x);
      for (const Exchanged e : {Exchanged::restriction, Exchanged::prolongation}) {
        const comm::Traffic sent = sent_in(*comm, to_string(e));
        const ExchangeTime& time = p.levels[0].of(e)[k];
        EXPECT_EQ(time.messages, sent.messages_on_node + sent.messages_off_node) << to_string(e);
        EXPECT_EQ(time.bytes, sent.entries_on_node) << to_string(e);
        if (e == Exchanged::prolongation && comm->topology().n_nodes() > 1) {
          EXPECT_EQ(time.max_off_node, 0);
          EXPECT_EQ(sent.messages_off_node, 0);
        }
      }
      for (std::size_t l = 1; l < p.levels.size(); ++l) {
        EXPECT_EQ(p.levels[l].of_cycle(k, CollectiveKind::plain).messages, 0);
      }
    }
  }
}

TEST(Predict, LevelsOfNodesThatAreNotFilledInOrderStay) {
  EXPECT_EQ(usual_redistribution(mpi::Topology(std::vector{0, 0, 1, 1})).name(), "automatic");
  EXPECT_EQ(usual_redistribution(mpi::Topology(std::vector{0, 0, 0})).name(), "none");
  EXPECT_EQ(usual_redistribution(mpi::Topology(std::vector{0, 1, 0, 1})).name(), "none");
}

TEST(Predict, WhatDoesNotFitIsRefusedByTheNameOfItsOption) {
  const auto message_of = [](auto&& work) {
    const std::optional<Error> error = test::error_of(work);
    EXPECT_TRUE(error && error->code() == ErrorCode::invalid_argument);
    return error ? std::string(error->what()) : "";
  };
  EXPECT_NE(message_of([] { request_for(32, 0); }).find("ranks_per_node"), std::string::npos);
  amg::Options options;
  options.cycle = "k";
  EXPECT_NE(message_of([&] { check_predictable(options); }).find("cycle"), std::string::npos);
  VirtualOptions ranks;
  ranks.virtual_ranks = 3;
  run::PlacementOptions placement;
  placement.node_map = "0,1";
  const std::string message = message_of([&] { virtual_machine(ranks, placement); });
  EXPECT_NE(message.find("node_map"), std::string::npos);
  EXPECT_EQ(message.find("--"), std::string::npos);
}

TEST(Inspect, DescribesAMatrixAndItsHierarchyOnAnyNumberOfRanks) {
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(test_comm(), {.problem = "laplace5", .n = 16}));
  const Inspection found = inspect({A});
  EXPECT_EQ(found.statistics.columns, 256);
  EXPECT_EQ(found.statistics.longest_row, 5);
  EXPECT_EQ(found.statistics.dominant_rows, 256);
  EXPECT_EQ(found.statistics.zero_diagonals, 0);
  ASSERT_GE(found.levels.size(), 2U);
  EXPECT_EQ(found.levels[0].rows, 256);
  EXPECT_EQ(found.level_statistics.size(), found.levels.size());
  EXPECT_GT(found.operator_complexity, 1);
  EXPECT_FALSE(found.counted);
  EXPECT_NE(report::inspect_json(found).find("\"operator_complexity\""), std::string::npos);
}

TEST(Inspect, CountsWhatVirtualRanksSend) {
  const VirtualMachine machine = {mpi::Topology(std::vector{0, 0, 1, 1}), {comm::Route("direct")}};
  const Inspection found = inspect(small_problem(), &machine);
  ASSERT_TRUE(found.counted);
  EXPECT_EQ(found.counted->n_ranks(), 4);
  ASSERT_EQ(found.counted->levels.size(), found.levels.size());
  // Ranks have four of the sixteen lines each, and send one line to each neighbour.
  const RouteVolumes& product = found.counted->levels[0].of(CountedExchange::product)[0];
  EXPECT_EQ(product.off_node.messages, 2);
  EXPECT_EQ(product.off_node.bytes, 2 * 16 * 8);
  EXPECT_EQ(product.on_node.messages, 4);
}

TEST(Inspect, SaysWhyAMatrixHasNoHierarchy) {
  const auto self = mpi::Comm::create(MPI_COMM_SELF);
  const comm::Layout rows = comm::Layout::uniform(self, 2);
  const comm::Layout cols = comm::Layout::uniform(self, 3);
  matrix::RowBlock<double> none;
  none.rows = kernels::Csr<double>(2, 3);
  none.n_owned_cols = 3;
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(rows, cols, std::move(none));
  const Inspection found = inspect({A});
  EXPECT_NE(found.no_hierarchy.find("not square"), std::string::npos) << found.no_hierarchy;
  EXPECT_TRUE(found.levels.empty());
  EXPECT_EQ(found.statistics.empty_rows, 2);
}

}  // namespace predict_test
}  // namespace nodewise::predict
