// The options of a measurement of kernels.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::roofline {

struct BenchOptions {
  int vectors = 4;        ///< of the products with several
  bool no_cycle = false;  ///< overlapping is measured in products with the matrix alone
  double seconds = 120;   ///< about how long to measure
};

std::span<const Field<BenchOptions>> bench_fields();

}  // namespace nodewise::roofline
