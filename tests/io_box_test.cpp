// laplace7 and laplace27 with unequal sides, coefficients, and boxes of ranks.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/io/gallery.hpp"
#include "nodewise/io/problems/laplace.hpp"
#include "nodewise/solver/amg2023.hpp"
#include "nodewise/solver/solver.hpp"

#include "collective_error.hpp"
#include "io_support.hpp"

namespace nodewise::io {
namespace io_box_test {

using problems::LaplaceOptions;
using test::Entries;
using test::expect_same_error;
using test::gather_entries;
using test::test_comm;
using Three = std::array<int, 3>;

GalleryOptions box_problem(const std::string& name, const Three& sides,
                           const LaplaceOptions& own = {}) {
  GalleryOptions options{.problem = name, .n = sides[0], .n_y = sides[1], .n_z = sides[2]};
  options.problem.options<LaplaceOptions>() = own;
  return options;
}

/// Where a point is, and the box it is in, by plain search: points of rank 0, then of rank 1, ...
std::vector<Three> points_by_number(const Three& sides, const Three& boxes) {
  const auto begin = [&](std::size_t d, int part) {
    return part * (sides[d] / boxes[d]) + std::min(part, sides[d] % boxes[d]);
  };
  std::vector<Three> points;
  for (int rank = 0; rank < boxes[0] * boxes[1] * boxes[2]; ++rank) {
    const Three box = {rank % boxes[0], rank / boxes[0] % boxes[1], rank / boxes[0] / boxes[1]};
    for (int z = begin(2, box[2]); z < begin(2, box[2] + 1); ++z) {
      for (int y = begin(1, box[1]); y < begin(1, box[1] + 1); ++y) {
        for (int x = begin(0, box[0]); x < begin(0, box[0] + 1); ++x) points.push_back({x, y, z});
      }
    }
  }
  return points;
}

/// The entries of a stencil by the number of directions in which points differ.
Entries entries_of(const std::vector<Three>& points, const std::vector<double>& coefficients) {
  Entries expected;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < points.size(); ++j) {
      std::size_t differing = 0;
      bool is_near = true;
      for (std::size_t d = 0; d < 3; ++d) {
        const int distance = std::abs(points[i][d] - points[j][d]);
        is_near = is_near && distance <= 1;
        differing += static_cast<std::size_t>(distance != 0);
      }
      if (!is_near || differing >= coefficients.size() || coefficients[differing] == 0) continue;
      expected.emplace_back(static_cast<GlobalIndex>(i), static_cast<GlobalIndex>(j),
                            coefficients[differing]);
    }
  }
  return expected;
}

/// Boxes of as many ranks as there are, longest in the direction d.
Three boxes_of_all(std::size_t d) {
  const int ranks = test_comm()->size();
  Three boxes = {1, 1, 1};
  const int along = ranks % 4 == 0 ? ranks / 2 : ranks;
  boxes[d] = along;
  boxes[(d + 1) % 3] = ranks / along;
  return boxes;
}

TEST(GalleryBox, UnequalSidesAreThoseOfPlainSearch) {
  for (const Three& sides : {Three{4, 3, 2}, Three{1, 5, 3}, Three{7, 1, 1}}) {
    const std::vector<Three> points = points_by_number(sides, {1, 1, 1});
    EXPECT_EQ(gather_entries(generate<double>(test_comm(), box_problem("laplace7", sides))),
              entries_of(points, {6, -1}));
    EXPECT_EQ(gather_entries(generate<float>(test_comm(), box_problem("laplace27", sides))),
              entries_of(points, {26, -1, -1, -1}));
  }
}

TEST(GalleryBox, CoefficientsAreByDistanceAndZerosLeftOut) {
  const std::vector<Three> points = points_by_number({4, 3, 3}, {1, 1, 1});
  const std::vector<double> of_27 = {26, -4, -0.15, -0.0125}, of_faces = {7, -1, 0, 0},
                            of_7 = {5, 2};
  EXPECT_EQ(gather_entries(generate<double>(
                test_comm(), box_problem("laplace27", {4, 3, 3}, {.coefficients = of_27}))),
            entries_of(points, of_27));
  EXPECT_EQ(gather_entries(generate<double>(
                test_comm(), box_problem("laplace27", {4, 3, 3}, {.coefficients = of_faces}))),
            entries_of(points, of_faces));
  EXPECT_EQ(gather_entries(generate<double>(
                test_comm(), box_problem("laplace7", {4, 3, 3}, {.coefficients = of_7}))),
            entries_of(points, of_7));
}

TEST(GalleryBox, BoxesOfRanksAreThoseOfPlainSearch) {
  for (const Three& sides : {Three{5, 6, 4}, Three{8, 8, 8}, Three{3, 2, 9}}) {
    for (std::size_t d = 0; d < 3; ++d) {
      const Three boxes = boxes_of_all(d);
      const LaplaceOptions own = {.processors = {boxes.begin(), boxes.end()}};
      const auto A = generate<double>(test_comm(), box_problem("laplace27", sides, own));
      const std::vector<Three> points = points_by_number(sides, boxes);
      EXPECT_EQ(gather_entries(A), entries_of(points, {26, -1, -1, -1}));
      EXPECT_EQ(A.rows().n_global(), std::ssize(points));
    }
  }
}

// Several boxes for each rank: those that as many virtual ranks have.
TEST(GalleryBox, BoxesAreDealtOutInOrder) {
  const int ranks = test_comm()->size();
  for (const Three& boxes : {Three{2, ranks, 1}, Three{1, 3 * ranks, 2}, Three{2, 2, 2 * ranks}}) {
    const LaplaceOptions own = {.processors = {boxes.begin(), boxes.end()}};
    const auto A = generate<double>(test_comm(), box_problem("laplace27", {4, 5, 7}, own));
    const std::vector<Three> points = points_by_number({4, 5, 7}, boxes);
    EXPECT_EQ(gather_entries(A), entries_of(points, {26, -1, -1, -1}));
  }
  const LaplaceOptions even = {.processors = {2, 2, ranks}};
  const auto A = generate<double>(test_comm(), box_problem("laplace7", {6, 6, 3 * ranks}, even));
  EXPECT_EQ(A.rows().n_local(), 108);
}

TEST(GalleryBox, BoxesHaveFewerNeighboursThanRanges) {
  const int ranks = test_comm()->size();
  if (ranks % 4 != 0) GTEST_SKIP() << "needs boxes in two directions";
  const Three boxes = {2, 2, ranks / 4};
  const LaplaceOptions own = {.processors = {boxes.begin(), boxes.end()}};
  const auto A = generate<double>(test_comm(), box_problem("laplace7", {8, 8, 8}, own));
  // Of 7 points: one neighbour across each face that is none of the whole box's.
  const std::size_t outer = ranks == 4 ? 0 : 1;
  const comm::Plan& plan = A.exchange().plan();
  std::size_t neighbours = 0;
  for (const comm::Stage& stage : plan.stages) neighbours += stage.recv_ranks.size();
  EXPECT_EQ(neighbours, 2 + outer);
  EXPECT_EQ(A.rows().n_local(), 512 / ranks);
  EXPECT_EQ(plan.n_ghosts, 2 * (4 * 8 / (ranks / 4)) + (outer == 1 ? 16 : 0));
}

TEST(GalleryBox, MoreRanksThanPointsLeaveBoxesEmpty) {
  const int ranks = test_comm()->size();
  const LaplaceOptions own = {.processors = {1, ranks, 1}};
  const auto A = generate<double>(test_comm(), box_problem("laplace7", {3, 1, 2}, own));
  EXPECT_EQ(A.rows().n_local(), test_comm()->rank() == 0 ? 6 : 0);
  EXPECT_EQ(A.nnz_global(), 6 + 2 * (2 * 2 + 3));
}

TEST(GalleryBox, RefusesWhatDoesNotFit) {
  const auto refuse = [](const GalleryOptions& options, const char* text) {
    const std::string message = expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                                                  [&] { generate<double>(test_comm(), options); });
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  const int ranks = test_comm()->size();
  if (ranks > 1) {
    refuse(box_problem("laplace7", {4, 4, 4}, {.processors = {ranks + 1, 1, 1}}),
           "but the matrix is made by");
  }
  refuse(box_problem("laplace7", {4, 4, 4}, {.processors = {100'000, 100'000, ranks}}), "boxes");
  refuse(box_problem("laplace7", {4, 4, 4}, {.processors = {ranks, 0, 1}}), "three numbers");
  refuse(box_problem("laplace7", {4, 4, 4}, {.processors = {ranks, 1}}), "three numbers");
  refuse(box_problem("laplace7", {4, 4, 4}, {.coefficients = {6, -1, 0}}), "has 2");
  refuse(box_problem("laplace27", {4, 4, 4}, {.coefficients = {6, -1}}), "has 4");
  refuse(box_problem("laplace27", {4, 4, 4}, {.coefficients = {0, -1, 0, 0}}), "diagonal");
  refuse(box_problem("laplace7", {4, 0, 4}), "needs >= 1");
  refuse(GalleryOptions{.problem = "laplace5", .n = 4, .n_y = 4, .n_z = 4}, "one `n`");
}

TEST(GalleryBox, SidesAreReadAndPrinted) {
  GalleryOptions options;
  const auto set = [&](std::string_view text) {
    set_option(options, gallery_fields(), "n", text);
    return gallery_fields()[1].get(options);
  };
  EXPECT_EQ(set("40,20,10"), "40,20,10");
  EXPECT_EQ(options.n_z, 10);
  EXPECT_EQ(in_words(options), "laplace27, n = 40 x 20 x 10");
  EXPECT_EQ(set("12"), "12");
  EXPECT_EQ(options.n_y, 0);
  for (const char* wrong : {"", "3,4", "3,4,5,6", "3,0,4", "3,,4", "3,4,x", "-1"}) {
    EXPECT_THROW(set(wrong), Error) << wrong;
  }
}

TEST(Amg2023, MatricesHaveTheCountsOfTheBenchmark) {
  const int ranks = test_comm()->size();
  for (const int number : {1, 2}) {
    const solver::Amg2023Problem problem = {number, {4, 3, 2}, {1, ranks, 1}};
    const auto A = generate<double>(test_comm(), solver::amg2023_matrix(problem));
    EXPECT_EQ(A.rows().n_local(), 24);
    const GlobalIndex y = 3 * ranks;
    if (number == 1) {
      EXPECT_EQ(A.nnz_global(), (3 * 4 - 2) * (3 * y - 2) * (3 * 2 - 2));
    } else {
      EXPECT_EQ(A.nnz_global(), 7 * 8 * y - 2 * (2 * y + 8 + 4 * y));
    }
  }
}

TEST(Amg2023, FlatBoxesHaveSmallerDiagonals) {
  const auto diagonal = [](const Three& points) {
    const GalleryOptions options = solver::amg2023_matrix({2, points, {1, 1, 1}});
    return options.problem.options<LaplaceOptions>().coefficients[0];
  };
  EXPECT_EQ(diagonal({5, 5, 5}), 6);
  EXPECT_EQ(diagonal({5, 1, 5}), 4);
  EXPECT_EQ(diagonal({1, 1, 5}), 2);
  EXPECT_EQ(diagonal({1, 1, 1}), 2);
}

TEST(Amg2023, RefusesWhatIsNoProblemOfIts) {
  EXPECT_THROW(solver::amg2023_matrix({3, {4, 4, 4}, {1, 1, 1}}), Error);
  EXPECT_THROW(solver::amg2023_matrix({1, {4, 0, 4}, {1, 1, 1}}), Error);
  EXPECT_THROW(solver::amg2023_matrix({1, {4, 4, 4}, {1, 1, 0}}), Error);
  EXPECT_THROW(solver::amg2023_matrix({1, {1 << 30, 4, 4}, {4, 1, 1}}), Error);
}

TEST(Amg2023, FigureOfMeritIsThatOfItsDefinition) {
  const int ranks = test_comm()->size();
  for (const int number : {1, 2}) {
    const solver::Amg2023Problem problem = {number, {6, 5, 4}, {1, 1, ranks}};
    const auto A = std::make_shared<const matrix::DistMatrix<double>>(
        generate<double>(test_comm(), solver::amg2023_matrix(problem)));
    solver::Options options;
    solver::set_amg2023_solve(problem, options);
    Solver solver(A, options);
    const std::vector<double> b(static_cast<std::size_t>(A->rows().n_local()), 1.0);
    std::vector<double> x(b.size(), 0.0);
    solver::Amg2023Record record = amg2023_record(problem, solver.solve(b, x));
    EXPECT_TRUE(record.converged);
    EXPECT_EQ(record.method, number == 1 ? "gmres" : "cg");
    EXPECT_LE(record.relative_residual, number == 1 ? 1e-12 : 1e-8);
    double nonzeros = 0;
    const amg::Hierarchy<double>& levels = *solver.hierarchy();
    for (std::size_t l = 0; l < levels.levels().size(); ++l) {
      nonzeros += static_cast<double>(levels.matrix(l)->nnz_global());
      if (const auto* P = levels.interpolation(l)) nonzeros += static_cast<double>(P->nnz_global());
    }
    EXPECT_GT(levels.levels().size(), 1u);
    EXPECT_EQ(record.nonzeros_AP(), nonzeros);
    record.setup_s = 2;
    record.solve_s = 3;
    EXPECT_EQ(record.merit(), nonzeros / (number == 1 ? 5 : 11));
    record.converged = false;
    EXPECT_TRUE(std::isnan(record.merit()));
  }
}

}  // namespace io_box_test
}  // namespace nodewise::io
