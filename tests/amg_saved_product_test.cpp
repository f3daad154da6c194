// Conjugate gradients whose product with the matrix comes from the last sweep of the cycle.
#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/cycle/smoother.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "smoother_support.hpp"
#include "solve_support.hpp"
#include "support.hpp"
#include "threads_support.hpp"

namespace nodewise::amg {
namespace amg_saved_product_test {

using DistMatrix = matrix::DistMatrix<double>;
using Matrix = std::shared_ptr<const DistMatrix>;
using Operator = solve::MatrixOperator<double>;
using Vector = std::vector<double>;

Matrix shared(DistMatrix A) {
  return std::make_shared<const DistMatrix>(std::move(A));
}

Matrix grid(const std::string& problem, int n) {
  return shared(io::generate<double>(test::test_comm(), {.problem = problem, .n = n}));
}

/// Tridiagonal, with all rows on the last rank.
Matrix on_one_rank(GlobalIndex n) {
  const comm::Layout layout = test::on_last_rank(n);
  return shared(
      matrix::matrix_from_rows<double>(layout, layout, [n](GlobalIndex i, const auto& emit) {
        if (i > 0) emit(i - 1, -1.0);
        emit(i, 2.5);
        if (i + 1 < n) emit(i + 1, -1.0);
      }));
}

/// A preconditioner that hides that it can do more than apply().
class Plain final : public solve::Operator<double> {
 public:
  explicit Plain(const Hierarchy<double>& M) : M_(M) {}
  const comm::Layout& layout() const override { return M_.layout(); }
  void apply(std::span<const double> b, std::span<double> x) const override { M_.apply(b, x); }

 private:
  const Hierarchy<double>& M_;
};

double norm(const DistMatrix& A, const Vector& v) {
  double sum = 0;
  for (const double value : v) sum += value * value;
  return std::sqrt(mpi::sum(A.comm(), sum));
}

void expect_near(const DistMatrix& A, const Vector& a, const Vector& expected, double tolerance) {
  Vector difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - expected[i];
  EXPECT_LE(norm(A, difference), tolerance * norm(A, expected));
}

Options with_smoother(const std::string& kind, SweepOrder order = SweepOrder::automatic) {
  Options options;
  options.smoother = kind;
  set_order(options, order);
  return options;
}

TEST(SavedProduct, IsThatOfTheCycle) {
  const Matrix matrices[] = {grid("laplace9", 40), grid("laplace27", 12), on_one_rank(500)};
  for (const Matrix& A : matrices) {
    for (const std::string cycle : {"v", "w", "f", "k"}) {
      for (const SweepOrder order : {SweepOrder::forward_backward, SweepOrder::symmetric}) {
        Options options = with_smoother("l1_gauss_seidel", order);
        options.cycle = cycle;
        const Hierarchy<double> M(A, options);
        ASSERT_TRUE(M.saves_product_with(Operator(A)));
        const Vector b = test::hashed_vector(A->rows(), 3);
        Vector x(b.size(), std::nan("")), y(b.size(), std::nan("")), expected(b.size());
        M.apply_with_product(Operator(A), b, x, y);
        M.apply(b, expected);
        expect_near(*A, x, expected, 1e-12);
        matrix::multiply(*A, std::span<const double>(x), std::span<double>(expected));
        expect_near(*A, y, expected, 1e-12);
      }
    }
  }
}

TEST(SavedProduct, IsMadeApartWhereNothingIsSaved) {
  const Matrix A = grid("laplace9", 20);
  Options additive = with_smoother("l1_gauss_seidel");
  additive.cycle = "additive";
  Options direct;
  direct.max_coarse_rows = 2000;
  const Vector b = test::hashed_vector(A->rows(), 3);
  for (const Options& options :
       {additive, with_smoother("chebyshev"), with_smoother("l1_jacobi"), direct}) {
    const Hierarchy<double> M(A, options);
    EXPECT_FALSE(M.saves_product_with(Operator(A)));
    Vector x(b.size()), y(b.size()), expected(b.size());
    M.apply_with_product(Operator(A), b, x, y);
    matrix::multiply(*A, std::span<const double>(x), std::span<double>(expected));
    expect_near(*A, y, expected, 1e-12);
  }
}

// What decides which levels of a cycle are in single precision, before there is a smoother.
TEST(SavedProduct, IsForeseen) {
  const Matrix scalar = grid("laplace9", 12);
  const Matrix blocks = std::make_shared<const DistMatrix>(scalar->with_blocks(2));
  for (const std::string& kind : relax::SmootherMethod::family().names()) {
    for (const SweepOrder order :
         {SweepOrder::forward_backward, SweepOrder::symmetric, SweepOrder::alternating,
          SweepOrder::forward, SweepOrder::backward, SweepOrder::coarse_fine}) {
      for (const int sweeps : {0, 2}) {
        Options options = with_smoother(kind);
        set_order(options, order);
        sweeps_of(options).post_sweeps = sweeps;
        for (const Matrix& A : {scalar, blocks}) {
          const Smoother<double> smoother(*A, options, {.spectral_radius = 2.0});
          EXPECT_EQ(Smoother<double>::can_save_product(*A, options), smoother.saves_product())
              << "smoother " << kind << ", order " << static_cast<int>(order) << ", " << sweeps
              << " sweeps" << (A == blocks ? ", blocks" : "");
        }
      }
    }
  }
}

// A hierarchy may serve for another matrix, whose product its sweeps do not know.
TEST(SavedProduct, IsOnlyThatOfTheMatrixThatWasSetUp) {
  const Matrix A = grid("laplace9", 40);
  const Matrix other = grid("laplace9", 40);
  Hierarchy<double> M(A, {});
  EXPECT_TRUE(M.saves_product_with(Operator(A)));
  EXPECT_TRUE(M.saves_product_with(Operator(M.matrix(0))));
  EXPECT_FALSE(M.saves_product_with(Operator(other)));
  EXPECT_FALSE(M.saves_product_with(M));
  M.rebuild(other);
  EXPECT_FALSE(M.saves_product_with(Operator(A)));
  EXPECT_TRUE(M.saves_product_with(Operator(other)));
}

struct Counts {
  int iterations = 0;
  std::int64_t messages = 0, bytes = 0, collectives = 0;
};

/// Collective. What a solve takes on this rank; its solution has the residual that was asked for.
Counts solve_with(const Matrix& A, const solve::Operator<double>& M, const Vector& b, Vector& x) {
  mpi::Ledger& ledger = A->comm().ledger();
  ledger.clear();
  const solve::Report report = solve::cg<double>(Operator(A), &M, b, x, {});
  Counts counts;
  for (const mpi::Account& account : ledger.accounts()) {
    counts.messages += account.counts.messages_on_node + account.counts.messages_off_node;
    counts.bytes += account.counts.bytes_on_node + account.counts.bytes_off_node;
    counts.collectives += account.counts.collectives;
  }
  EXPECT_EQ(report.outcome, solve::Outcome::converged);
  counts.iterations = report.iterations;
  Vector residual(b.size());
  matrix::residual(*A, std::span<const double>(x), std::span<const double>(b),
                   std::span<double>(residual));
  EXPECT_LE(norm(*A, residual), 1e-8 * norm(*A, b));
  return counts;
}

TEST(SavedProduct, ConjugateGradientsTakeTheSameIterationsAndMessages) {
  const Matrix matrices[] = {grid("rotated_fe", 60), grid("laplace27", 14), on_one_rank(700)};
  for (const int threads : test::can_test_threads() ? std::vector{1, 2} : std::vector{1}) {
    const test::Threads set(threads);
    for (const Matrix& A : matrices) {
      const Hierarchy<double> M(A, {});
      const Vector b = test::hashed_vector(A->rows(), 7);
      Vector x(b.size(), 0.0), expected(b.size(), 0.0);
      const Counts saved = solve_with(A, M, b, x);
      const Counts plain = solve_with(A, Plain(M), b, expected);
      expect_near(*A, x, expected, 1e-6);
      EXPECT_EQ(saved.iterations, plain.iterations);
      EXPECT_EQ(saved.messages, plain.messages);
      EXPECT_EQ(saved.bytes, plain.bytes);
      EXPECT_EQ(saved.collectives, plain.collectives);
    }
  }
}

TEST(SavedProduct, EveryMethodSolvesWithIt) {
  const Matrix A = grid("rotated_fe", 60);
  const Hierarchy<double> M(A, {});
  const Vector b = test::hashed_vector(A->rows(), 7);
  for (const char* method : {"cg", "flexible_cg", "pipelined_cg", "gmres", "fgmres", "bicgstab"}) {
    Vector x(b.size(), 0.0), expected(b.size(), 0.0);
    const solve::Report saved = solve::solve_by<double>(method, Operator(A), &M, b, x, {});
    const Plain plain(M);
    const solve::Report apart =
        solve::solve_by<double>(method, Operator(A), &plain, b, expected, {});
    EXPECT_EQ(saved.outcome, solve::Outcome::converged);
    EXPECT_EQ(saved.iterations, apart.iterations);
    expect_near(*A, x, expected, 1e-6);
  }
}

// From a residual so small that the recurrence goes on past what doubles can tell apart.
TEST(SavedProduct, ReachesTheResidualsThatAreAskedFor) {
  const Matrix A = grid("rotated_fe", 60);
  const Hierarchy<double> M(A, {});
  const Vector b = test::hashed_vector(A->rows(), 7);
  Vector x(b.size(), 0.0);
  solve::Options options;
  options.tolerance = 1e-13;
  const solve::Report report = solve::cg<double>(Operator(A), &M, b, x, options);
  EXPECT_EQ(report.outcome, solve::Outcome::converged);
}

}  // namespace amg_saved_product_test
}  // namespace nodewise::amg
