// What is computed beside exchanges: the same bits in every mode, on any number of threads, over
// every route and transport; and an end for both where one fails.
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/amg/cycle/smoother.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/products.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/nodewise.hpp"
#include "nodewise/routing/overlap_choice.hpp"

#include "io_support.hpp"
#include "offload_support.hpp"
#include "smoother_support.hpp"
#include "threads_support.hpp"

namespace nodewise::test {
namespace comm_overlap_test {

using comm::Overlap;
using Matrix = matrix::DistMatrix<double>;
using Vector = std::vector<double>;

constexpr Overlap modes[] = {Overlap::none, Overlap::naive, Overlap::task};

/// Products of all forms, one after another.
Vector products(const Matrix& A, Overlap overlap) {
  A.exchange().set_overlap(overlap);
  if (A.blocks() != nullptr) A.blocks()->exchange().set_overlap(overlap);
  const auto n = static_cast<std::size_t>(A.n_local());
  const Vector x = hashed_vector(A.cols(), 1), b = hashed_vector(A.rows(), 2);
  Vector all, y(n);
  const auto keep = [&] { all.insert(all.end(), y.begin(), y.end()); };
  matrix::multiply(A, std::span<const double>(x), std::span<double>(y));
  keep();
  matrix::multiply_add(A, std::span<const double>(x), std::span<double>(y));
  keep();
  matrix::residual(A, std::span<const double>(x), std::span<const double>(b), std::span<double>(y));
  keep();
  Vector X(2 * n);
  for (std::size_t i = 0; i < n; ++i) X[2 * i] = x[i], X[2 * i + 1] = b[i];
  y.resize(2 * n);
  matrix::multiply(A, std::span<const double>(X), std::span<double>(y), 2);
  keep();
  matrix::multiply_add(A, std::span<const double>(X), std::span<double>(y), 2);
  keep();
  return all;
}

/// On up to four threads, or two of many ranks, which would wait busily for cores.
void expect_same_products(const Matrix& A) {
  const Vector expected = products(A, Overlap::naive);
  const int most = !parallel::available() ? 1 : can_test_threads() ? 4 : 2;
  for (int n = 1; n <= most; ++n) {
    const Threads threads(n);
    for (const Overlap overlap : modes) {
      EXPECT_EQ(products(A, overlap), expected) << n << " threads, mode " << int(overlap);
    }
  }
}

/// Products with the transpose, one vector and two.
Vector transposed_products(const Matrix& A, Overlap overlap) {
  A.exchange().set_overlap(overlap);
  const auto n = static_cast<std::size_t>(A.n_local());
  const Vector x = hashed_vector(A.rows(), 1), z = hashed_vector(A.rows(), 2);
  Vector y(n), X(2 * n), Y(2 * n);
  matrix::multiply_transposed(A, std::span<const double>(x), std::span<double>(y));
  for (std::size_t i = 0; i < n; ++i) X[2 * i] = x[i], X[2 * i + 1] = z[i];
  matrix::multiply_transposed(A, std::span<const double>(X), std::span<double>(Y), 2);
  y.insert(y.end(), Y.begin(), Y.end());
  return y;
}

TEST(Overlap, ChangesNoBitOfTransposedProducts) {
  const int most = !parallel::available() ? 1 : can_test_threads() ? 4 : 2;
  for (const NodeMap& map : node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const auto A = problem_on(comm, "convection2d", can_test_threads() ? 60 : 40);
    for (const char* route : {"direct", "two_step", "three_step"}) {
      SCOPED_TRACE(map.name + ", " + route);
      const Matrix routed = A->with_route(route);
      for (int n = 1; n <= most; ++n) {
        const Threads threads(n);
        const Vector expected = transposed_products(routed, Overlap::naive);
        EXPECT_EQ(transposed_products(routed, Overlap::none), expected) << n << " threads";
        EXPECT_EQ(transposed_products(routed, Overlap::task), expected) << n << " threads";
      }
    }
  }
}

TEST(Overlap, ChangesNoBitOnAnyRouteAndPlacement) {
  for (const NodeMap& map : node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    // Enough rows for several threads, where there are some.
    const auto A = problem_on(comm, "laplace27", can_test_threads() ? 24 : 16);
    for (const char* route : {"direct", "two_step", "three_step"}) {
      SCOPED_TRACE(map.name + ", " + route);
      expect_same_products(A->with_route(route));
    }
  }
}

TEST(Overlap, ChangesNoBitOverAnyTransport) {
  const auto A = problem_on(test_comm(), "laplace7", 30);
  for (const comm::Transport transport : comm::TransportMethod::family()) {
    if (!(*transport->unavailable)(*test_comm()).empty()) continue;
    SCOPED_TRACE(transport.name());
    expect_same_products(A->with_route("direct", transport));
  }
}

TEST(Overlap, ChangesNoBitOfProductsInBlocks) {
  GalleryOptions options;
  set_option(options, io::gallery_fields(), "problem", "beam");
  options.n = 3;
  const auto beam = generate<double>(test_comm(), options);
  expect_same_products(beam.with_blocks(3));
}

struct Sweeps {
  const char* smoother;
  amg::SweepOrder order;
};

/// Pre- and postsmoothing of one vector and of two, and how long work went on beside messages.
std::pair<Vector, double> smoothed(const Matrix& A, const Sweeps& sweeps, Overlap overlap) {
  amg::Options options;
  options.smoother = sweeps.smoother;
  amg::set_order(options, sweeps.order);
  const amg::Smoother<double> smoother(A, options);
  comm::Exchange& exchange = A.blocks() != nullptr ? A.blocks()->exchange() : A.exchange();
  exchange.set_overlap(overlap);
  comm::OverlapTimes times;
  const Vector b = hashed_vector(A.rows(), 1);
  Vector all = hashed_vector(A.rows(), 2), r(all.size());
  smoother.presmooth_further(b, all, r);
  exchange.observe(&times);
  smoother.postsmooth(b, all);
  exchange.observe(nullptr);
  smoother.postsmooth_with_product(b, all, r);
  Vector B(2 * b.size()), X(2 * b.size());
  for (std::size_t i = 0; i < B.size(); ++i) B[i] = b[i / 2], X[i] = all[i / 2] + double(i % 2);
  smoother.postsmooth(B, X, 2);
  all.insert(all.end(), r.begin(), r.end());
  all.insert(all.end(), X.begin(), X.end());
  return {all, times.work};
}

/// Rows of later threads have no ghosts, or come before those that have.
TEST(Overlap, ChangesNoBitOfSweepsAndSweepsRowsMeanwhile) {
  if (!can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const auto A = problem_on(test_comm(), "laplace7", 24);
  const Matrix blocks = A->with_blocks(3);
  for (const Sweeps& sweeps : {Sweeps{"gauss_seidel", amg::SweepOrder::forward_backward},
                               Sweeps{"gauss_seidel", amg::SweepOrder::symmetric},
                               Sweeps{"gauss_seidel", amg::SweepOrder::forward},
                               Sweeps{"l1_gauss_seidel", amg::SweepOrder::forward_backward},
                               Sweeps{"gauss_seidel", amg::SweepOrder::coarse_fine},
                               Sweeps{"block_gauss_seidel", amg::SweepOrder::forward_backward}}) {
    const bool is_block = sweeps.smoother == std::string("block_gauss_seidel");
    const Matrix& M = is_block ? blocks : *A;
    for (const int n : {1, 2, 3}) {
      SCOPED_TRACE(fmt::format("{}, order {}, {} threads", sweeps.smoother, int(sweeps.order), n));
      const Threads threads(n);
      const auto expected = smoothed(M, sweeps, Overlap::naive);
      for (const Overlap overlap : modes) {
        const auto [values, work] = smoothed(M, sweeps, overlap);
        EXPECT_EQ(values, expected.first) << "mode " << int(overlap);
        const bool sweeps_early = n == 3 && test_comm()->size() > 1;
        EXPECT_TRUE(work > 0 || !sweeps_early) << "mode " << int(overlap);
      }
    }
  }
}

TEST(Overlap, ChangesNoBitOfProductsOfMatrices) {
  if (!can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  for (const NodeMap& map : node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const auto A = problem_on(comm, "laplace7", 14);
    const auto P = problem_on(comm, "laplace27", 14);
    for (const char* route : {"direct", "two_step", "three_step"}) {
      SCOPED_TRACE(map.name + ", " + route);
      const Matrix M = A->with_route(route), Q = P->with_route(route);
      const auto product = [&](Overlap overlap) {
        Q.exchange().set_overlap(overlap);
        return matrix::galerkin_product(M, Q, matrix::GalerkinForm::fused);
      };
      for (const int n : {1, 2, 4}) {
        const Threads threads(n);
        const Matrix expected = product(Overlap::naive);
        for (const Overlap overlap : modes) {
          const Matrix C = product(overlap);
          EXPECT_EQ(C.on().cols, expected.on().cols) << n << " threads, mode " << int(overlap);
          EXPECT_EQ(C.on().vals, expected.on().vals) << n << " threads, mode " << int(overlap);
          EXPECT_EQ(C.off().vals, expected.off().vals) << n << " threads, mode " << int(overlap);
          EXPECT_TRUE(std::ranges::equal(C.ghosts(), expected.ghosts()));
        }
      }
    }
  }
}

/// On every rank alike, and no thread is left behind.
TEST(Overlap, BringsWhatFailsBesideRecordsToAllRanks) {
  const auto A = problem_on(test_comm(), "laplace7", 8);
  A->exchange().set_overlap(Overlap::task);
  const Threads threads(can_test_threads() ? 2 : 1);
  const auto n_ghosts = A->ghosts().size();
  std::optional<Error> failure;
  const auto make = [&] { return comm::Records<double>{std::vector<Offset>(n_ghosts + 1, 0), {}}; };
  const auto combine = [](std::span<double> record) { return record.size(); };
  A->exchange().reverse_records_beside(make, combine, failure, [] {
    if (test_comm()->rank() == 0) throw Error(ErrorCode::unsuitable_matrix, "beside records");
  });
  EXPECT_EQ(failure.has_value(), test_comm()->rank() == 0);
  EXPECT_THROW(mpi::agree(*test_comm(), failure), Error);
}

TEST(Overlap, ChangesNoSolve) {
  const auto A = problem_on(test_comm(), "laplace7", 20);
  const Vector b = hashed_vector(A->rows(), 3);
  for (const char* smoother : {"chebyshev", "l1_jacobi", "gauss_seidel", "fc_jacobi"}) {
    SCOPED_TRACE(smoother);
    if (!can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
    const Threads threads(2);
    const auto solution = [&](const char* overlap) {
      Solver solver(A, options_of({{"preset", "default"},
                                   {"smoother", smoother},
                                   {"precision", "same"},
                                   {"overlap", overlap}}));
      Vector x(b.size(), 0);
      EXPECT_TRUE(solver.solve(b, x).converged());
      return x;
    };
    const Vector expected = solution("naive");
    for (const char* overlap : {"none", "task", "naive,task", "task,none", "automatic"}) {
      EXPECT_EQ(solution(overlap), expected) << overlap;
    }
  }
}

TEST(Overlap, ChangesNoBitWithoutAHierarchy) {
  if (!can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const auto A = problem_on(test_comm(), "laplace7", 12);
  const Vector b = hashed_vector(A->rows(), 3);
  const Threads threads(2);
  const auto solution = [&](const char* overlap) {
    Solver solver(A, options_of({{"preconditioner", "none"}, {"overlap", overlap}}));
    Vector x(b.size(), 0);
    EXPECT_TRUE(solver.solve(b, x).converged());
    return x;
  };
  const Vector expected = solution("naive");
  for (const char* overlap : {"none", "task", "automatic"}) EXPECT_EQ(solution(overlap), expected);
}

TEST(Overlap, IsChosenByATrialThatMustSaveATenth) {
  const auto chosen = [](double none, double task) {
    return routing::quickest_overlap(
               {{Overlap::naive, 1}, {Overlap::none, none}, {Overlap::task, task}})
        .chosen;
  };
  EXPECT_EQ(chosen(0.95, 0.92), Overlap::naive);
  EXPECT_EQ(chosen(0.85, 0.92), Overlap::none);
  EXPECT_EQ(chosen(0.85, 0.5), Overlap::task);
  EXPECT_EQ(chosen(2, 3), Overlap::naive);
}

TEST(Overlap, IsChosenAlikeOnEveryRankAndForEveryLevel) {
  const auto A = problem_on(test_comm(), "laplace7", 16);
  const amg::Hierarchy<double> hierarchy(A, options_of({{"overlap", "naive,automatic"}}).amg);
  const auto levels = hierarchy.levels();
  ASSERT_GT(levels.size(), 2U);
  EXPECT_EQ(levels[0].overlap, Overlap::naive);
  EXPECT_TRUE(levels[0].overlap_choice->reason.empty());
  for (std::size_t l = 1; l < levels.size(); ++l) {
    EXPECT_FALSE(levels[l].overlap_choice->reason.empty());
    EXPECT_EQ(levels[l].overlap, levels[l].overlap_choice->chosen);
    EXPECT_NE(levels[l].overlap, Overlap::automatic);
    const int mode = static_cast<int>(levels[l].overlap);
    EXPECT_EQ(mpi::max(*test_comm(), mode), mpi::min(*test_comm(), mode));
    for (const comm::Exchange* exchange : hierarchy.exchanges(l)) {
      EXPECT_EQ(exchange->overlap(), levels[l].overlap);
    }
  }
  EXPECT_EQ(levels.back().overlap_choice->reason, "solved directly");
}

TEST(Overlap, TimesWhatAnExchangeAndItsWorkTake) {
  const auto A = problem_on(test_comm(), "laplace27", 12);
  const Vector x = hashed_vector(A->cols(), 1);
  Vector y(static_cast<std::size_t>(A->n_local()));
  comm::OverlapTimes times;
  A->exchange().observe(&times);
  const Timer timer;
  for (const Overlap mode : {Overlap::none, Overlap::naive}) {
    const double before = times.work;
    A->exchange().set_overlap(mode);
    matrix::multiply(*A, std::span<const double>(x), std::span<double>(y));
    EXPECT_GT(times.work, before);
  }
  EXPECT_LE(times.gather + times.work + times.wait, timer.seconds());
  if (A->n_ghosts() > 0) {
    EXPECT_GT(times.gather, 0);
  }
  A->exchange().observe(nullptr);
  const double work = times.work;
  matrix::multiply(*A, std::span<const double>(x), std::span<double>(y));
  EXPECT_EQ(times.work, work);
}

TEST(Overlap, EndsTheExchangeWhereTheWorkBesideItFails) {
  const auto A = problem_on(test_comm(), "laplace27", 12);
  if (!parallel::available()) GTEST_SKIP() << "no threads in this build";
  const Threads threads(3);
  comm::Exchange& exchange = A->exchange();
  exchange.set_overlap(Overlap::task);
  const Vector x = hashed_vector(A->cols(), 1);
  Vector ghosts(static_cast<std::size_t>(A->n_ghosts())), again(ghosts.size());
  if (A->n_ghosts() == 0) GTEST_SKIP() << "for several ranks";
  EXPECT_THROW(exchange.forward_beside(std::span<const double>(x), std::span<double>(ghosts), 1,
                                       [] { throw std::runtime_error("work"); }),
               std::runtime_error);
  exchange.forward_beside(std::span<const double>(x), std::span<double>(again), 1, [] {});
  EXPECT_EQ(ghosts, again);
}

}  // namespace comm_overlap_test
}  // namespace nodewise::test
