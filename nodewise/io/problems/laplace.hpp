// Poisson's equation in a box, with coefficients and boxes of ranks.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "nodewise/io/gallery.hpp"

namespace nodewise::io::problems {

/// The options of laplace7 and laplace27.
struct LaplaceOptions {
  /// Entries of a row by the distance of the point: itself, and across a face, an edge, a corner
  /// (of laplace7 the first two); none: 6 or 26, and -1. Zeros are left out.
  std::vector<double> coefficients = {};
  /// Boxes in each direction, the first running fastest, as points do; points are numbered inside
  /// them, one box after the other. Each rank owns one, or where there are several times as many as
  /// ranks, so many successive ones. None: ranges of points in the numbering of all.
  std::vector<int> processors = {};
};

std::span<const Field<LaplaceOptions>> laplace_fields();

/// Local. The points in each direction.
std::array<GlobalIndex, 3> sides_of(const GalleryOptions& options);

}  // namespace nodewise::io::problems
