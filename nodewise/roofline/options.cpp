#include "nodewise/roofline/options.hpp"

#include <vector>

namespace nodewise::roofline {

std::span<const Field<BenchOptions>> bench_fields() {
  static const std::vector<Field<BenchOptions>> fields = {
      field("vectors", &BenchOptions::vectors,
            "how many vectors side by side the product with several has", 2, 64)
          .common(),
      field("no_cycle", &BenchOptions::no_cycle,
            "Products with the matrix alone are measured, and no hierarchy is set up"),
  };
  return fields;
}

}  // namespace nodewise::roofline
