#include "nodewise/amg/coarsen/splitting.hpp"

#include <algorithm>

#include "nodewise/amg/coarsen/strong_rows.hpp"

namespace nodewise::amg::coarsen {

comm::Layout coarse_layout(const comm::Layout& points, const Splitting& splitting) {
  return comm::Layout::from_local_size(points.shared_comm(),
                                       std::count(splitting.begin(), splitting.end(), coarse));
}

Splitting splitting_of(LocalIndex n_rows, std::span<const LocalIndex> coarse_rows) {
  Splitting splitting(static_cast<std::size_t>(n_rows), fine);
  for (const LocalIndex i : coarse_rows) splitting[static_cast<std::size_t>(i)] = coarse;
  return splitting;
}

std::vector<LocalIndex> places_of_coarse(const Splitting& splitting) {
  std::vector<LocalIndex> places;
  for (std::size_t i = 0; i < splitting.size(); ++i) {
    if (splitting[i] == coarse) places.push_back(static_cast<LocalIndex>(i));
  }
  return places;
}

std::vector<Offset> strong_offsets(const kernels::Csr<double>& A, const Strength& strength) {
  std::vector<Offset> offsets = {0};
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    Offset n = 0;
    for (Offset k = A.begin(i); k < A.end(i); ++k) n += strength.on[static_cast<std::size_t>(k)];
    offsets.push_back(offsets.back() + n);
  }
  return offsets;
}

}  // namespace nodewise::amg::coarsen
