// Linear elasticity on an irregular mesh: that the mesh is one, and what elasticity has.
#include <algorithm>
#include <cmath>
#include <map>

#include <Eigen/Cholesky>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/io/gallery.hpp"
#include "nodewise/io/problems/unstructured_beam.hpp"

#include "aggregate_support.hpp"
#include "collective_error.hpp"

namespace nodewise::io {
namespace io_unstructured_beam_test {

using problems::BeamMesh;
using test::DenseMatrix;
using test::expect_same_error;
using test::gathered;
using test::test_comm;

GalleryOptions beam_of(int n, const char* traction = "end", int seed = 0) {
  GalleryOptions options = {.problem = "unstructured_beam", .n = n};
  auto& own = options.problem.options<problems::UnstructuredBeamOptions>();
  own.traction =
      std::string(traction) == "end" ? problems::Traction::end : problems::Traction::surface;
  own.seed = seed;
  return options;
}

void visit_all_cubes(int n, const BeamMesh& mesh, const auto& visit) {
  for (GlobalIndex i = 0; i < 8 * n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) {
      for (GlobalIndex k = 0; k < n; ++k) visit(mesh.cube({i, j, k}));
    }
  }
}

double volume(const BeamMesh::Cube& cube, const BeamMesh::Triangle& t) {
  std::array<BeamMesh::Coordinates, 3> edges{};
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t a = 0; a < 3; ++a) {
      edges[k][a] = cube.vertices[t[k]][a] - cube.vertices[BeamMesh::centre][a];
    }
  }
  const auto& [x, y, z] = edges;
  return std::abs(x[0] * (y[1] * z[2] - y[2] * z[1]) + x[1] * (y[2] * z[0] - y[0] * z[2]) +
                  x[2] * (y[0] * z[1] - y[1] * z[0])) /
         6;
}

// Where one turned over, it would count twice.
TEST(UnstructuredBeam, TetrahedraFillTheBeam) {
  for (const int seed : {0, 1, 2}) {
    constexpr int n = 4;
    double sum = 0, least = 1;
    visit_all_cubes(n, BeamMesh(n, {.seed = seed}), [&](const BeamMesh::Cube& cube) {
      for (const BeamMesh::Triangle& t : cube.triangles) {
        sum += volume(cube, t);
        least = std::min(least, volume(cube, t));
      }
    });
    EXPECT_NEAR(sum, 8 * n * n * n, 1e-9) << seed;
    EXPECT_GT(least, 0.02) << seed;  // 1 / 12 if nothing were shifted
  }
}

TEST(UnstructuredBeam, FacesFitEachOther) {
  constexpr int n = 3;
  const BeamMesh mesh(n, {});
  std::map<std::array<BeamMesh::Coordinates, 3>, int> uses;
  visit_all_cubes(n, mesh, [&](const BeamMesh::Cube& cube) {
    for (const BeamMesh::Triangle& t : cube.triangles) {
      std::array<BeamMesh::Coordinates, 3> key = {cube.vertices[t[0]], cube.vertices[t[1]],
                                                  cube.vertices[t[2]]};
      std::sort(key.begin(), key.end());
      ++uses[key];
    }
  });
  const auto once = std::ranges::count(uses, 1, [](const auto& use) { return use.second; });
  const auto twice = std::ranges::count(uses, 2, [](const auto& use) { return use.second; });
  EXPECT_EQ(once, 2 * (2 * n * n + 4 * 8 * n * n));
  EXPECT_EQ(once + 2 * twice, 12 * 8 * n * n * n);
}

TEST(UnstructuredBeam, NumbersAreThoseOfTheCubesAround) {
  constexpr int n = 2;
  const BeamMesh mesh(n, {.shuffled = 7});
  std::vector<int> met(static_cast<std::size_t>(mesh.n_points()), 0);
  for (GlobalIndex p = 0; p < mesh.n_points(); ++p) {
    mesh.visit_cubes(p, [&](const BeamMesh::Place& place, std::size_t vertex) {
      EXPECT_EQ(mesh.number(place, vertex), p);
      ++met[static_cast<std::size_t>(p)];
      for (std::size_t a = 0; a < 3; ++a) {
        EXPECT_DOUBLE_EQ(n * mesh.coordinates(p)[a], mesh.cube(place).vertices[vertex][a]);
      }
    });
  }
  EXPECT_EQ(std::ranges::count(met, 0), 0);
  EXPECT_EQ(std::ranges::count(met, 1), 8 * n * n * n + 4);  // inside cubes, and the end's corners
}

TEST(UnstructuredBeam, IsTheSameOnAnyNumberOfRanks) {
  const auto alone = mpi::Comm::create(MPI_COMM_SELF);
  const DenseMatrix A = gathered(generate<double>(test_comm(), beam_of(2)));
  EXPECT_EQ(A.rows(), 24 * 2 * (4 + 9));
  EXPECT_EQ(A, gathered(generate<double>(alone, beam_of(2))));
  EXPECT_EQ(A, A.transpose());  // to the last bit
  EXPECT_NE(A, gathered(generate<double>(test_comm(), beam_of(2, "end", 1))));
}

/// Of a symmetric matrix.
Eigen::MatrixXd as_eigen(const DenseMatrix& A) {
  return Eigen::Map<const Eigen::MatrixXd>(A.data(), A.rows(), A.cols());
}

/// Moves and turns of the points, a column each.
Eigen::MatrixXd rigid_body_modes(const BeamMesh& mesh) {
  Eigen::MatrixXd modes = Eigen::MatrixXd::Zero(3 * mesh.n_points(), 6);
  for (GlobalIndex p = 0; p < mesh.n_points(); ++p) {
    const BeamMesh::Coordinates x = mesh.coordinates(p);
    for (GlobalIndex d = 0; d < 3; ++d) {
      const GlobalIndex next = (d + 1) % 3;
      modes(3 * p + d, d) = 1;
      modes(3 * p + d, 3 + d) = -x[static_cast<std::size_t>(next)];
      modes(3 * p + next, 3 + d) = x[static_cast<std::size_t>(d)];
    }
  }
  return modes;
}

TEST(UnstructuredBeam, RigidBodyModesCostNothingFarFromTheClamp) {
  constexpr int n = 2;
  const BeamMesh mesh(n, {});
  const auto A = as_eigen(gathered(generate<double>(test_comm(), beam_of(n))));
  const Eigen::MatrixXd forces = A * rigid_body_modes(mesh);
  for (GlobalIndex p = 0; p < mesh.n_points(); ++p) {
    if (n * mesh.coordinates(p)[0] < 1.2) continue;
    EXPECT_LT(forces.middleRows(3 * p, 3).cwiseAbs().maxCoeff(), 1e-9) << p;
  }
  EXPECT_GT(forces.cwiseAbs().maxCoeff(), 1);
}

/// The sum of the right-hand side, and what it does to the beam: b . A^-1 b.
struct Pulled {
  double force, energy;
};

Pulled pulled(const GalleryOptions& options) {
  const auto alone = mpi::Comm::create(MPI_COMM_SELF);
  const auto matrix = generate<double>(alone, options);
  const std::vector<double> values = own_right_hand_side(matrix.rows(), options);
  const Eigen::Map<const Eigen::VectorXd> b(values.data(), std::ssize(values));
  const Eigen::LLT<Eigen::MatrixXd> factors(as_eigen(gathered(matrix)));
  EXPECT_EQ(factors.info(), Eigen::Success);  // positive definite
  return {b.sum(), b.dot(factors.solve(b)) / options.n};
}

// 6 n times the integrals of 0.01 over the end, of area 1, or of that and four sides 4 long.
TEST(UnstructuredBeam, IsPulledAsTheRegularBeam) {
  constexpr int n = 2;
  const Pulled end = pulled(beam_of(n));
  EXPECT_NEAR(end.force, -0.06 * n, 1e-12);
  EXPECT_NEAR(pulled(beam_of(n, "surface")).force, 17 * -0.06 * n, 1e-12);
  const Pulled regular = pulled({.problem = "beam", .n = n});
  EXPECT_NEAR(regular.force, end.force, 1e-12);
  EXPECT_GT(end.energy, regular.energy);  // more points yield more
  EXPECT_LT(end.energy, 2 * regular.energy);
}

TEST(UnstructuredBeam, RefusesWhatIsOutsideItsRange) {
  const auto refused = [](const GalleryOptions& options, ErrorCode code) {
    return expect_same_error(*test_comm(), code,
                             [&] { (void)generate<double>(test_comm(), options); });
  };
  EXPECT_THAT(refused(beam_of(2, "end", -1), ErrorCode::invalid_argument),
              testing::HasSubstr("seed is -1"));
  EXPECT_THAT(refused(beam_of(2000000), ErrorCode::index_overflow),
              testing::HasSubstr("do not fit in 64 bits"));
}

}  // namespace io_unstructured_beam_test
}  // namespace nodewise::io
