// Hierarchies on virtual ranks: what they would send is what real ranks send.
#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/setup_messages.hpp"
#include "nodewise/amg/virtual_ranks.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"
#include "nodewise/mpi/ledger.hpp"

#include "amg_support.hpp"

namespace nodewise::amg {
namespace {

using comm::Route;
using comm::Traffic;
using io::Problem;
using matrix::DistMatrix;
using matrix::Layout;
using test::DenseMatrix;
using test::test_comm;

using Starts = std::vector<GlobalIndex>;

constexpr Route all_routes[] = {Route::direct, Route::two_step, Route::three_step};

Starts starts_of(const Layout& layout) {
  return {layout.starts().begin(), layout.starts().end()};
}

/// What virtual ranks send in a product with a serial matrix.
std::vector<Traffic> sent_virtually(const kernels::Csr<double>& A, const Starts& rows,
                                    const Starts& cols, const mpi::Topology& topology,
                                    Route route) {
  auto patterns = comm::virtual_patterns(cols, matrix::virtual_ghosts(A, rows, cols));
  return comm::virtual_traffic(comm::virtual_plans(std::move(patterns), topology, route), topology);
}

void expect_equal(const Traffic& got, const Traffic& expected) {
  EXPECT_EQ(got.messages_on_node, expected.messages_on_node);
  EXPECT_EQ(got.messages_off_node, expected.messages_off_node);
  EXPECT_EQ(got.entries_on_node, expected.entries_on_node);
  EXPECT_EQ(got.entries_off_node, expected.entries_off_node);
}

Traffic real_traffic(const DistMatrix<double>& A) {
  return comm::traffic(A.exchange().plan(), A.comm().topology(), A.comm().rank());
}

/// Collective. The whole matrix, rectangular or not, in one process.
kernels::Csr<double> whole(const DistMatrix<double>& A) {
  const Layout rows = Layout::uniform(test::self_comm(), A.rows().n_global());
  const Layout cols = Layout::uniform(rows.shared_comm(), A.cols().n_global());
  const DenseMatrix values = test::gathered(A);
  return matrix::matrix_from_rows<double>(rows, cols,
                                          [&](GlobalIndex i, auto&& emit) {
                                            for (GlobalIndex j = 0; j < values.cols(); ++j) {
                                              if (values(i, j) != 0) emit(j, values(i, j));
                                            }
                                          })
      .on();
}

/// Calls f(communicator) for every placement of the ranks on nodes.
template <class F>
void for_every_placement(const F& f) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    f(mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank));
  }
}

Options options_for(Route route, Coarsening coarsening) {
  Options options;
  options.max_coarse_rows = 4;
  options.route = route;
  options.coarsening = coarsening;
  return options;
}

/// Expects, for every matrix of a real hierarchy gathered in one process, that virtual ranks with
/// its layouts would send what the real ranks send.
void expect_levels_counted(const Hierarchy<double>& hierarchy, Route route) {
  const mpi::Comm& comm = hierarchy.layout().comm();
  const auto me = static_cast<std::size_t>(comm.rank());
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    SCOPED_TRACE(testing::Message() << "level " << l);
    const DistMatrix<double>& A = *hierarchy.matrix(l);
    const Starts fine = starts_of(A.rows());
    expect_equal(sent_virtually(whole(A), fine, fine, comm.topology(), route).at(me),
                 real_traffic(A));
    const DistMatrix<double>* P = hierarchy.interpolation(l);
    if (P == nullptr) continue;
    std::vector<std::int32_t> chosen;
    for (const LocalIndex i : hierarchy.coarse_rows(l)) {
      chosen.push_back(static_cast<std::int32_t>(A.rows().to_global(i)));
    }
    chosen = mpi::concatenate_all(comm, std::span<const std::int32_t>(chosen));
    const Starts coarse = virtual_coarse_starts(fine, chosen);
    EXPECT_EQ(coarse, starts_of(P->cols()));
    expect_equal(sent_virtually(whole(*P), fine, coarse, comm.topology(), route).at(me),
                 real_traffic(*P));
  }
}

TEST(VirtualHierarchy, MatricesOfARealHierarchy) {
  const DenseMatrix values = test::model(Problem::rotated_fe, 12);
  for_every_placement([&](const std::shared_ptr<const mpi::Comm>& comm) {
    for (const Route route : all_routes) {
      SCOPED_TRACE(comm::to_string(route));
      const Coarsening coarsening = route == Route::two_step ? Coarsening::pmis : Coarsening::hmis;
      const Layout layout = Layout::uniform(comm, values.rows());
      const auto A = std::make_shared<const DistMatrix<double>>(test::distribute(values, layout));
      expect_levels_counted(Hierarchy<double>(A, options_for(route, coarsening)), route);
    }
  });
}

/// Expects of a hierarchy made on one rank for as many virtual ranks as `real` has that it has the
/// same levels and counts.
void expect_same_counts(const Hierarchy<double>& alone, const Hierarchy<double>& real,
                        Route route) {
  const mpi::Comm& comm = real.layout().comm();
  ASSERT_EQ(real.levels().size(), alone.levels().size());
  for (std::size_t l = 0; l < alone.levels().size(); ++l) {
    SCOPED_TRACE(testing::Message() << "level " << l);
    const LevelInfo& level = real.levels()[l];
    EXPECT_EQ(level.nonzeros, alone.levels()[l].nonzeros);
    const auto span = alone.virtual_starts(l);
    const Starts starts(span.begin(), span.end());
    EXPECT_EQ(starts, starts_of(real.matrix(l)->rows()));
    Traffic sum;
    std::int64_t most = 0;
    for (const Traffic& t :
         sent_virtually(alone.matrix(l)->on(), starts, starts, comm.topology(), route)) {
      sum.messages_on_node += t.messages_on_node;
      sum.messages_off_node += t.messages_off_node;
      sum.entries_on_node += t.entries_on_node;
      sum.entries_off_node += t.entries_off_node;
      most = std::max(most, t.messages_on_node + t.messages_off_node);
    }
    expect_equal(sum, level.traffic);
    EXPECT_EQ(most, level.max_messages);
  }
}

// With whole rows of interpolation a hierarchy made on one rank is that of any number: PMIS does
// not depend on the ranks, and HMIS is told of them. (Which of equal weights is dropped does.)
TEST(VirtualHierarchy, OfOneRankTellsThatOfMany) {
  std::vector<int> nodes;  // three ranks on each, one to three on the last
  for (int r = 0; r < test_comm()->size(); ++r) nodes.push_back(r / 3);
  for (const Problem problem : {Problem::laplace27, Problem::rotated_fe, Problem::laplace5}) {
    for (const Coarsening coarsening :
         {Coarsening::pmis, Coarsening::hmis, Coarsening::falgout, Coarsening::ruge_stueben}) {
      SCOPED_TRACE(testing::Message() << "problem " << static_cast<int>(problem) << ", coarsening "
                                      << static_cast<int>(coarsening));
      io::GalleryOptions gallery;
      gallery.problem = problem;
      gallery.n = problem == Problem::laplace27 ? 7 : 17;
      const auto options = [&](Route route) {
        Options chosen = options_for(route, coarsening);
        chosen.max_interpolation_entries = 0;
        return chosen;
      };
      const auto serial = std::make_shared<const DistMatrix<double>>(
          io::generate<double>(test::self_comm(), gallery));
      const GlobalIndex n = serial->rows().n_global();
      const Hierarchy<double> alone(serial, options(Route::direct),
                                    {comm::uniform_starts(n, test_comm()->size()), {}}, {});
      const auto comm = mpi::Comm::create(MPI_COMM_WORLD, nodes);
      const auto A =
          std::make_shared<const DistMatrix<double>>(io::generate<double>(comm, gallery));
      for (const Route route : {Route::direct, Route::three_step}) {
        SCOPED_TRACE(comm::to_string(route));
        const Hierarchy<double> real(
            std::make_shared<const DistMatrix<double>>(A->with_route(route)), options(route));
        expect_same_counts(alone, real, route);
      }
    }
  }
}

// One point of P and equations that are solved in one order: no weight is dropped by its number.
TEST(VirtualHierarchy, OfOneRankTellsThatOfManyByApproximateIdealRestriction) {
  std::vector<int> nodes;
  for (int r = 0; r < test_comm()->size(); ++r) nodes.push_back(r / 3);
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, nodes);
  for (const io::Flow flow : {io::Flow::constant, io::Flow::recirculating}) {
    const io::GalleryOptions gallery = {.problem = Problem::convection2d, .n = 15, .flow = flow};
    const auto serial = std::make_shared<const DistMatrix<double>>(
        io::generate<double>(test::self_comm(), gallery));
    const auto A = std::make_shared<const DistMatrix<double>>(io::generate<double>(comm, gallery));
    const Starts starts = comm::uniform_starts(serial->rows().n_global(), comm->size());
    for (const Route route : {Route::direct, Route::three_step}) {
      SCOPED_TRACE(comm::to_string(route));
      Options options = options_for(route, Coarsening::hmis);
      options.method = Method::air;
      const Hierarchy<double> real(std::make_shared<const DistMatrix<double>>(A->with_route(route)),
                                   options);
      options.route = Route::direct;
      const Hierarchy<double> alone(serial, options, {starts, {}}, {});
      expect_same_counts(alone, real, route);
      for (std::size_t l = 0; l + 1 < real.levels().size(); ++l) {
        const auto fine = alone.virtual_starts(l);
        const auto coarse = alone.virtual_starts(l + 1);
        const auto sent = sent_virtually(alone.restriction(l)->on(), {coarse.begin(), coarse.end()},
                                         {fine.begin(), fine.end()}, comm->topology(), route);
        expect_equal(sent.at(static_cast<std::size_t>(comm->rank())),
                     real_traffic(*real.restriction(l)));
      }
    }
  }
}

/// What the ledger of a rank has under an operation.
mpi::Counts counts_of(const mpi::Comm& comm, const std::string& operation, std::size_t level) {
  for (const mpi::Account& account : comm.ledger().accounts()) {
    if (account.operation == operation && std::cmp_equal(account.level, level)) {
      return account.counts;
    }
  }
  return {};
}

/// Expects that a rank of `comm` has sent in some operations together what is predicted of them.
void expect_in_ledger(const mpi::Comm& comm, const std::vector<std::string>& operations,
                      std::size_t level, const std::optional<model::MessageStages>& predicted) {
  SCOPED_TRACE(operations.front());
  ASSERT_TRUE(predicted.has_value());
  Traffic sum;  // its entries are bytes
  for (const auto& stage : *predicted) {
    for (const model::SentMessage& m : stage.at(static_cast<std::size_t>(comm.rank()))) {
      sum.add(comm.topology(), comm.rank(), m.to, m.bytes);
    }
  }
  mpi::Counts sent;
  for (const std::string& operation : operations) {
    const mpi::Counts counts = counts_of(comm, operation, level);
    sent.messages_on_node += counts.messages_on_node;
    sent.messages_off_node += counts.messages_off_node;
    sent.bytes_on_node += counts.bytes_on_node;
    sent.bytes_off_node += counts.bytes_off_node;
  }
  expect_equal(sum, {.messages_on_node = sent.messages_on_node,
                     .messages_off_node = sent.messages_off_node,
                     .entries_on_node = sent.bytes_on_node,
                     .entries_off_node = sent.bytes_off_node});
}

/// Expects of every operation of a setup that was made over a route that `comm` has in its ledger
/// what the virtual ranks of `alone` send.
void expect_setup_counted(const Hierarchy<double>& alone, const Options& options,
                          const mpi::Comm& comm, const std::vector<mpi::Account>& books_of_one,
                          Route route) {
  const mpi::Topology& topology = comm.topology();
  for (std::size_t l = 0; l + 1 < alone.levels().size(); ++l) {
    SCOPED_TRACE(testing::Message() << "level " << l);
    for (const mpi::Account& account : books_of_one) {
      if (account.operation != "splitting" || !std::cmp_equal(account.level, l)) continue;
      EXPECT_EQ(account.counts.collectives, counts_of(comm, "splitting", l).collectives);
    }
    const bool symmetric = alone.restriction(l) == nullptr;  // here
    const LevelSetup setup(alone, l, options, symmetric, books_of_one);
    const auto plans_of = [&](const kernels::Csr<double>& M, std::span<const GlobalIndex> rows,
                              std::span<const GlobalIndex> cols) {
      return comm::virtual_plans(
          comm::virtual_patterns(cols, matrix::virtual_ghosts(M, rows, cols)), topology, route);
    };
    const auto fine = alone.virtual_starts(l);
    const auto coarse = alone.virtual_starts(l + 1);
    const auto of_A = plans_of(alone.matrix(l)->on(), fine, fine);
    const auto of_P = plans_of(alone.interpolation(l)->on(), fine, coarse);
    std::vector<std::string> splitting = {"splitting", "strength", "aggregation"};
    if (symmetric) splitting.push_back("level_setup");  // which unknowns ghosts are of
    expect_in_ledger(comm, splitting, l, setup.splitting({of_A, topology, route}));
    expect_in_ledger(comm, {"spectral_radius"}, l, setup.spectral_radius({of_A, topology}));
    expect_in_ledger(comm, {"interpolation"}, l, setup.interpolation({of_A, topology, route}));
    auto rows = setup.interpolation_rows({of_A, topology});
    if (const DistMatrix<double>* R = alone.restriction(l)) {
      const auto of_R = plans_of(R->on(), coarse, fine);
      const auto more = setup.product_rows({of_R, topology});
      rows.insert(rows.end(), more.begin(), more.end());
      expect_in_ledger(comm, {"level_setup"}, l, rows);
      continue;
    }
    expect_in_ledger(comm, {"AP"}, l, rows);
    expect_in_ledger(comm, {"PtAP"}, l, setup.product_rows({of_P, topology}));
    expect_in_ledger(comm, {"new_matrix"}, l, setup.requests());
  }
}

TEST(VirtualHierarchy, ItsSetupSendsWhatTheLedgersOfManyRanksHave) {
  struct Case {
    Problem problem;
    int n;
    Coarsening coarsening;
    Interpolation interpolation;
    Method method = Method::classical;
  };
  const mpi::CommSettings settings = {.sparse_exchange = mpi::SparseExchange::nonblocking,
                                      .allreduce = mpi::Collective::mpi};
  std::vector<int> nodes;
  for (int r = 0; r < test_comm()->size(); ++r) nodes.push_back(r / 3);
  for (const Case& c :
       {Case{Problem::laplace27, 6, Coarsening::hmis, Interpolation::extended_i},
        Case{Problem::rotated_fe, 11, Coarsening::pmis, Interpolation::classical},
        Case{Problem::laplace5, 11, Coarsening::falgout, Interpolation::direct},
        Case{Problem::laplace5, 9, Coarsening::ruge_stueben, Interpolation::modified_classical}}) {
    SCOPED_TRACE(testing::Message() << "coarsening " << static_cast<int>(c.coarsening));
    const io::GalleryOptions gallery = {.problem = c.problem, .n = c.n};
    Options options = options_for(Route::direct, c.coarsening);
    options.method = c.method;
    options.interpolation = c.interpolation;
    options.max_interpolation_entries = 0;
    if (c.coarsening == Coarsening::pmis) {  // once with an estimate of every level's radius
      options.smoother = SmootherKind::chebyshev;
      options.max_coarse_rows = 24;
    }
    const auto self = mpi::Comm::create(MPI_COMM_SELF);
    const auto serial =
        std::make_shared<const DistMatrix<double>>(io::generate<double>(self, gallery));
    const Starts starts = comm::uniform_starts(serial->rows().n_global(), test_comm()->size());
    self->ledger().clear();
    const Hierarchy<double> alone(serial, options, {starts, {}}, {});
    const std::vector<mpi::Account> books = self->ledger().accounts();
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, nodes, settings);
    const auto A = io::generate<double>(comm, gallery);
    for (const Route route : {Route::direct, Route::three_step}) {
      SCOPED_TRACE(comm::to_string(route));
      options.route = route;
      const auto routed = std::make_shared<const DistMatrix<double>>(A.with_route(route));
      comm->ledger().clear();
      const Hierarchy<double> real(routed, options);
      ASSERT_EQ(real.levels().size(), alone.levels().size());
      expect_setup_counted(alone, options, *comm, books, route);
    }
  }
}

/// A coupled with itself by a small full block: several unknowns at each point.
DenseMatrix with_unknowns(const DenseMatrix& A, int unknowns) {
  DenseMatrix system(A.rows() * unknowns, A.cols() * unknowns);
  for (GlobalIndex i = 0; i < system.rows(); ++i) {
    for (GlobalIndex j = 0; j < system.cols(); ++j) {
      const double coupling = i % unknowns == j % unknowns ? 1 : 0.25;
      system(i, j) = coupling * A(i / unknowns, j / unknowns);
    }
  }
  return system;
}

Layout layout_of_points(const std::shared_ptr<const mpi::Comm>& comm, GlobalIndex points,
                        int unknowns) {
  Starts starts = comm::uniform_starts(points, comm->size());
  for (GlobalIndex& start : starts) start *= unknowns;
  return {comm, std::move(starts)};
}

/// The constants and one vector more.
NearNullSpace<double> one_vector_more(const Layout& rows, int unknowns) {
  const NearNullSpace<double> constants = constant_vectors<double>(rows, unknowns);
  NearNullSpace<double> more{unknowns + 1, {}};
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows.n_local()); ++i) {
    const auto row = constants.row(i);
    more.values.insert(more.values.end(), row.begin(), row.end());
    more.values.push_back(hash_uniform(static_cast<std::uint64_t>(rows.begin()) + i, 1));
  }
  return more;
}

struct AggregationCase {
  Problem problem;
  int n;
  int unknowns;
  int sweeps;
  bool filter;
  int candidate_sweeps;
};

Options options_of(const AggregationCase& c) {
  Options options = options_for(Route::direct, Coarsening::hmis);
  options.method = Method::aggregation;
  options.max_coarse_rows = 24;  // with less, round-off decides when an estimate of a radius ends
  options.unknowns = c.unknowns;
  options.aggregation_distance = c.sweeps;
  options.prolongation_sweeps = c.sweeps;
  options.filter_prolongation = c.filter;
  options.candidate_sweeps = c.candidate_sweeps;
  return options;
}

/// Expects of the setup for a matrix with several rows a point, over all routes, what virtual ranks
/// are said to send.
void expect_setup_counted(const DenseMatrix& values, Options options) {
  const mpi::CommSettings settings = {.sparse_exchange = mpi::SparseExchange::nonblocking,
                                      .allreduce = mpi::Collective::mpi};
  std::vector<int> nodes;
  for (int r = 0; r < test_comm()->size(); ++r) nodes.push_back(r / 3);
  const auto self = mpi::Comm::create(MPI_COMM_SELF);
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, nodes, settings);
  const Layout layout = layout_of_points(comm, values.rows() / options.unknowns, options.unknowns);
  const Layout whole = Layout::uniform(self, values.rows());
  const auto knowledge = [&](const Layout& rows) {
    Knowledge<double> known;
    if (options.method == Method::aggregation && options.unknowns > 1) {
      known.near_null_space = one_vector_more(rows, options.unknowns);
    }
    return known;
  };
  Knowledge<double> of_virtual_ranks = knowledge(whole);
  of_virtual_ranks.virtual_starts = starts_of(layout);
  const auto serial = std::make_shared<const DistMatrix<double>>(test::distribute(values, whole));
  self->ledger().clear();
  const Hierarchy<double> alone(serial, options, std::move(of_virtual_ranks));
  const std::vector<mpi::Account> books = self->ledger().accounts();
  ASSERT_GT(alone.levels().size(), 1u);
  const DistMatrix<double> A = test::distribute(values, layout);
  for (const Route route : all_routes) {
    SCOPED_TRACE(comm::to_string(route));
    options.route = route;
    const auto routed = std::make_shared<const DistMatrix<double>>(A.with_route(route));
    comm->ledger().clear();
    const Hierarchy<double> real(routed, options, knowledge(layout));
    ASSERT_EQ(real.levels().size(), alone.levels().size());
    expect_setup_counted(alone, options, *comm, books, route);
  }
}

TEST(VirtualHierarchy, ItsAggregationSendsWhatTheLedgersOfManyRanksHave) {
  for (const AggregationCase& c : {AggregationCase{Problem::laplace5, 14, 1, 2, false, 0},
                                   AggregationCase{Problem::rotated_fe, 7, 2, 1, true, 2}}) {
    SCOPED_TRACE(testing::Message() << "unknowns " << c.unknowns);
    expect_setup_counted(with_unknowns(test::model(c.problem, c.n), c.unknowns), options_of(c));
  }
}

TEST(VirtualHierarchy, ItsSetupOfSystemsSendsWhatTheLedgersOfManyRanksHave) {
  Options options = options_for(Route::direct, Coarsening::pmis);
  options.unknowns = 2;
  options.max_interpolation_entries = 0;
  options.max_coarse_rows = 12;
  expect_setup_counted(with_unknowns(test::model(Problem::laplace5, 7), 2), options);
}

TEST(VirtualHierarchy, RangesMustBeAllRowsOfOneRank) {
  const DenseMatrix values = test::model(Problem::laplace5, 4);
  const auto serial = std::make_shared<const DistMatrix<double>>(test::serial(values));
  EXPECT_NO_THROW(Hierarchy<double>(serial, {}, {Starts{0, 5, 16}, {}}, {}));
  EXPECT_THROW(Hierarchy<double>(serial, {}, {Starts{0, 5}, {}}, {}), Error);
  EXPECT_THROW(Hierarchy<double>(serial, {}, {Starts{1, 16}, {}}, {}), Error);
  EXPECT_THROW(Hierarchy<double>(serial, {}, {Starts{0, 5, 3, 16}, {}}, {}), Error);
  if (test_comm()->size() == 1) return;
  const Layout layout = Layout::uniform(test_comm(), values.rows());
  const auto A = std::make_shared<const DistMatrix<double>>(test::distribute(values, layout));
  EXPECT_THROW(Hierarchy<double>(A, {}, {Starts{0, 16}, {}}, {}), Error);
}

TEST(VirtualHierarchy, MoreRanksThanRows) {
  const auto A = test::serial(test::model(Problem::laplace5, 2));  // 4 rows
  const Starts starts = comm::uniform_starts(4, 6);
  EXPECT_EQ(starts, (Starts{0, 1, 2, 3, 4, 4, 4}));
  const mpi::Topology topology(std::vector<int>{0, 0, 0, 1, 1, 1});
  const auto sent = sent_virtually(A.on(), starts, starts, topology, Route::direct);
  // Point i is coupled to two of the others: 0 - 1, 0 - 2, 1 - 3, 2 - 3; rank 3 is on another node.
  expect_equal(sent[0], {.messages_on_node = 2, .entries_on_node = 2});
  expect_equal(sent[1], {1, 1, 1, 1});
  expect_equal(sent[3], {.messages_off_node = 2, .entries_off_node = 2});
  expect_equal(sent[5], {});
  EXPECT_EQ(virtual_coarse_starts(starts, std::vector<LocalIndex>{1, 3}),
            (Starts{0, 0, 1, 1, 2, 2, 2}));
  EXPECT_THROW(matrix::virtual_ghosts(A.on(), Starts{0, 3}, Starts{0, 4}), Error);
  EXPECT_THROW(matrix::virtual_ghosts(A.on(), Starts{0, 4}, Starts{0, 2, 4}), Error);
}

}  // namespace
}  // namespace nodewise::amg
