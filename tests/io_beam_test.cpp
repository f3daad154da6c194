// Linear elasticity on a beam: against an assembly of tetrahedra in space, and what elasticity has.
#include <array>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "nodewise/amg/near_null_space.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/io/problems/beam.hpp"
#include "nodewise/matrix/operations.hpp"

#include "aggregate_support.hpp"
#include "collective_error.hpp"

namespace nodewise::io {
namespace io_beam_test {

using problems::Beam;
using problems::beam_rows;
using test::DenseMatrix;
using test::expect_near;
using test::expect_same_error;
using test::gathered;
using test::test_comm;

using Point = std::array<double, 3>;

GalleryOptions beam_of(int n) {
  return {.problem = "beam", .n = n};
}

Point difference(const Point& a, const Point& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Point& a, const Point& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// The gradient of the linear function that is 1 at corner k and 0 at the others: normal to the
/// face of these.
Point gradient(const std::array<Point, 4>& x, std::size_t k) {
  const Point& a = x[(k + 1) % 4];
  Point normal = cross(difference(x[(k + 2) % 4], a), difference(x[(k + 3) % 4], a));
  const double height = dot(normal, difference(x[k], a));
  for (double& component : normal) component /= height;
  return normal;
}

double volume(const std::array<Point, 4>& x) {
  return std::abs(
             dot(difference(x[1], x[0]), cross(difference(x[2], x[0]), difference(x[3], x[0])))) /
         6;
}

/// All corners of the cubes, those clamped among them: x slowest, then y, then z.
struct Reference {
  explicit Reference(int n_) : n(n_), A(3 * corners(), 3 * corners()) {
    const std::array<std::array<std::size_t, 3>, 6> orders = {
        {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
    for (int i = 0; i < 8 * n; ++i) {
      for (int j = 0; j < n; ++j) {
        for (int k = 0; k < n; ++k) {
          for (const auto& order : orders) add_tetrahedron({i, j, k}, order);
        }
      }
    }
  }

  std::int64_t corners() const { return std::int64_t{8 * n + 1} * (n + 1) * (n + 1); }

  /// Without the clamped corners, in the scale of the model problem.
  DenseMatrix reduced() const {
    const std::int64_t clamped = 3LL * (n + 1) * (n + 1);
    DenseMatrix result(A.rows() - clamped, A.rows() - clamped);
    for (std::int64_t i = 0; i < result.rows(); ++i) {
      for (std::int64_t j = 0; j < result.cols(); ++j) {
        result(i, j) = 6.0 * n * A(clamped + i, clamped + j);
      }
    }
    return result;
  }

  void add_tetrahedron(std::array<int, 3> at, const std::array<std::size_t, 3>& order) {
    std::array<Point, 4> x{};
    std::array<std::int64_t, 4> number{};
    for (std::size_t k = 0; k < 4; ++k) {
      if (k > 0) ++at[order[k - 1]];
      for (std::size_t d = 0; d < 3; ++d) x[k][d] = static_cast<double>(at[d]) / n;
      number[k] = (std::int64_t{at[0]} * (n + 1) + at[1]) * (n + 1) + at[2];
    }
    const double middle = (x[0][0] + x[1][0] + x[2][0] + x[3][0]) / 4;
    const double modulus = middle < 4 ? 50 : 1;
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 0; b < 4; ++b) add_pair(x, number, a, b, modulus * volume(x));
    }
  }

  /// lambda div u div v + 2 mu e(u) : e(v), lambda = mu, for u along c at a and v along d at b.
  void add_pair(const std::array<Point, 4>& x, const std::array<std::int64_t, 4>& number,
                std::size_t a, std::size_t b, double factor) {
    const Point u = gradient(x, a);
    const Point v = gradient(x, b);
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t d = 0; d < 3; ++d) {
        double strains = 0;  // of the symmetric parts of two matrices with one row each
        for (std::size_t p = 0; p < 3; ++p) {
          for (std::size_t q = 0; q < 3; ++q) {
            const double of_u = ((p == c ? u[q] : 0) + (q == c ? u[p] : 0)) / 2;
            const double of_v = ((p == d ? v[q] : 0) + (q == d ? v[p] : 0)) / 2;
            strains += of_u * of_v;
          }
        }
        A(3 * number[a] + std::int64_t(c), 3 * number[b] + std::int64_t(d)) +=
            factor * (u[c] * v[d] + 2 * strains);
      }
    }
  }

  int n;
  DenseMatrix A;
};

TEST(Beam, IsAssembledFromTetrahedra) {
  for (const int n : {1, 2}) {
    const DenseMatrix expected = Reference(n).reduced();
    const DenseMatrix got = gathered(generate<double>(test_comm(), beam_of(n)));
    ASSERT_EQ(got.rows(), 24 * n * (n + 1) * (n + 1));
    expect_near(got, expected, 1e-14, "n = " + std::to_string(n));
    EXPECT_EQ(gathered(generate<float>(test_comm(), beam_of(n))), got);
  }
}

// To the last bit, and no zero is stored.
TEST(Beam, IsSymmetricAndOfWholeNumbers) {
  const DenseMatrix A = gathered(generate<double>(test_comm(), beam_of(2)));
  EXPECT_EQ(A, A.transpose());
  GlobalIndex nonzeros = 0;
  for (std::size_t k = 0; k < A.size(); ++k) {
    nonzeros += A.data()[k] != 0 ? 1 : 0;
    EXPECT_EQ(A.data()[k], std::round(A.data()[k]));
  }
  EXPECT_EQ(generate<double>(test_comm(), beam_of(2)).nnz_global(), nonzeros);
}

TEST(Beam, IsPositiveDefinite) {
  DenseMatrix A = gathered(generate<double>(test_comm(), beam_of(1)));
  for (GlobalIndex k = 0; k < A.rows(); ++k) {  // pivots of an elimination
    ASSERT_GT(A(k, k), 1e-3) << k;
    for (GlobalIndex i = k + 1; i < A.rows(); ++i) {
      const double factor = A(i, k) / A(k, k);
      for (GlobalIndex j = k; j < A.cols(); ++j) A(i, j) -= factor * A(k, j);
    }
  }
}

TEST(Beam, PointsAreOnOneRankEach) {
  for (const int n : {1, 3}) {
    const auto A = generate<double>(test_comm(), beam_of(n));
    EXPECT_TRUE(comm::has_whole_points(A.rows(), 3));
    const auto points = matrix::Layout::uniform(test_comm(), 8 * n * (n + 1) * (n + 1));
    EXPECT_EQ(amg::points_of(A.rows(), 3), points);
  }
}

/// Rows i for which |A v| is more than round-off, counted over all ranks, by vector and by whether
/// the row's point is next to the clamped end.
std::array<GlobalIndex, 2> rows_that_resist(const matrix::DistMatrix<double>& A,
                                            const amg::NearNullSpace<double>& modes, std::size_t k,
                                            GlobalIndex rows_next_to_clamped) {
  const auto n = static_cast<std::size_t>(A.n_local());
  std::vector<double> v(n), Av(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = modes.row(i)[k];
  matrix::multiply<double>(A, v, Av);
  std::array<GlobalIndex, 2> counts = {0, 0};
  for (std::size_t i = 0; i < n; ++i) {
    // Entries are 2,000 at most, 8 of them a row that large, and the modes 5.
    const GlobalIndex row = A.rows().to_global(static_cast<LocalIndex>(i)) - A.rows().first();
    if (std::abs(Av[i]) > 1e-10) ++counts[row < rows_next_to_clamped ? 0 : 1];
  }
  mpi::sum_in_place(A.comm(), std::span<GlobalIndex>(counts));
  return counts;
}

// On layouts with empty ranks, too: rows are made wherever they are asked for.
TEST(Beam, RigidBodyModesMeetResistanceAtTheClampedEndOnly) {
  const int n = 2;
  const Beam beam(n);
  for (const matrix::Layout& rows : test::layouts_of_points(beam.n_points(), 3)) {
    const GlobalIndex first = rows.first();
    const auto row = beam_rows<double>(beam);
    const auto A = matrix::matrix_from_rows<double>(rows, rows, [&](GlobalIndex i, auto&& emit) {
      row(i - first, [&](GlobalIndex column, double value) { emit(first + column, value); });
    });
    EXPECT_TRUE(matrix::is_symmetric(A));
    const std::vector<double> x = point_coordinates(rows, beam_of(n));
    const auto modes = amg::rigid_body_modes<double>(rows, 3, x);
    ASSERT_EQ(modes.n_vectors, 6);
    for (std::size_t k = 0; k < 6; ++k) {
      const auto [next_to_clamped, elsewhere] =
          rows_that_resist(A, modes, k, 3 * (n + 1) * (n + 1));
      EXPECT_GT(next_to_clamped, 0) << k;
      EXPECT_EQ(elsewhere, 0) << k;
    }
  }
}

TEST(Beam, CoordinatesAreThoseOfABeamEightLong) {
  const DenseMatrix x =
      gathered(*test_comm(),
               point_coordinates(generate<double>(test_comm(), beam_of(2)).rows(), beam_of(2)));
  ASSERT_EQ(x.rows(), 24 * 2 * 9);
  const auto at = [&](GlobalIndex point) {
    return Point{x[3 * point], x[3 * point + 1], x[3 * point + 2]};
  };
  EXPECT_EQ(at(0), (Point{0.5, 0, 0}));
  EXPECT_EQ(at(5), (Point{0.5, 0.5, 1}));
  EXPECT_EQ(at(9), (Point{1, 0, 0}));
  EXPECT_EQ(at(143), (Point{8, 1, 1}));
  EXPECT_TRUE(point_coordinates(matrix::Layout::uniform(test_comm(), 9), {}).empty());
}

/// 6 n times the integrals of the traction, over the triangles that a face of a cube is cut into.
DenseMatrix reference_force(int n, problems::Traction traction) {
  DenseMatrix b(24 * n * (n + 1) * (n + 1));
  const double h = 1.0 / n;
  const auto add = [&](const std::array<Point, 3>& x) {
    const Point normal = cross(difference(x[1], x[0]), difference(x[2], x[0]));
    for (const Point& corner : x) {
      const auto at = [&](std::size_t d) { return std::lround(corner[d] / h); };
      const GlobalIndex point = ((at(0) - 1) * (n + 1) + at(1)) * (n + 1) + at(2);
      b[3 * point + 2] -= 6.0 * n * 0.01 * std::sqrt(dot(normal, normal)) / 2 / 3;
    }
  };
  const auto add_square = [&](const Point& low, std::size_t u, std::size_t v) {
    Point beside = low, above = low, high = low;
    beside[u] += h;
    above[v] += h;
    high[u] += h;
    high[v] += h;
    add({low, beside, high});
    add({low, above, high});
  };
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < n; ++k) add_square({8, j * h, k * h}, 1, 2);
    for (int i = 4 * n; traction == problems::Traction::surface && i < 8 * n; ++i) {
      for (const double side : {0.0, 1.0}) {
        add_square({i * h, side, j * h}, 0, 2);
        add_square({i * h, j * h, side}, 0, 1);
      }
    }
  }
  return b;
}

TEST(Beam, IsPulledDown) {
  for (const int n : {1, 2, 3}) {
    for (const auto traction : {problems::Traction::end, problems::Traction::surface}) {
      GalleryOptions options = beam_of(n);
      options.problem.options<problems::BeamOptions>().traction = traction;
      const auto A = generate<double>(test_comm(), options);
      const DenseMatrix got = gathered(*test_comm(), own_right_hand_side(A.rows(), options));
      const DenseMatrix expected = reference_force(n, traction);
      ASSERT_EQ(got.size(), expected.size());
      double sum = 0;
      for (GlobalIndex i = 0; i < expected.rows(); ++i) {
        EXPECT_NEAR(got[i], expected[i], 1e-15) << n << " " << i;
        sum += got[i];
      }
      // All of it: 0.01 on an area of 1, or of 1 + 4 * 4.
      EXPECT_NEAR(sum, -0.06 * n * (traction == problems::Traction::end ? 1 : 17), 1e-12);
    }
  }
}

std::map<GlobalIndex, double> row_of(const Beam& beam, GlobalIndex i) {
  std::map<GlobalIndex, double> row;
  beam_rows<double>(beam)(i, [&](GlobalIndex column, double value) {
    EXPECT_TRUE(row.emplace(column, value).second) << column;
  });
  return row;
}

// Inside the soft half the couplings are the same at any size: the offsets are scaled.
TEST(Beam, RowsBeyond32Bits) {
  const Beam small(4);
  const Beam large(300'000);
  const GlobalIndex here = small.point({20, 2, 1});
  const GlobalIndex there = large.point({2'000'000, 150'000, 299'998});
  EXPECT_GT(there, GlobalIndex{1} << 56);
  EXPECT_EQ(large.place(there), (Beam::Place{2'000'000, 150'000, 299'998}));
  for (int d = 0; d < 3; ++d) {
    const auto expected = row_of(small, 3 * here + d);
    const auto got = row_of(large, 3 * there + d);
    EXPECT_EQ(got.size(), expected.size());
    for (const auto& [column, value] : expected) {
      Beam::Place to = small.place(column / 3);
      to = {to[0] - 20 + 2'000'000, to[1] - 2 + 150'000, to[2] - 1 + 299'998};
      const auto found = got.find(3 * large.point(to) + column % 3);
      ASSERT_NE(found, got.end());
      EXPECT_EQ(found->second, value);
    }
  }
}

TEST(Beam, TooManyRowsAreRefused) {
  const auto message = [](int n) {
    return expect_same_error(*test_comm(), ErrorCode::index_overflow,
                             [&] { generate<double>(test_comm(), beam_of(n)); });
  };
  EXPECT_EQ(message(2'147'483'647),
            "problem: the 24 * 2147483647 * 2147483648^2 rows of a beam do not fit in 64 bits");
  EXPECT_EQ(message(700'000).find("rows of a rank"), 0u);  // in 64 bits, but not on these ranks
  EXPECT_EQ(Beam(727'000).n_points(), GlobalIndex{8} * 727'000 * 727'001 * 727'001);
  EXPECT_THROW(Beam(728'000), Error);
}

}  // namespace io_beam_test
}  // namespace nodewise::io
