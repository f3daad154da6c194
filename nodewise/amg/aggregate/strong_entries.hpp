// Visiting the strong entries of a row.
#pragma once

#include "nodewise/amg/coarsen/strength.hpp"
#include "nodewise/kernels/csr.hpp"

namespace nodewise::amg::aggregate {

/// Local. Calls f(column, value) for the strong entries of row i of one part of a matrix.
template <class T, class F>
void for_each_strong(const kernels::Csr<T>& part, const Array<std::uint8_t>& marks, LocalIndex i,
                     F&& f) {
  const auto end = static_cast<std::size_t>(part.end(i));
  for (auto p = static_cast<std::size_t>(part.begin(i)); p < end; ++p) {
    if (marks[p]) f(static_cast<std::size_t>(part.cols[p]), part.vals[p]);
  }
}

}  // namespace nodewise::amg::aggregate
