// Convection-diffusion model problems: couplings by hand, and what upwind differences promise.
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "nodewise/io/gallery.hpp"

#include "collective_error.hpp"
#include "io_support.hpp"
#include "problem_support.hpp"

namespace nodewise::io {
namespace io_convection_test {

using test::Entries;
using test::expect_same_error;
using test::Flow;
using test::gather_entries;
using test::test_comm;

GalleryOptions convection(const std::string& which, int n, Flow flow, double diffusion,
                          double angle = 0) {
  return test::flow_problem(which, n, {angle, diffusion, flow});
}

Entries entries_of(const GalleryOptions& options) {
  return gather_entries(generate<double>(test_comm(), options));
}

using Row = std::map<GlobalIndex, double>;

Row row_of(const GalleryOptions& options, GlobalIndex row) {
  Row found;
  for (const auto& [i, j, value] : entries_of(options)) {
    if (i == row) found[j] = value;
  }
  return found;
}

void expect_row(const GalleryOptions& options, GlobalIndex row, const Row& expected) {
  const Row found = row_of(options, row);
  EXPECT_EQ(found.size(), expected.size());
  for (const auto& [col, value] : expected) {
    EXPECT_EQ(found.count(col), 1U) << col;
    if (found.count(col) == 1) {
      EXPECT_NEAR(found.at(col), value, 1e-14) << col;
    }
  }
}

// n = 3, so that h is a quarter, and row 4 that of the centre (1/2, 1/2): diffusion / h = 2.
TEST(Convection, CouplingsOfTheConstantFlow) {
  const double third = std::acos(-1.0) / 3;  // velocity (1/2, sqrt(3)/2)
  const double s = std::sqrt(3.0) / 2;
  const auto flow = [](double diffusion, double angle) {
    return convection("convection2d", 3, Flow::constant, diffusion, angle);
  };
  expect_row(flow(0.5, third), 4, {{1, -2.5}, {3, -2 - s}, {4, 8.5 + s}, {5, -2}, {7, -2}});
  // The opposite way, the couplings to both sides change places.
  expect_row(flow(0.5, third + std::acos(-1.0)), 4,
             {{1, -2}, {3, -2}, {4, 8.5 + s}, {5, -2 - s}, {7, -2.5}});
  // Without diffusion nothing comes from downwind, or across a flow along an axis.
  expect_row(flow(0, third), 4, {{1, -0.5}, {3, -s}, {4, 0.5 + s}});
  expect_row(flow(0, std::acos(0.0)), 4, {{3, -1}, {4, 1}});
  expect_row(flow(0, std::acos(0.0)), 3, {{3, 1}});  // where it comes in
}

TEST(Convection, CouplingsOfFlowsThatTurn) {
  // At row 5, (1/2, 3/4): velocity (-3/4, 1/2), with diffusion / h = 1.
  expect_row(convection("convection2d", 3, Flow::rotating, 0.25), 5,
             {{2, -1}, {4, -1.5}, {5, 5.25}, {8, -1.75}});
  // The same in the other coordinates, X = 0 and Y = 1/2: velocity (1, 0).
  expect_row(convection("convection2d", 3, Flow::recirculating, 0.25), 5,
             {{2, -2}, {4, -1}, {5, 5}, {8, -1}});
  // At row 1, (1/4, 1/2), X = -1/2, Y = 0: velocity (0, 1).
  expect_row(convection("convection2d", 3, Flow::recirculating, 0.25), 1,
             {{0, -2}, {1, 5}, {2, -1}, {4, -1}});
}

// The centre of 3 x 3 x 3 points is row 13; the axes of the plane are 9 and 3 rows apart.
TEST(Convection, CouplingsInSpace) {
  const double half = std::sqrt(0.5);
  expect_row(convection("convection3d", 3, Flow::constant, 0.25, std::atan(1.0)), 13,
             {{4, -1 - half},
              {10, -1 - half},
              {12, -2},
              {13, 7 + 2 * half},
              {14, -1},
              {16, -1},
              {22, -1}});
  expect_row(convection("convection3d", 3, Flow::rotating, 0), 13,
             {{10, -0.5}, {12, -1}, {13, 2}, {22, -0.5}});
}

/// Positive diagonals, negative couplings, row sums that vanish inside and do not next to the
/// boundary where something comes in.
TEST(Convection, IsAnMMatrix) {
  for (const std::string which : {"convection2d", "convection3d"}) {
    for (const Flow flow : {Flow::constant, Flow::rotating, Flow::recirculating}) {
      for (const double diffusion : {0.0, 1e-3, 1.0}) {
        if (flow == Flow::recirculating && diffusion == 0) continue;
        const int n = which == "convection2d" ? 9 : 5;
        std::map<GlobalIndex, double> sums, diagonals;
        for (const auto& [i, j, value] : entries_of(convection(which, n, flow, diffusion, 2.5))) {
          EXPECT_TRUE(i == j ? value > 0 : value < 0) << i << " " << j << " " << value;
          sums[i] += value;
          if (i == j) diagonals[i] = value;
        }
        bool any = false;
        for (const auto& [i, sum] : sums) {
          const GlobalIndex x = i % n, y = i / n % n, z = i / n / n;
          const bool inside = x > 0 && x + 1 < n && y > 0 && y + 1 < n &&
                              (which == "convection2d" || (z > 0 && z + 1 < n));
          EXPECT_GE(sum, -1e-14 * diagonals[i]);
          if (inside) {
            EXPECT_NEAR(sum, 0, 1e-14 * diagonals[i]) << i;
          }
          any = any || sum > 0.1 * diagonals[i];
        }
        EXPECT_TRUE(any);
      }
    }
  }
}

TEST(Convection, OptionsAreChecked) {
  const auto message = [](const GalleryOptions& options) {
    return expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                             [&] { generate<double>(test_comm(), options); });
  };
  EXPECT_EQ(message(convection("convection2d", 4, Flow::constant, -1)),
            "problem: diffusion is -1, needs >= 0");
  EXPECT_EQ(message(convection("convection2d", 4, Flow::constant, NAN)),
            "problem: diffusion is nan, needs >= 0");
  EXPECT_EQ(
      message(convection("convection2d", 4, Flow::recirculating, 0)),
      "problem: diffusion is 0, needs > 0 where the flow recirculates: it stands still at the "
      "centre");
  GalleryOptions options = {.problem = "convection2d"};
  set_option(options, gallery_fields(), "flow", "rotating");
  set_option(options, gallery_fields(), "diffusion", "0");
  const auto& own = options.problem.options<problems::ConvectionOptions>();
  EXPECT_EQ(own.flow, Flow::rotating);
  EXPECT_EQ(own.diffusion, 0);
  EXPECT_THROW(set_option(options, gallery_fields(), "diffusion", "-1e-9"), Error);
}

}  // namespace io_convection_test
}  // namespace nodewise::io
