// Constant vectors, rigid body modes and their improvement, on every layout of whole points.
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/amg/near_null_space.hpp"
#include "nodewise/amg/options.hpp"
#include "nodewise/amg/relax/smoother_method.hpp"

#include "aggregate_support.hpp"

namespace nodewise::amg {
namespace amg_near_null_space_test {

using test::DenseMatrix;
using test::gathered_vectors;
using test::layouts_of;
using test::layouts_of_points;
using test::test_comm;

/// Collective. Expects the same error on every rank, with `part` in its text.
template <class Work>
void expect_refused(ErrorCode code, const std::string& part, Work&& work) {
  const std::string text = test::expect_same_error(*test_comm(), code, std::forward<Work>(work));
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(NearNullSpace, TakesOneConstantForEachUnknown) {
  for (const int unknowns : {1, 2, 3}) {
    for (const matrix::Layout& rows : layouts_of_points(5, unknowns)) {
      const auto whole = gathered_vectors(*test_comm(), constant_vectors<double>(rows, unknowns));
      EXPECT_EQ(whole.rows(), 5 * unknowns);
      EXPECT_EQ(whole.cols(), unknowns);
      for (GlobalIndex i = 0; i < whole.rows(); ++i) {
        for (GlobalIndex k = 0; k < unknowns; ++k) {
          EXPECT_EQ(whole(i, k), i % unknowns == k ? 1.0 : 0.0);
        }
      }
    }
  }
}

TEST(NearNullSpace, NumbersThePointsByWholeBlocksOfRows) {
  for (const matrix::Layout& rows : layouts_of_points(7, 3)) {
    const matrix::Layout points = points_of(rows, 3);
    EXPECT_EQ(points.n_global(), 7);
    EXPECT_EQ(points.begin() * 3, rows.begin());
    EXPECT_EQ(points.n_local() * 3, rows.n_local());
  }
}

TEST(NearNullSpace, DealsOutWholePoints) {
  using comm::uniform_point_starts;
  EXPECT_EQ(uniform_point_starts(9, 2, 3), (std::vector<GlobalIndex>{0, 6, 9}));
  EXPECT_EQ(uniform_point_starts(11, 2, 3), (std::vector<GlobalIndex>{0, 6, 11}));
  EXPECT_EQ(uniform_point_starts(2, 2, 3), (std::vector<GlobalIndex>{0, 0, 2}));
  EXPECT_EQ(uniform_point_starts(0, 2, 3), (std::vector<GlobalIndex>{0, 0, 0}));
  EXPECT_THROW(uniform_point_starts(3, 2, 0), Error);
  EXPECT_THROW(uniform_point_starts(-1, 2, 3), Error);
  EXPECT_THROW(uniform_point_starts(3, 0, 3), Error);
  const matrix::Layout points = matrix::Layout::uniform(test_comm(), 7);
  EXPECT_EQ(points_of(comm::uniform_points(test_comm(), 21, 3), 3), points);
}

TEST(NearNullSpace, RefusesPointsInPieces) {
  const auto comm = test_comm();
  for (const matrix::Layout& rows : layouts_of(comm, 7)) {
    expect_refused(ErrorCode::invalid_argument, "not whole points",
                   [&] { require_whole_points(rows, 3); });
  }
  expect_refused(ErrorCode::invalid_argument, "1 or more",
                 [&] { require_whole_points(matrix::Layout::uniform(comm, 6), 0); });
  if (comm->size() == 1) return;
  std::vector<GlobalIndex> starts(static_cast<std::size_t>(comm->size()) + 1, 4);
  starts.front() = 0;
  starts.back() = 6;
  expect_refused(ErrorCode::invalid_argument, "row 5, in the middle",
                 [&] { require_whole_points(matrix::Layout(comm, starts), 3); });
}

/// This rank's part of the coordinates of n points far from the origin.
std::vector<double> coordinates_of(const matrix::Layout& rows, int dimensions) {
  std::vector<double> x;
  for (GlobalIndex k = rows.begin(); k < rows.end(); ++k) {
    x.push_back(100.0 * double(k % dimensions + 1) +
                hash_uniform(static_cast<std::uint64_t>(k), 3));
  }
  return x;
}

/// A rigid motion leaves the distance of any two points as it is, to first order.
void expect_rigid(const DenseMatrix& x, const DenseMatrix& modes, int d) {
  for (GlobalIndex mode = 0; mode < modes.cols(); ++mode) {
    for (GlobalIndex p = 0; p < modes.rows(); p += d) {
      for (GlobalIndex q = 0; q < p; q += d) {
        double stretch = 0;
        for (int c = 0; c < d; ++c) {
          stretch += (modes(p + c, mode) - modes(q + c, mode)) * (x[p + c] - x[q + c]);
        }
        EXPECT_NEAR(stretch, 0, 1e-12) << "mode " << mode;
      }
    }
  }
}

/// The determinant of the products of the vectors, each of length one: 0 for dependent ones.
double independence(const DenseMatrix& vectors) {
  DenseMatrix G = vectors.transpose() * vectors;
  const DenseMatrix lengths = G;
  double determinant = 1;
  for (GlobalIndex k = 0; k < G.rows(); ++k) {
    determinant *= G(k, k) / lengths(k, k);
    for (GlobalIndex i = k + 1; i < G.rows(); ++i) {
      const double factor = G(i, k) / G(k, k);
      for (GlobalIndex j = 0; j < G.cols(); ++j) G(i, j) -= factor * G(k, j);
    }
  }
  return determinant;
}

TEST(NearNullSpace, ModesAreRigidAndIndependent) {
  for (const int d : {2, 3}) {
    const GlobalIndex n = 6;
    for (const matrix::Layout& rows : layouts_of_points(n, d)) {
      const std::vector<double> x = coordinates_of(rows, d);
      const auto modes = rigid_body_modes<double>(rows, d, x);
      EXPECT_EQ(modes.n_vectors, d == 2 ? 3 : 6);
      const DenseMatrix whole = gathered_vectors(*test_comm(), modes);
      ASSERT_EQ(whole.rows(), n * d);
      expect_rigid(test::gathered(*test_comm(), x), whole, d);
      EXPECT_GT(independence(whole), 1e-3);  // wherever the origin is
      const auto single = rigid_body_modes<float>(rows, d, x);
      test::expect_near(gathered_vectors(*test_comm(), single), whole, 1e-6, "float");
    }
  }
}

TEST(NearNullSpace, RefusesWrongCoordinatesOnEveryRank) {
  const auto comm = test_comm();
  const auto rows = layouts_of_points(16, 3).front();
  std::vector<double> x(static_cast<std::size_t>(rows.n_local()), 1.0);
  const auto expect = [&](ErrorCode code, const char* part, int dimensions) {
    expect_refused(code, part, [&] { rigid_body_modes<double>(rows, dimensions, x); });
  };
  expect(ErrorCode::invalid_argument, "2 or 3 dimensions", 4);
  if (comm->rank() == comm->size() - 1) x.push_back(1);
  expect(ErrorCode::dimension_mismatch, "coordinates for", 3);
  x.resize(static_cast<std::size_t>(rows.n_local()), 1.0);
  if (comm->rank() == 0) x[4] = std::numeric_limits<double>::quiet_NaN();
  expect(ErrorCode::invalid_argument, "coordinate of point 2 is not finite", 3);
}

TEST(NearNullSpace, ImprovesByDampedJacobi) {
  const GlobalIndex n = 20;
  DenseMatrix A = test::random_symmetric(n, 0.3, 0.2, 4);
  for (const double sign : {1.0, -1.0}) {
    DenseMatrix x(n, 2);
    for (GlobalIndex i = 0; i < n; ++i) {
      x(i, 0) = 1;
      x(i, 1) = hash_uniform(static_cast<std::uint64_t>(i), 8);
    }
    const DenseMatrix start = x;
    A = sign * A;
    for (int sweep = 0; sweep < 3; ++sweep) {
      const DenseMatrix Ax = A * x;
      for (GlobalIndex i = 0; i < n; ++i) {
        for (GlobalIndex k = 0; k < 2; ++k) x(i, k) -= 4.0 / 3.0 / 1.7 * Ax(i, k) / A(i, i);
      }
    }
    for (const matrix::Layout& layout : layouts_of(test_comm(), n, 50)) {
      NearNullSpace<double> vectors{2, {}};
      for (GlobalIndex i = layout.begin(); i < layout.end(); ++i) {
        vectors.values.push_back(start(i - layout.first(), 0));
        vectors.values.push_back(start(i - layout.first(), 1));
      }
      const auto dist = test::distribute(A, layout);
      const auto better = improved(dist, vectors, 3, 1.7);
      test::expect_near(gathered_vectors(*test_comm(), better), x, 1e-12, "improved");
      EXPECT_EQ(improved(dist, vectors, 0, 1.7).values, vectors.values);
      vectors.values.push_back(0);
      expect_refused(ErrorCode::dimension_mismatch, "rows of the matrix",
                     [&] { improved(dist, vectors, 1, 1.7); });
    }
  }
}

// On one rank: between ranks hybrid sweeps see what others had before.
TEST(NearNullSpace, ImprovesBySymmetricGaussSeidel) {
  const GlobalIndex n = 20;
  const DenseMatrix A = test::random_symmetric(n, 0.3, 0.2, 4);
  DenseMatrix x(n, 2);
  for (GlobalIndex i = 0; i < n; ++i) {
    x(i, 0) = 1;
    x(i, 1) = hash_uniform(static_cast<std::uint64_t>(i), 8);
  }
  NearNullSpace<double> vectors{2, {}};
  for (GlobalIndex i = 0; i < n; ++i) {
    vectors.values.insert(vectors.values.end(), {x(i, 0), x(i, 1)});
  }
  const auto relax_row = [&](GlobalIndex i) {
    for (GlobalIndex k = 0; k < 2; ++k) {
      double sum = 0;
      for (GlobalIndex j = 0; j < n; ++j) sum += A(i, j) * x(j, k);
      x(i, k) -= sum / A(i, i);
    }
  };
  for (int sweep = 0; sweep < 3; ++sweep) {
    for (GlobalIndex i = 0; i < n; ++i) relax_row(i);
    for (GlobalIndex i = n - 1; i >= 0; --i) relax_row(i);
  }
  const auto dist = test::distribute(A, matrix::Layout::uniform(test::self_comm(), n));
  Options options;
  options.smoother = "gauss_seidel";
  const auto relaxation = relax::make_relaxation(dist, options.smoother);
  const auto better = improved(dist, vectors, 3, *relaxation);
  test::expect_near(gathered_vectors(*test::self_comm(), better), x, 1e-12, "improved");
  EXPECT_EQ(improved(dist, vectors, 0, *relaxation).values, vectors.values);
  vectors.values.push_back(0);
  expect_refused(ErrorCode::dimension_mismatch, "rows of the matrix",
                 [&] { improved(dist, vectors, 1, *relaxation); });
}

}  // namespace amg_near_null_space_test
}  // namespace nodewise::amg
