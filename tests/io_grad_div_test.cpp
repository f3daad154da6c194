// The grad-div problem: against an assembly cell by cell, and what it does to curls and constants.
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "nodewise/io/gallery.hpp"
#include "nodewise/io/problems/grad_div.hpp"
#include "nodewise/matrix/operations.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"

namespace nodewise::io {
namespace io_grad_div_test {

using test::DenseMatrix;
using test::expect_near;
using test::gathered;
using test::test_comm;

GalleryOptions problem(int dimensions, int n, double alpha = 1, double beta = 1) {
  GalleryOptions options{.problem = dimensions == 2 ? "grad_div2d" : "grad_div3d", .n = n};
  options.problem.options<problems::GradDivOptions>() = {alpha, beta};
  return options;
}

/// A cell and the axis through the face behind it.
using Face = std::vector<int>;

/// Faces in the order of their numbers: those inside of each line, then of each layer, those
/// between them after the first of the two.
void number_faces(int n, int dimensions, const std::vector<int>& before,
                  std::map<Face, GlobalIndex>& numbers) {
  const int axis = static_cast<int>(before.size());
  if (axis == dimensions) return;
  for (int k = 0; k < n; ++k) {
    std::vector<int> layer = before;
    layer.push_back(k);
    number_faces(n, dimensions, layer, numbers);
    if (k == n - 1) continue;
    int cells = 1;
    for (int d = axis + 1; d < dimensions; ++d) cells *= n;
    for (int c = 0; c < cells; ++c) {
      Face face = layer;
      for (int d = axis + 1, rest = cells / n; d < dimensions; ++d, rest /= n) {
        face.push_back(c / rest % n);
      }
      face.push_back(axis);
      const auto number = static_cast<GlobalIndex>(numbers.size());
      numbers.emplace(face, number);
    }
  }
}

std::map<Face, GlobalIndex> faces_of(int n, int dimensions) {
  std::map<Face, GlobalIndex> numbers;
  number_faces(n, dimensions, {}, numbers);
  return numbers;
}

/// The numbers of the faces at both ends of an axis of a cell; -1 on the boundary.
std::array<GlobalIndex, 2> ends(const std::map<Face, GlobalIndex>& numbers, Face cell, int axis) {
  std::array<GlobalIndex, 2> found = {-1, -1};
  cell.push_back(axis);
  for (int end = 1; end >= 0; --end) {
    const auto place = numbers.find(cell);
    if (place != numbers.end()) found[std::size_t(end)] = place->second;
    --cell[std::size_t(axis)];
  }
  return found;
}

template <class F>
void for_cells(int n, int dimensions, const F& f) {
  const int cells = dimensions == 2 ? n * n : n * n * n;
  for (int c = 0; c < cells; ++c) {
    f(dimensions == 2 ? Face{c / n, c % n} : Face{c / n / n, c / n % n, c % n});
  }
}

DenseMatrix reference(int n, int dimensions, double alpha, double beta) {
  const auto numbers = faces_of(n, dimensions);
  const auto rows = static_cast<GlobalIndex>(numbers.size());
  DenseMatrix A(rows, rows);
  const double h = 1.0 / n;
  for_cells(n, dimensions, [&](const Face& cell) {
    for (int a = 0; a < dimensions; ++a) {
      for (int b = 0; b < dimensions; ++b) {
        const auto of_a = ends(numbers, cell, a), of_b = ends(numbers, cell, b);
        for (std::size_t i = 0; i < 2; ++i) {
          for (std::size_t j = 0; j < 2; ++j) {
            if (of_a[i] < 0 || of_b[j] < 0) continue;
            const double mass = a != b ? 0 : i == j ? 1.0 / 3 : 1.0 / 6;
            A(of_a[i], of_b[j]) += alpha * (i == j ? 1 : -1) + beta * h * h * mass;
          }
        }
      }
    }
  });
  return A;
}

TEST(GradDiv, IsAssembledCellByCell) {
  for (const int dimensions : {2, 3}) {
    for (const int n : {2, 3, 4}) {
      for (const auto& [alpha, beta] : {std::pair{1.0, 1.0}, {0.3, 7.0}, {0.0, 1.0}, {2.0, 0.0}}) {
        const auto A = generate<double>(test_comm(), problem(dimensions, n, alpha, beta));
        const DenseMatrix all = gathered(A);
        ASSERT_EQ(all.rows(), dimensions * (n - 1) * std::pow(n, dimensions - 1));
        expect_near(all, reference(n, dimensions, alpha, beta), 1e-14, "grad-div");
        EXPECT_EQ(all, all.transpose());
      }
    }
  }
}

/// The product of the matrix with numbers by face.
DenseMatrix product(const GalleryOptions& options, const DenseMatrix& v) {
  const auto A = generate<double>(test_comm(), options);
  std::vector<double> mine, Av(static_cast<std::size_t>(A.n_local()));
  for (GlobalIndex i = A.rows().begin(); i < A.rows().end(); ++i) {
    mine.push_back(v[i - A.rows().first()]);
  }
  matrix::multiply<double>(A, mine, Av);
  return gathered(*test_comm(), Av);
}

// Around an edge between four cells: what enters a cell leaves it.
TEST(GradDiv, WithoutMassTurnsCurlsToZero) {
  for (const int dimensions : {2, 3}) {
    const int n = 4;
    const auto numbers = faces_of(n, dimensions);
    DenseMatrix v(static_cast<GlobalIndex>(numbers.size()));
    const auto face = [&](Face cell, int axis) {
      if (dimensions == 3) cell.insert(cell.begin(), 1);
      cell.push_back(axis + dimensions - 2);
      return numbers.at(cell);
    };
    v[face({1, 1}, 0)] = 1;
    v[face({2, 1}, 1)] = 1;
    v[face({1, 2}, 0)] = -1;
    v[face({1, 1}, 1)] = -1;
    EXPECT_LE(test::norm(product(problem(dimensions, n, 1, 0), v)), 1e-15);
    EXPECT_GT(test::norm(product(problem(dimensions, n, 0, 1), v)), 1e-3);
  }
}

// Away from the boundary a constant field is the solution of its own right-hand side.
TEST(GradDiv, ConstantFieldsAreSolutionsInside) {
  const int n = 5;
  for (const int dimensions : {2, 3}) {
    const GalleryOptions options = problem(dimensions, n);
    const auto A = generate<double>(test_comm(), options);
    const DenseMatrix b = gathered(*test_comm(), own_right_hand_side(A.rows(), options));
    DenseMatrix ones(b.rows());
    for (GlobalIndex i = 0; i < ones.rows(); ++i) ones[i] = 1;
    const DenseMatrix Av = product(options, ones);
    int inside = 0;
    for (const auto& [face, number] : faces_of(n, dimensions)) {
      bool is_inside = true;
      for (int d = 0; d < dimensions; ++d) {
        const int cell = face[std::size_t(d)];
        const bool along = d == face[std::size_t(dimensions)];
        is_inside = is_inside && cell > 0 && cell < (along ? n - 2 : n - 1);
      }
      if (!is_inside) continue;
      ++inside;
      EXPECT_NEAR(Av[number], b[number], 1e-14);
    }
    EXPECT_GT(inside, 0);
  }
}

TEST(GradDiv, RefusesWhatItCannotMake) {
  GalleryOptions options = problem(3, 1);
  const auto message = [&](ErrorCode code) {
    return test::expect_same_error(*test_comm(), code,
                                   [&] { generate<double>(test_comm(), options); });
  };
  EXPECT_EQ(message(ErrorCode::invalid_argument),
            "problem: n is 1, needs >= 2: a single cell has no faces inside");
  options = problem(2, 4, 1, -2);
  EXPECT_EQ(message(ErrorCode::invalid_argument), "problem: beta is -2, needs >= 0");
  options = problem(3, 2'000'000);
  EXPECT_EQ(message(ErrorCode::index_overflow),
            "problem: the 3 * 2000000^3 faces do not fit in 64 bits");
}

}  // namespace io_grad_div_test
}  // namespace nodewise::io
