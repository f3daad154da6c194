// Discontinuous elements: against an assembly by quadrature in space, and what such matrices have.
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "nodewise/amg/near_null_space.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/io/problems/interior_penalty.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "aggregate_support.hpp"
#include "collective_error.hpp"

namespace nodewise::io {
namespace io_interior_penalty_test {

using test::DenseMatrix;
using test::expect_near;
using test::gathered;
using test::test_comm;

using Point = std::array<double, 3>;

GalleryOptions problem(const std::string& name, int n, double penalty = 4) {
  GalleryOptions options{.problem = name, .n = n};
  options.problem.options<problems::PenaltyOptions>().penalty = penalty;
  return options;
}

/// The same elements, by values and gradients at points of quadrature.
class Reference {
 public:
  Reference(int n, int dimensions, int unknowns, double penalty)
      : n_(n), d_(dimensions), m_(unknowns), penalty_(penalty), A(rows(), rows()) {
    for (int cell = 0; cell < cells(); ++cell) add_cell(cell);
    for (int cell = 0; cell < cells(); ++cell) {
      for (int axis = 0; axis < d_; ++axis) add_faces(cell, axis);
    }
  }

 private:
  int n_, d_, m_;
  double penalty_;

  int power(int base) const { return d_ == 2 ? base * base : base * base * base; }
  int cells() const { return power(n_); }
  int corners() const { return power(2); }
  GlobalIndex rows() const { return GlobalIndex{cells()} * corners() * m_; }
  int digit(int number, int base, int axis) const {
    for (int d = d_ - 1; d > axis; --d) number /= base;
    return number % base;
  }
  int stride(int base, int axis) const {
    int step = 1;
    for (int d = d_ - 1; d > axis; --d) step *= base;
    return step;
  }

  /// The value, or the derivative along `axis`, of a corner's function of a cell at a point.
  double value(int cell, int corner, const Point& x, int derived = -1) const {
    double product = 1;
    for (int d = 0; d < d_; ++d) {
      const double t = x[std::size_t(d)] * n_ - digit(cell, n_, d);
      const bool high = digit(corner, 2, d) == 1;
      product *= d == derived ? (high ? n_ : -n_) : (high ? t : 1 - t);
    }
    return product;
  }

  /// Component k of flux(u) n for u = a function in unknown c, n along `axis`.
  double flux(int cell, int corner, int c, int k, int axis, const Point& x) const {
    if (m_ == 1) return value(cell, corner, x, axis);
    double sum = 0;
    if (k == axis) sum += value(cell, corner, x, c);  // lambda div u
    if (k == c) sum += value(cell, corner, x, axis);
    if (c == axis) sum += value(cell, corner, x, k);
    return sum;
  }

  /// Calls f(x, weight) for the points of a cell, or of that end of its axis `fixed`.
  template <class F>
  void at_points(int cell, int fixed, int side, const F& f) const {
    const double gauss[2] = {0.5 - std::sqrt(1.0 / 12), 0.5 + std::sqrt(1.0 / 12)};
    for (int q = 0; q < corners(); ++q) {
      if (fixed >= 0 && digit(q, 2, fixed) == 1) continue;
      Point x{};
      double weight = 1;
      for (int d = 0; d < d_; ++d) {
        const double t = d == fixed ? side : gauss[digit(q, 2, d)];
        x[std::size_t(d)] = (digit(cell, n_, d) + t) / n_;
        if (d != fixed) weight *= 0.5 / n_;
      }
      f(x, weight * (d_ == 2 ? 1.0 : n_));  // divided by h^(d - 2)
    }
  }

  GlobalIndex row(int cell, int corner, int unknown) const {
    return (GlobalIndex{cell} * corners() + corner) * m_ + unknown;
  }
  template <class F>
  void for_functions(const F& f) const {
    for (int corner = 0; corner < corners(); ++corner) {
      for (int unknown = 0; unknown < m_; ++unknown) f(corner, unknown);
    }
  }

  void add_cell(int cell) {
    at_points(cell, -1, 0, [&](const Point& x, double weight) {
      for_functions([&](int a, int k) {
        for_functions([&](int b, int c) {
          for (int i = 0; i < d_; ++i) {
            A(row(cell, a, k), row(cell, b, c)) +=
                weight * flux(cell, b, c, k, i, x) * value(cell, a, x, i);
          }
        });
      });
    });
  }

  /// The face behind a cell, and that before it where it is the first.
  void add_faces(int cell, int axis) {
    const int place = digit(cell, n_, axis);
    const bool held_before = m_ == 1 || axis == 0, held_behind = m_ == 1;
    if (place == 0 && held_before) add_face(axis, {{cell, -1}}, cell, 0);
    if (place + 1 < n_) {
      add_face(axis, {{cell, 1}, {cell + stride(n_, axis), -1}}, cell, 1);
    } else if (held_behind) {
      add_face(axis, {{cell, 1}}, cell, 1);
    }
  }

  struct Side {
    int cell;
    double sign;  // of the normal that leads out of it
  };

  void add_face(int axis, const std::vector<Side>& sides, int cell, int side) {
    const double mean = 1.0 / double(sides.size());
    const double stiffness = m_ == 1 ? 1 : 3;
    at_points(cell, axis, side, [&](const Point& x, double weight) {
      for (const Side& s : sides) {
        for (const Side& t : sides) {
          for_functions([&](int a, int k) {
            for_functions([&](int b, int c) {
              const double v = value(s.cell, a, x), u = value(t.cell, b, x);
              const double entry =
                  -mean * flux(t.cell, b, c, k, axis, x) * s.sign * v -
                  mean * flux(s.cell, a, k, c, axis, x) * t.sign * u +
                  (k == c ? penalty_ * stiffness * n_ * s.sign * t.sign * u * v : 0);
              A(row(s.cell, a, k), row(t.cell, b, c)) += weight * entry;
            });
          });
        }
      }
    });
  }

 public:
  DenseMatrix A;
};

struct Case {
  std::string name;
  int dimensions, unknowns, n;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {{"dg2d", 2, 1, 1},
                                        {"dg2d", 2, 1, 3},
                                        {"dg3d", 3, 1, 1},
                                        {"dg3d", 3, 1, 2},
                                        {"dg3d", 3, 1, 3},
                                        {"dg_elasticity2d", 2, 2, 3},
                                        {"dg_elasticity3d", 3, 3, 1},
                                        {"dg_elasticity3d", 3, 3, 2}};
  return all;
}

TEST(InteriorPenalty, IsAssembledByQuadrature) {
  for (const Case& c : cases()) {
    for (const double penalty : {4.0, 2.7}) {
      const Reference reference(c.n, c.dimensions, c.unknowns, penalty);
      const auto A = generate<double>(test_comm(), problem(c.name, c.n, penalty));
      expect_near(gathered(A), reference.A, 1e-13, c.name + ", n = " + std::to_string(c.n));
    }
  }
}

// To the last bit, and nothing that cancels is stored.
TEST(InteriorPenalty, IsSymmetricWithoutZeros) {
  for (const Case& c : cases()) {
    const auto A = generate<double>(test_comm(), problem(c.name, c.n));
    const DenseMatrix all = gathered(A);
    EXPECT_EQ(all, all.transpose()) << c.name;
    GlobalIndex nonzeros = 0;
    for (std::size_t k = 0; k < all.size(); ++k)
      nonzeros += std::abs(all.data()[k]) > 1e-14 ? 1 : 0;
    EXPECT_EQ(A.nnz_global(), nonzeros) << c.name;
  }
  const auto A = generate<double>(test_comm(), problem("dg2d", 3));
  std::vector<GlobalIndex> of_row(36);  // 3 in the own cell, and 3 in each of 4 around
  const DenseMatrix all = gathered(A);
  for (GlobalIndex i = 0; i < 36; ++i) {
    for (GlobalIndex j = 0; j < 36; ++j) of_row[std::size_t(i)] += all(i, j) != 0 ? 1 : 0;
  }
  EXPECT_EQ(of_row[16], 15);
}

TEST(InteriorPenalty, IsPositiveDefinite) {
  for (const Case& c : cases()) {
    DenseMatrix A = gathered(generate<double>(test_comm(), problem(c.name, c.n)));
    for (GlobalIndex k = 0; k < A.rows(); ++k) {  // pivots of an elimination
      ASSERT_GT(A(k, k), 1e-3) << c.name << " " << k;
      for (GlobalIndex i = k + 1; i < A.rows(); ++i) {
        const double factor = A(i, k) / A(k, k);
        if (factor == 0) continue;
        for (GlobalIndex j = k; j < A.cols(); ++j) A(i, j) -= factor * A(k, j);
      }
    }
  }
}

/// How many rows, of cells where `counts`, have a product with `v` that is more than round-off.
template <class Counts>
GlobalIndex rows_that_resist(const matrix::DistMatrix<double>& A, const std::vector<double>& v,
                             const Counts& counts) {
  std::vector<double> Av(v.size());
  matrix::multiply<double>(A, v, Av);
  GlobalIndex rows = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const GlobalIndex row = A.rows().to_global(static_cast<LocalIndex>(i)) - A.rows().first();
    rows += counts(row) && std::abs(Av[i]) > 1e-12 ? 1 : 0;
  }
  return mpi::sum(A.comm(), rows);
}

// Functions that are continuous and linear have no flux out of a cell but into its neighbour.
TEST(InteriorPenalty, LinearFunctionsAreSolutionsInside) {
  const int n = 4;
  const auto A = generate<double>(test_comm(), problem("dg2d", n));
  std::vector<double> v;
  for (std::size_t i = 0; i < static_cast<std::size_t>(A.n_local()); ++i) {
    const GlobalIndex row = A.rows().to_global(static_cast<LocalIndex>(i)) - A.rows().first();
    const GlobalIndex cell = row / 4;
    const double x = double(cell / n + row / 2 % 2), y = double(cell % n + row % 2);
    v.push_back(1 + 0.5 * x - 2 * y);
  }
  const auto inside = [](GlobalIndex row) {
    const auto is_inside = [](GlobalIndex k) { return k > 0 && k < n - 1; };
    return is_inside(row / 4 / n) && is_inside(row / 4 % n);
  };
  EXPECT_EQ(rows_that_resist(A, v, inside), 0);
  EXPECT_GT(rows_that_resist(A, v, [&](GlobalIndex row) { return !inside(row); }), 0);
}

TEST(InteriorPenalty, RigidBodiesResistInTheClampedCellsOnly) {
  for (const Case& c : {Case{"dg_elasticity2d", 2, 2, 4}, Case{"dg_elasticity3d", 3, 3, 3}}) {
    const GalleryOptions options = problem(c.name, c.n);
    const auto A = generate<double>(test_comm(), options);
    const auto modes =
        amg::rigid_body_modes<double>(A.rows(), c.unknowns, point_coordinates(A.rows(), options));
    const GlobalIndex clamped = c.dimensions == 2 ? c.n * 4 * 2 : c.n * c.n * 8 * 3;
    for (std::size_t k = 0; k < static_cast<std::size_t>(modes.n_vectors); ++k) {
      std::vector<double> v;
      for (std::size_t i = 0; i < static_cast<std::size_t>(A.n_local()); ++i) {
        v.push_back(modes.row(i)[k]);
      }
      EXPECT_EQ(rows_that_resist(A, v, [&](GlobalIndex row) { return row >= clamped; }), 0);
      EXPECT_GT(rows_that_resist(A, v, [&](GlobalIndex row) { return row < clamped; }), 0);
    }
  }
}

// In the middle of a square -Laplace(u) = 1 has the solution 0.0736713533.
TEST(InteriorPenalty, ConvergesWithTheSquareOfTheWidth) {
  std::vector<double> errors;
  for (const int n : {4, 8, 16}) {
    const GalleryOptions options = problem("dg2d", n);
    const auto A =
        std::make_shared<const matrix::DistMatrix<double>>(generate<double>(test_comm(), options));
    const std::vector<double> b = own_right_hand_side(A->rows(), options);
    std::vector<double> x(b.size(), 0.0);
    solve::Options solving;
    solving.tolerance = 1e-10;
    const auto report = solve::cg<double>(solve::MatrixOperator<double>(A), nullptr, b, x, solving);
    EXPECT_TRUE(report.converged());
    const DenseMatrix all = gathered(*test_comm(), x);
    const GlobalIndex cell = (n / 2) * n + n / 2;  // that behind the middle, its corner 0
    errors.push_back(std::abs(all[4 * cell] - 0.0736713533));
  }
  EXPECT_GT(errors[0] / errors[1], 3);
  EXPECT_GT(errors[1] / errors[2], 3);
  EXPECT_LT(errors[2], 1e-3);
}

TEST(InteriorPenalty, RefusesWhatItCannotMake) {
  GalleryOptions options = problem("dg3d", 2, -1);
  const auto message = [&](ErrorCode code) {
    return test::expect_same_error(*test_comm(), code,
                                   [&] { generate<double>(test_comm(), options); });
  };
  EXPECT_EQ(message(ErrorCode::invalid_argument), "problem: penalty is -1, needs >= 0");
  options = problem("dg3d", 2'000'000);
  EXPECT_EQ(message(ErrorCode::index_overflow),
            "problem: the 8 rows of 8000000000000000000 cells do not fit in 64 bits");
}

}  // namespace io_interior_penalty_test
}  // namespace nodewise::io
