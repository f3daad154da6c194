// Routes that are chosen by a model: what is predicted, what follows from it, and that all agree.
#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/model/overlapped_cost.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/routing/decision_rule.hpp"
#include "nodewise/routing/network_probe.hpp"
#include "nodewise/routing/route_choice.hpp"
#include "nodewise/routing/route_costs.hpp"

#include "collective_error.hpp"
#include "support.hpp"

namespace nodewise::amg {
namespace amg_route_choice_test {

using comm::Route;
using matrix::DistMatrix;
using testing::HasSubstr;

std::shared_ptr<const DistMatrix<double>> laplacian(const std::shared_ptr<const mpi::Comm>& comm,
                                                    int n) {
  io::GalleryOptions options;
  options.problem = "laplace27";
  options.n = n;
  return std::make_shared<const DistMatrix<double>>(io::generate<double>(comm, options));
}

template <class D>
void expect_same_everywhere(const mpi::Comm& comm, const Choice<D>& choice) {
  const auto number = static_cast<int>(D::family().index_of(choice.name()));
  EXPECT_EQ(mpi::max(comm, number), mpi::min(comm, number)) << choice.name();
}

/// The plans of all ranks, made by each of them.
std::vector<comm::Plan> plans_of_all(const DistMatrix<double>& A, Route route) {
  const mpi::Comm& comm = A.comm();
  comm::Records<GlobalIndex> ghosts;
  ghosts.data = mpi::concatenate_all(comm, A.ghosts());
  for (const auto n : mpi::gather_all(comm, static_cast<Offset>(A.ghosts().size()))) {
    ghosts.offsets.push_back(ghosts.offsets.back() + n);
  }
  const auto patterns = comm::virtual_patterns(A.cols().starts(), ghosts);
  return comm::virtual_plans(patterns, comm.topology(), route);
}

const routing::LevelRoutes both_automatic = {"automatic", "automatic"};

constexpr double no_prices[] = {0, 0, 0};

TEST(RouteChoice, TakesTheCheapestAndSaysWhy) {
  const routing::RouteDecision fewer = routing::cheapest(
      {{"direct", 118e-6, 212}, {"two_step", 50e-6, 30}, {"three_step", 41e-6, 9}}, 1, no_prices);
  EXPECT_EQ(fewer.chosen, "three_step");
  EXPECT_EQ(fewer.reason,
            "predicted 41 us against 118 us direct: 212 messages to other nodes become 9");
  const routing::RouteDecision straight = routing::cheapest(
      {{"direct", 1.5e-3, 4}, {"two_step", 2e-3, 3}, {"three_step", 1.8e-3, 1}}, 1, no_prices);
  EXPECT_EQ(straight.chosen, "direct");
  EXPECT_EQ(straight.reason,
            "predicted 1.5 ms against 1.8 ms three_step: 4 messages to other nodes, 1 then");
  const routing::RouteDecision equal =
      routing::cheapest({{"direct", 2, 4}, {"two_step", 2, 4}}, 1, no_prices);
  EXPECT_EQ(equal.chosen, "direct") << "of equal ones the first";
}

TEST(RouteChoice, TakesAnotherRouteWhereItPays) {
  const std::vector<routing::RoutePrediction> some = {
      {"direct", 2e-3, 8}, {"two_step", 1.5e-3, 4}, {"three_step", 1e-3, 1}};
  const auto chosen_for = [&](double two_step_s, double three_step_s) {
    return routing::cheapest(some, 30, std::vector{0.0, two_step_s, three_step_s});
  };
  EXPECT_EQ(chosen_for(0.029, 0.029).chosen, "three_step");
  EXPECT_EQ(chosen_for(0.001, 0.017).chosen, "two_step") << "cheaper with its planning";
  const routing::RouteDecision dear = chosen_for(0.031, 0.031);
  EXPECT_EQ(dear.chosen, "direct");
  EXPECT_EQ(dear.reason,
            "predicted 2 ms against 1 ms three_step: too little to pay for planning that");
  const routing::RouteDecision little =
      routing::cheapest({{"direct", 1, 8}, {"two_step", 0.95, 4}}, 1e9, no_prices);
  EXPECT_EQ(little.chosen, "direct") << "less than a tenth";
}

// The messages of other routes are not planned to be costed, and what is said of their entries is
// little off (comm_route_test has the bounds): up to `off_routes` of the cost of a vector, and more
// of rows, which are longer.
void expect_costs_of_all_plans(const model::Machine& machine, double off_routes = 0.25) {
  for (const auto& map : test::node_maps(test::test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const auto A = laplacian(comm, 6);
    const auto chosen = routing::choose_routes(A, both_automatic, machine);
    ASSERT_TRUE(chosen.solve && chosen.setup);
    model::ExchangeCostOptions rows;
    rows.bytes_per_entry =  // and its length
        8 + 16.0 * static_cast<double>(A->nnz_global()) / static_cast<double>(A->rows().n_global());
    for (std::size_t r = 0; r < chosen.solve->predictions.size(); ++r) {
      const routing::RoutePrediction& predicted = chosen.solve->predictions[r];
      const auto plans = plans_of_all(*A, predicted.route);
      const double expected = model::forward_cost(plans, comm->topology(), machine).total();
      const double expected_rows =
          model::forward_cost(plans, comm->topology(), machine, rows).total();
      const double off = predicted.route == "direct" ? 1e-12 : off_routes;
      const double off_of_rows = predicted.route == "direct" ? 1e-12 : 1.5 * off_routes;
      EXPECT_NEAR(predicted.seconds, expected, off * expected);
      EXPECT_NEAR(chosen.setup->predictions[r].seconds, expected_rows, off_of_rows * expected_rows);
      std::int64_t most = 0;
      for (const comm::Traffic& t : comm::virtual_traffic(plans, comm->topology())) {
        most = std::max(most, t.messages_off_node);
      }
      EXPECT_EQ(predicted.off_node_messages, most);
    }
  }
}

TEST(RouteChoice, PredictsWhatThePlansOfAllRanksCost) {
  expect_costs_of_all_plans(io::shipped_machine("blue-waters"));
  model::Machine eos = io::shipped_machine("eos");
  expect_costs_of_all_plans(eos);
  // What a rank pays depends on how many others send, rounded up.
  eos.scenario = "alpha_beta_gamma";
  expect_costs_of_all_plans(eos, 0.5);
}

TEST(RouteChoice, LetsLatenciesOverlapWhereOverheadsAreKnown) {
  auto machine = io::shipped_machine("blue-waters");
  machine.overheads = model::MessageOverheads{1e-7, 1e-7, 4e-7, 4e-7, 5e-8};
  for (const auto& map : test::node_maps(test::test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const auto A = laplacian(comm, 6);
    const auto chosen = routing::choose_routes(A, both_automatic, machine);
    if (chosen.solve->predictions.empty()) continue;
    const double direct =
        model::overlapped_forward_s(plans_of_all(*A, "direct"), comm->topology(), machine);
    EXPECT_NEAR(chosen.solve->predictions.front().seconds, direct, 1e-12 * direct);
  }
}

TEST(RouteChoice, IsTheSameOnEveryRankAndPlanned) {
  const auto machine = io::shipped_machine("generic-cluster");
  for (const auto& map : test::node_maps(test::test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const auto A = laplacian(comm, 6);
    const auto chosen = routing::choose_routes(A, both_automatic, machine);
    EXPECT_FALSE(is_automatic(chosen.routes));
    EXPECT_EQ(chosen.for_solve->route(), chosen.routes.solve);
    EXPECT_EQ(chosen.for_setup->route(), chosen.routes.setup);
    EXPECT_FALSE(chosen.solve->reason.empty());
    for (const Route& route : {chosen.routes.solve, chosen.routes.setup}) {
      expect_same_everywhere(*comm, route);
    }
    if (comm->topology().n_nodes() == 1) {
      EXPECT_EQ(chosen.routes.solve, "direct");
      EXPECT_EQ(chosen.solve->reason, "all ranks are on one node");
    }
  }
}

/// Messages between nodes cost `far`, those on a node `near` seconds, their bytes nothing to speak
/// of.
model::Machine machine_of_latencies(double near, double far) {
  model::Machine machine;
  machine.name = "latencies";
  machine.path(model::Locality::same_node)[2] =
      model::MessageParameters{near, 1e12, model::unlimited};
  machine.path(model::Locality::other_node)[2] =
      model::MessageParameters{far, 1e12, model::unlimited};
  return machine;
}

TEST(RouteChoice, FollowsTheMachine) {
  // Every rank needs most of all others: two nodes, all ranks on them in turn.
  const int n_ranks = test::test_comm()->size();
  std::vector<int> node_of_rank;
  for (int r = 0; r < n_ranks; ++r) node_of_rank.push_back(r % 2);
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, node_of_rank);
  const auto A = laplacian(comm, 3);
  const auto cheap_on_node =
      routing::choose_routes(A, both_automatic, machine_of_latencies(1e-9, 1));
  const auto cheap_between =
      routing::choose_routes(A, both_automatic, machine_of_latencies(1, 1e-9));
  EXPECT_EQ(cheap_between.routes.solve, "direct");
  EXPECT_EQ(cheap_between.routes.setup, "direct");
  if (n_ranks < 4) return;  // nobody sends two messages to other nodes
  EXPECT_NE(cheap_on_node.routes.solve, "direct");
  EXPECT_NE(cheap_on_node.routes.setup, "direct");
  const auto& predictions = cheap_on_node.solve->predictions;
  ASSERT_EQ(predictions.size(), 3U);
  EXPECT_GT(predictions[0].off_node_messages, predictions[2].off_node_messages);
}

TEST(RouteChoice, LeavesWhatIsGivenAlone) {
  const auto A = laplacian(test::test_comm(), 5);
  const auto chosen = routing::choose_routes(A, routing::LevelRoutes{"automatic", "two_step"},
                                             io::shipped_machine("generic-cluster"));
  EXPECT_EQ(chosen.routes.solve, "two_step");
  EXPECT_EQ(chosen.for_solve->route(), "two_step");
  EXPECT_EQ(chosen.solve, nullptr);
  ASSERT_NE(chosen.setup, nullptr);
  // The matrix may come with a route of its own.
  const auto routed = std::make_shared<const DistMatrix<double>>(A->with_route("three_step"));
  const auto again =
      routing::choose_routes(routed, both_automatic, io::shipped_machine("generic-cluster"));
  const auto before =
      routing::choose_routes(A, both_automatic, io::shipped_machine("generic-cluster"));
  EXPECT_EQ(again.routes, before.routes);
}

TEST(RouteChoice, GivesTheHierarchyOfTheRoutesItChose) {
  for (const auto& map : test::node_maps(test::test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const auto A = laplacian(comm, 8);
    Options options;
    options.route = "automatic";
    options.machine = std::make_shared<const model::Machine>(machine_of_latencies(1e-9, 1));
    const Hierarchy<double> automatic(A, options);
    std::vector<Route> solve, setup;
    for (const LevelInfo& info : automatic.levels()) {
      ASSERT_TRUE(info.route_choice && info.setup_route_choice);
      EXPECT_EQ(info.route_choice->chosen, info.routes.solve);
      EXPECT_FALSE(is_automatic(info.routes));
      solve.push_back(info.routes.solve);
      setup.push_back(info.routes.setup);
    }
    Options given;
    given.route = ByLevel<Route>(solve);
    given.setup_route = ByLevel<Route>(setup);
    const Hierarchy<double> expected(A, given);
    ASSERT_EQ(automatic.levels().size(), expected.levels().size());
    for (std::size_t l = 0; l < expected.levels().size(); ++l) {
      EXPECT_EQ(automatic.levels()[l].routes, expected.levels()[l].routes);
      EXPECT_EQ(automatic.levels()[l].max_messages, expected.levels()[l].max_messages);
      EXPECT_EQ(expected.levels()[l].route_choice, nullptr);
    }
    const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
    std::vector<double> x(b.size()), y(b.size());
    automatic.apply(b, x);
    expected.apply(b, y);
    EXPECT_EQ(x, y) << "bit for bit";
  }
}

TEST(RouteChoice, PredictsWhatTheOverlappingStagesOfAllRanksCost) {
  model::Machine machine = io::shipped_machine("generic-cluster");
  machine.path(model::Locality::other_node)[0]->injection_bytes_per_s = 1e9;
  machine.scenario = "alpha_beta_gamma";
  for (const auto& map : test::node_maps(test::test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const mpi::Topology& topology = comm->topology();
    const auto A = laplacian(comm, 5)->with_route("three_step");
    const auto stages = comm::sizes_of(A.exchange().plan());
    const routing::ExchangeQuestion question = {stages, 8};
    double most = comm->rank();
    const double seconds =
        routing::exchange_seconds(*comm, machine, routing::MessageCosts::overlapped,
                                  std::span(&question, 1), std::span(&most, 1))
            .front();
    EXPECT_EQ(most, comm->size() - 1);
    const auto plans = plans_of_all(A, "three_step");
    const double expected = model::overlapped_forward_s(plans, topology, machine);
    EXPECT_NEAR(seconds, expected, 1e-12 * expected);
  }
}

/// All that the ledger counted but the times.
std::vector<std::int64_t> counts(const mpi::Comm& comm) {
  std::vector<std::int64_t> result;
  for (const mpi::Account& account : comm.ledger().accounts()) {
    const mpi::Counts& c = account.counts;
    if (c.messages() + c.collectives == 0) continue;
    result.insert(result.end(), {account.level, c.messages(), c.bytes(), c.collectives});
  }
  return result;
}

TEST(RouteChoice, AsksNothingOnOneNode) {
  const std::vector<int> one_node(static_cast<std::size_t>(test::test_comm()->size()), 0);
  std::vector<std::vector<std::int64_t>> of_setup, of_cycle;
  for (const Route route : {"direct", "automatic"}) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, one_node);
    const auto A = laplacian(comm, 6);
    Options options;
    options.route = route;
    options.max_coarse_rows = 20;
    comm->ledger().clear();
    const Hierarchy<double> hierarchy(A, options);
    of_setup.push_back(counts(*comm));
    const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
    std::vector<double> x(b.size());
    comm->ledger().clear();
    hierarchy.apply(b, x);
    of_cycle.push_back(counts(*comm));
    EXPECT_EQ(routing::probed_network(*comm), nullptr);
    const auto& choice = hierarchy.levels().front().route_choice;
    ASSERT_EQ(choice != nullptr, route == "automatic");
    if (choice) {
      EXPECT_EQ(choice->reason, "all ranks are on one node");
    }
  }
  EXPECT_EQ(of_setup[0], of_setup[1]) << "message for message";
  EXPECT_EQ(of_cycle[0], of_cycle[1]);
}

TEST(RouteChoice, LooksAtTheNetworkOnceAndAgrees) {
  // Two nodes, all ranks on them in turn.
  const int n_ranks = test::test_comm()->size();
  std::vector<int> node_of_rank;
  for (int r = 0; r < n_ranks; ++r) node_of_rank.push_back(r % 2);
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, node_of_rank);
  const auto A = laplacian(comm, 4);
  EXPECT_EQ(routing::probed_network(*comm), nullptr);
  const auto chosen = routing::choose_routes(A, both_automatic);
  EXPECT_FALSE(is_automatic(chosen.routes));
  EXPECT_EQ(chosen.for_solve->route(), chosen.routes.solve);
  EXPECT_EQ(chosen.for_setup->route(), chosen.routes.setup);
  for (const Route& route : {chosen.routes.solve, chosen.routes.setup}) {
    expect_same_everywhere(*comm, route);
  }
  if (n_ranks <= 2) {  // nobody sends two messages to other nodes
    EXPECT_EQ(routing::probed_network(*comm), nullptr);
    EXPECT_TRUE(chosen.solve->basis.empty());
    return;
  }
  const model::Machine* machine = routing::probed_network(*comm);
  ASSERT_NE(machine, nullptr);
  model::check(*machine);
  EXPECT_THAT(chosen.solve->basis, HasSubstr("a short look at the network: "));
  EXPECT_EQ(chosen.solve->predictions.front().route, "direct");
  const double latency_s = machine->parameters(model::Locality::other_node, 8).latency_s;
  EXPECT_EQ(mpi::max(*comm, latency_s), latency_s);
  EXPECT_EQ(mpi::min(*comm, latency_s), latency_s);
  comm->ledger().clear();
  EXPECT_EQ(&routing::probe_network(*comm), machine);
  EXPECT_TRUE(counts(*comm).empty());
}

TEST(TransportChoice, TakesTheQuickestByATenth) {
  using comm::Transport;
  const routing::TransportDecision quick = routing::quickest(
      {{"point_to_point", 5e-6}, {"persistent", 4.4e-6}, {"shared_memory", 4.1e-6}});
  EXPECT_EQ(quick.chosen, "shared_memory");
  EXPECT_EQ(quick.reason, "4.1 us against 5 us point_to_point in 5 exchanges each");
  const routing::TransportDecision close =
      routing::quickest({{"point_to_point", 5e-6}, {"persistent", 4.6e-6}});
  EXPECT_EQ(close.chosen, "point_to_point");
  EXPECT_THAT(close.reason, HasSubstr("a tenth would have to be saved"));
  EXPECT_EQ(routing::quickest({{"point_to_point", 1}}).chosen, "point_to_point");
}

TEST(TransportChoice, IsTheSameOnEveryRank) {
  const int n_ranks = test::test_comm()->size();
  std::vector<int> node_of_rank;
  for (int r = 0; r < n_ranks; ++r) node_of_rank.push_back(r / 2);
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, node_of_rank);
  const auto A = laplacian(comm, 5);
  Options options;
  options.transport = "automatic";
  options.expected_solves = routing::solves_for_a_trial;
  options.max_levels = 2;
  options.max_coarse_rows = 20;
  const Hierarchy<double> hierarchy(A, options);
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    const LevelInfo& info = hierarchy.levels()[l];
    ASSERT_NE(info.transport_choice, nullptr);
    expect_same_everywhere(*comm, info.transport_choice->chosen);
    EXPECT_EQ(info.routes.solve_transport, info.transport_choice->chosen);
    EXPECT_EQ(hierarchy.matrix(l)->transport(), info.transport_choice->chosen);
    EXPECT_FALSE(info.transport_choice->reason.empty());
    if (n_ranks == 1) {
      EXPECT_TRUE(info.transport_choice->trials.empty());
    }
  }
  const Hierarchy<double> plain(A, [&] {
    Options o = options;
    o.transport = {};
    return o;
  }());
  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
  std::vector<double> x(b.size()), y(b.size());
  hierarchy.apply(b, x);
  plain.apply(b, y);
  EXPECT_EQ(x, y) << "bit for bit";
}

TEST(TransportChoice, TriesNothingForFewSolves) {
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, test::test_comm()->topology());
  const auto A = laplacian(comm, 5);
  const auto trials_in_ledger = [&] {
    const auto accounts = comm->ledger().accounts();
    return std::any_of(accounts.begin(), accounts.end(), [](const mpi::Account& account) {
      return account.operation == "transport_trial";
    });
  };
  for (const int solves : {1, routing::solves_for_a_trial - 1, routing::solves_for_a_trial}) {
    const auto persistent =
        std::make_shared<const matrix::DistMatrix<double>>(A->with_route("direct", "persistent"));
    const auto chosen = routing::choose_transport(persistent, solves);
    EXPECT_EQ(chosen.A->transport(), chosen.decision->chosen);
    const bool tried = solves == routing::solves_for_a_trial && comm->size() > 1;
    EXPECT_EQ(!chosen.decision->trials.empty(), tried);
    EXPECT_EQ(trials_in_ledger(), solves >= routing::solves_for_a_trial);
    if (solves < routing::solves_for_a_trial) {
      EXPECT_EQ(chosen.decision->chosen, "point_to_point");
      EXPECT_EQ(chosen.decision->reason, "a trial pays from 25 expected solves on");
    }
  }
}

TEST(RouteChoice, PlansMoreForMoreSolves) {
  const std::vector<routing::RoutePrediction> predictions = {{"direct", 4e-6, 4},
                                                             {"two_step", 3e-6, 2}};
  const std::vector<double> planning_s = {0, 1e-4};
  EXPECT_EQ(routing::cheapest(predictions, routing::exchanges_of_a_solve, planning_s).chosen,
            "direct");
  EXPECT_EQ(routing::cheapest(predictions, 4 * routing::exchanges_of_a_solve, planning_s).chosen,
            "two_step");
}

TEST(RouteChoice, RefusesAMachineThatIsNone) {
  const auto A = laplacian(test::test_comm(), 4);
  const auto refusal = [&](const std::function<void()>& work) {
    return test::expect_same_error(A->comm(), ErrorCode::invalid_argument, work);
  };
  model::Machine broken = machine_of_latencies(1, 1);
  broken.path(model::Locality::other_node)[2]->rate_bytes_per_s = -1;
  EXPECT_THAT(refusal([&] { (void)routing::choose_routes(A, both_automatic, broken); }),
              HasSubstr("a rate must be positive"));
  EXPECT_THAT(refusal([&] { (void)A->with_route("automatic"); }),
              HasSubstr("automatic is no route"));
  EXPECT_THAT(refusal([&] { (void)A->with_route("direct", "automatic"); }),
              HasSubstr("automatic is no transport"));
}

}  // namespace amg_route_choice_test
}  // namespace nodewise::amg
