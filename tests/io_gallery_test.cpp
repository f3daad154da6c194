// Model problems: stencils, counts, and the same matrix on any number of ranks.
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/comm/points.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/matrix/operations.hpp"

#include "collective_error.hpp"
#include "io_support.hpp"
#include "problem_support.hpp"

namespace nodewise::io {
namespace io_gallery_test {

using test::Entries;
using test::expect_same_error;
using test::gather_entries;
using test::test_comm;

GalleryOptions problem(const std::string& which, int n) {
  return {.problem = which, .n = n};
}

/// Entry (i, j) of the Laplacian on an n^d grid from the distance of two points: `centre` on the
/// diagonal, -1 for neighbours, that is points next to each other along one axis (`star`) or within
/// the cube of side 3.
double laplacian(GlobalIndex i, GlobalIndex j, GlobalIndex n, int d, bool star, double centre) {
  if (i == j) return centre;
  GlobalIndex sum = 0;
  GlobalIndex largest = 0;
  for (int axis = 0; axis < d; ++axis, i /= n, j /= n) {
    const GlobalIndex distance = std::abs(i % n - j % n);
    sum += distance;
    largest = std::max(largest, distance);
  }
  return (star ? sum : largest) == 1 ? -1.0 : 0.0;
}

TEST(Gallery, LaplaciansEntryByEntry) {
  struct Case {
    std::string which;
    int d;
    bool star;
    double centre;
  };
  for (const Case& c : {Case{"laplace5", 2, true, 4}, Case{"laplace7", 3, true, 6},
                        Case{"laplace9", 2, false, 8}, Case{"laplace27", 3, false, 26}}) {
    for (const int n : {1, 2, 3, 5}) {
      const GlobalIndex rows = c.d == 2 ? n * n : n * n * n;
      Entries expected;
      for (GlobalIndex i = 0; i < rows; ++i) {
        for (GlobalIndex j = 0; j < rows; ++j) {
          const double value = laplacian(i, j, n, c.d, c.star, c.centre);
          if (value != 0) expected.emplace_back(i, j, value);
        }
      }
      EXPECT_EQ(gather_entries(generate<double>(test_comm(), problem(c.which, n))), expected);
      EXPECT_EQ(gather_entries(generate<float>(test_comm(), problem(c.which, n))), expected);
    }
  }
}

TEST(Gallery, CountsOfLargerGrids) {
  const auto count = [](const std::string& which, int n) {
    return generate<double>(test_comm(), problem(which, n)).nnz_global();
  };
  const auto power = [](GlobalIndex x, int d) { return d == 2 ? x * x : x * x * x; };
  EXPECT_EQ(count("laplace5", 60), 5 * 3600 - 4 * 60);
  EXPECT_EQ(count("laplace7", 20), 7 * 8000 - 6 * 400);
  EXPECT_EQ(count("laplace9", 60), power(3 * 60 - 2, 2));
  EXPECT_EQ(count("laplace27", 20), power(3 * 20 - 2, 3));
}

/// The couplings of the middle point of a 3 x 3 grid, by slow axis, then fast axis.
std::vector<double> middle_row(const std::string& which, double epsilon, double angle) {
  const GalleryOptions options = test::rotated_problem(which, 3, {angle, epsilon});
  std::vector<double> row(9, 0.0);
  for (const auto& [i, j, value] : gather_entries(generate<double>(test_comm(), options))) {
    if (i == 4) row[static_cast<std::size_t>(j)] = value;
  }
  return row;
}

void expect_near(const std::vector<double>& row, const std::vector<double>& expected) {
  ASSERT_EQ(row.size(), expected.size());
  for (std::size_t k = 0; k < row.size(); ++k) EXPECT_NEAR(row[k], expected[k], 1e-14) << k;
}

// The numbers were printed by PyAMG 5.4.1, diffusion_stencil_2d(epsilon, theta, type).
TEST(Gallery, RotatedStencilsAreThoseOfPyAMG) {
  expect_near(middle_row("rotated_fe", 0.001, 0.39269908169872414),
              {-0.3434332519346735, -0.5200331705360138, 0.009766585268006925, 0.18636650386934714,
               1.3346666666666664, 0.18636650386934714, 0.009766585268006925, -0.5200331705360138,
               -0.3434332519346735});
  expect_near(middle_row("rotated_fe", 0.1, -1.0),
              {0.02125858770244508, 0.003932743112880721, -0.3879252543691118, -0.37059940977954736,
               1.4666666666666668, -0.37059940977954736, -0.3879252543691118, 0.003932743112880721,
               0.02125858770244508});
  expect_near(middle_row("rotated_fe", 10.0, 0.5),
              {0.059976382484433856, 0.5980270430732956, -3.7266430491511002, -4.264693709739962,
               14.666666666666666, -4.264693709739962, -3.7266430491511002, 0.5980270430732956,
               0.059976382484433856});
  expect_near(
      middle_row("rotated_fd", 0.001, 0.39269908169872414),
      {-0.17659991860134025, -0.8536998372026805, 0.17659991860134025, -0.14730016279731953, 2.002,
       -0.14730016279731953, 0.17659991860134025, -0.8536998372026805, -0.17659991860134025});
  expect_near(
      middle_row("rotated_fd", 0.1, -1.0),
      {0.20459192103577842, -0.362733923553786, -0.20459192103577842, -0.7372660764462141, 2.2,
       -0.7372660764462141, -0.20459192103577842, -0.362733923553786, 0.20459192103577842});
  expect_near(
      middle_row("rotated_fd", 10.0, 0.5),
      {1.8933097158177672, -3.0686396235933717, -1.8933097158177672, -7.931360376406629, 22.0,
       -7.931360376406629, -1.8933097158177672, -3.0686396235933717, 1.8933097158177672});
}

TEST(Gallery, RotatedStencilsOfSpecialTensors) {
  const double third = 1.0 / 3;
  expect_near(middle_row("rotated_fe", 1, 0.7),
              {-third, -third, -third, -third, 8 * third, -third, -third, -third, -third});
  expect_near(middle_row("rotated_fd", 1, 0), {0, -1, 0, -1, 4, -1, 0, -1, 0});
  // Angle 0: the strong direction is the slow axis.
  expect_near(middle_row("rotated_fd", 0.25, 0), {0, -1, 0, -0.25, 2.5, -0.25, 0, -1, 0});
}

TEST(Gallery, RandomHasSoManyEntriesNearTheRow) {
  const int n = 600;
  const GalleryOptions options = test::random_problem(n, {.entries = 9, .within = 20, .far = 2});
  const Entries entries = gather_entries(generate<double>(test_comm(), options));
  ASSERT_EQ(entries.size(), std::size_t{10} * n);
  std::vector<int> far(n);
  for (const auto& [i, j, value] : entries)
    far[static_cast<std::size_t>(i)] += std::abs(i - j) > 20;
  EXPECT_LE(*std::max_element(far.begin(), far.end()), 2);
  EXPECT_EQ(std::count(far.begin(), far.end(), 2) > n / 2, true);  // few are near by chance
  for (const io::problems::RandomOptions& wrong :
       {io::problems::RandomOptions{.entries = 9, .within = 6, .far = 2},
        io::problems::RandomOptions{.entries = 9, .within = 20, .far = 10}}) {
    EXPECT_THROW(generate<double>(test_comm(), test::random_problem(n, wrong)), Error);
  }
}

TEST(Gallery, RandomHasDistinctColumnsAndADominantDiagonal) {
  for (const int n : {1, 2, 9, 400}) {
    const int wanted = std::min(8, n - 1);
    const GalleryOptions options = test::random_problem(n, {.entries = wanted});
    const Entries entries = gather_entries(generate<double>(test_comm(), options));
    ASSERT_EQ(entries.size(), static_cast<std::size_t>(n) * (wanted + 1));
    std::map<GlobalIndex, double> margin;
    for (const auto& [i, j, value] : entries) margin[i] += i == j ? value : -std::abs(value);
    for (const auto& [i, left] : margin) EXPECT_NEAR(left, 1, 1e-12) << i;
  }
}

/// A sum over all entries that does not depend on their order.
std::uint64_t checksum(const Entries& entries) {
  std::uint64_t sum = 0;
  for (const auto& [i, j, value] : entries) {
    const auto bits = static_cast<std::uint64_t>(std::llround(value * 1e6));
    sum += hash64(bits, hash64(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)));
  }
  return sum;
}

// The same constants on every number of ranks.
TEST(Gallery, TheSameMatrixOnAnyNumberOfRanks) {
  struct Case {
    std::string which;
    int n;
    std::uint64_t expected;
  };
  for (const Case& c :
       {Case{"unstructured", 6, 13276483797256831334u}, Case{"laplace5", 13, 14629947236327658810u},
        Case{"laplace7", 6, 10746058760437308607u}, Case{"laplace9", 13, 16517386800084211159u},
        Case{"laplace27", 6, 15055424921616694496u}, Case{"rotated_fe", 11, 8356514829756675530u},
        Case{"rotated_fd", 11, 2278432789758331817u}, Case{"random", 150, 17463554328935991378u},
        Case{"convection2d", 11, 10552465849054922650u},
        Case{"convection3d", 5, 3666419960509439627u}, Case{"beam", 2, 15323694406494668965u},
        Case{"kronecker", 150, 6479739342857875875u},
        Case{"preferential", 150, 9993245525621726801u},
        Case{"grad_div2d", 11, 4976634703848028661u}, Case{"grad_div3d", 5, 2252533368502892243u},
        Case{"dg2d", 6, 924486560275119832u}, Case{"dg3d", 3, 8550665724576535246u},
        Case{"dg_elasticity2d", 5, 13291913592880081135u},
        Case{"dg_elasticity3d", 2, 4916410354716746595u}}) {
    EXPECT_EQ(checksum(gather_entries(generate<double>(test_comm(), problem(c.which, c.n)))),
              c.expected)
        << c.which;
  }
}

TEST(Gallery, OptionsAreChecked) {
  const auto message = [](const GalleryOptions& options, ErrorCode code) {
    return expect_same_error(*test_comm(), code, [&] { generate<double>(test_comm(), options); });
  };
  GalleryOptions options = problem("laplace5", 0);
  EXPECT_EQ(message(options, ErrorCode::invalid_argument), "problem: n is 0, needs >= 1");
  options = test::rotated_problem("rotated_fe", 4, {.epsilon = 0});
  EXPECT_EQ(message(options, ErrorCode::invalid_argument), "problem: epsilon is 0, needs > 0");
  options = problem("random", 8);
  EXPECT_EQ(message(options, ErrorCode::invalid_argument),
            "`entries 8` (the default) is too many for `n 8`: at most 7");
  options = problem("laplace27", 2097152);
  EXPECT_EQ(message(options, ErrorCode::index_overflow),
            "problem: 2097152^3 rows do not fit in 64 bits");
  options = problem("laplace27", 2097151);  // fits in 64 bits, but not on these ranks
  EXPECT_EQ(message(options, ErrorCode::index_overflow).find("rows of a rank"), 0u);
}

TEST(Gallery, FieldsSetOptions) {
  GalleryOptions options;
  set_option(options, gallery_fields(), "problem", "rotated_fd");
  set_option(options, gallery_fields(), "n", "77");
  set_option(options, gallery_fields(), "angle", "-0.5");
  EXPECT_TRUE(options.problem == "rotated_fd");
  EXPECT_EQ(options.n, 77);
  EXPECT_EQ(options.problem.options<problems::RotatedOptions>().angle, -0.5);
  EXPECT_THROW(set_option(options, gallery_fields(), "epsilon", "0"), Error);
  EXPECT_THROW(set_option(options, gallery_fields(), "entries", "1"), Error);
}

/// What the descriptors say, of the matrices that they make.
TEST(Gallery, ProblemsAreWhatTheySay) {
  for (const ModelProblem& which : ModelProblem::family()) {
    SCOPED_TRACE(*which.name);
    // Small graphs have few edges that are not drawn again.
    const GalleryOptions options = {.problem = which, .n = which.dimensions == 0 ? 4000 : 12};
    const auto A = generate<double>(test_comm(), options);
    const MatrixSize size = (*which.size)(options);
    EXPECT_EQ(size.rows, A.rows().n_global());
    EXPECT_GE(size.nonzeros, A.nnz_global());
    EXPECT_LE(size.nonzeros, 1.4 * static_cast<double>(A.nnz_global()));
    EXPECT_EQ(matrix::is_symmetric(A), *which.is_symmetric);
    EXPECT_TRUE(comm::has_whole_points(A.rows(), which.unknowns));
    const std::size_t coordinates = point_coordinates(A.rows(), options).size();
    const auto n_local = static_cast<std::size_t>(A.n_local());
    EXPECT_EQ(coordinates, which.has_rigid_body_modes() ? n_local : 0);
    if (which.has_right_hand_side()) {
      EXPECT_EQ(own_right_hand_side(A.rows(), options).size(), n_local);
    } else {
      EXPECT_THROW(own_right_hand_side(A.rows(), options), Error);
    }
  }
}

}  // namespace io_gallery_test
}  // namespace nodewise::io
