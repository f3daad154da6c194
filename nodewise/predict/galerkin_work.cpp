#include "nodewise/predict/galerkin_work.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace nodewise::predict {

double galerkin_flops(const kernels::Csr<double>& A, const kernels::Csr<double>& P,
                      std::span<const GlobalIndex> starts) {
  std::vector<LocalIndex> seen(static_cast<std::size_t>(P.n_cols), -1);  // in which row last
  const auto products_of_row = [&](LocalIndex i) {
    Offset products = 0, width = 0;  // of row i of A P
    for (Offset k = A.begin(i); k < A.end(i); ++k) {
      const LocalIndex column = A.cols[static_cast<std::size_t>(k)];
      products += P.length(column);
      for (Offset m = P.begin(column); m < P.end(column); ++m) {
        const LocalIndex j = P.cols[static_cast<std::size_t>(m)];
        width += std::exchange(seen[static_cast<std::size_t>(j)], i) != i ? 1 : 0;
      }
    }
    return products + width * P.length(i);
  };
  Offset most = 0;
  for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
    Offset products = 0;
    for (GlobalIndex i = starts[r]; i < starts[r + 1]; ++i) {
      products += products_of_row(static_cast<LocalIndex>(i));
    }
    most = std::max(most, products);
  }
  return 2 * static_cast<double>(most);
}

}  // namespace nodewise::predict
