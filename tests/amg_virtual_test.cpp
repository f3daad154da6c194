// Hierarchies on virtual ranks: what they would send is what real ranks send.
#include <gtest/gtest.h>

#include "nodewise/amg/coarsen/virtual_ranks.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"

#include "amg_virtual_support.hpp"
#include "problem_support.hpp"

namespace nodewise::amg {
namespace amg_virtual_test {

using comm::Route;
using comm::Traffic;
using matrix::DistMatrix;
using matrix::Layout;
using test::all_routes;
using test::DenseMatrix;
using test::expect_equal;
using test::options_for;
using test::Starts;
using test::starts_of;
using test::test_comm;

/// What virtual ranks send in a product with a serial matrix.
std::vector<Traffic> sent_virtually(const kernels::Csr<double>& A, const Starts& rows,
                                    const Starts& cols, const mpi::Topology& topology,
                                    Route route) {
  auto patterns = comm::virtual_patterns(cols, matrix::virtual_ghosts(A, rows, cols));
  return comm::virtual_traffic(comm::virtual_plans(std::move(patterns), topology, route), topology);
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
  const DenseMatrix values = test::model("rotated_fe", 12);
  for_every_placement([&](const std::shared_ptr<const mpi::Comm>& comm) {
    for (const Route route : all_routes) {
      SCOPED_TRACE(route.name());
      const char* coarsening = route == "two_step" ? "pmis" : "hmis";
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
  for (const std::string problem : {"laplace27", "rotated_fe", "laplace5"}) {
    for (const char* coarsening : {"pmis", "hmis", "falgout", "ruge_stueben"}) {
      SCOPED_TRACE(testing::Message() << "problem " << problem << ", coarsening " << coarsening);
      io::GalleryOptions gallery;
      gallery.problem = problem;
      gallery.n = problem == "laplace27" ? 7 : 17;
      const auto options = [&](Route route) {
        Options chosen = options_for(route, coarsening);
        chosen.set("max_interpolation_entries", 0);
        return chosen;
      };
      const auto serial = std::make_shared<const DistMatrix<double>>(
          io::generate<double>(test::self_comm(), gallery));
      const GlobalIndex n = serial->rows().n_global();
      const Hierarchy<double> alone(serial, options("direct"),
                                    {comm::uniform_starts(n, test_comm()->size()), {}}, {});
      const auto comm = mpi::Comm::create(MPI_COMM_WORLD, nodes);
      const auto A =
          std::make_shared<const DistMatrix<double>>(io::generate<double>(comm, gallery));
      for (const Route route : {"direct", "three_step"}) {
        SCOPED_TRACE(route.name());
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
  for (const test::Flow flow : {test::Flow::constant, test::Flow::recirculating}) {
    const io::GalleryOptions gallery = test::flow_problem("convection2d", 15, {.flow = flow});
    const auto serial = std::make_shared<const DistMatrix<double>>(
        io::generate<double>(test::self_comm(), gallery));
    const auto A = std::make_shared<const DistMatrix<double>>(io::generate<double>(comm, gallery));
    const Starts starts = comm::uniform_starts(serial->rows().n_global(), comm->size());
    for (const Route route : {"direct", "three_step"}) {
      SCOPED_TRACE(route.name());
      Options options = options_for(route, "hmis");
      options.method = "air";
      const Hierarchy<double> real(std::make_shared<const DistMatrix<double>>(A->with_route(route)),
                                   options);
      options.route = "direct";
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

TEST(VirtualHierarchy, RangesMustBeAllRowsOfOneRank) {
  const DenseMatrix values = test::model("laplace5", 4);
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
  const auto A = test::serial(test::model("laplace5", 2));  // 4 rows
  const Starts starts = comm::uniform_starts(4, 6);
  EXPECT_EQ(starts, (Starts{0, 1, 2, 3, 4, 4, 4}));
  const mpi::Topology topology(std::vector<int>{0, 0, 0, 1, 1, 1});
  const auto sent = sent_virtually(A.on(), starts, starts, topology, "direct");
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

}  // namespace amg_virtual_test
}  // namespace nodewise::amg
