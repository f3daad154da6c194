// The strong entries of a coarse matrix, for lumping methods that share by them.
#pragma once

#include <vector>

#include "nodewise/amg/sparsify/lumping_method.hpp"

namespace nodewise::amg::sparsify {

/// The strong entries of rows, this rank's and then those of the ghosts, their columns numbered as
/// in the matrix; others' columns are left out.
template <class T>
struct StrongRows {
  std::vector<Offset> begins = {0};
  std::vector<LocalIndex> cols;
  std::vector<T> sizes;

  /// Calls f(k, |s_jk|) for the strong entries of row j.
  template <class F>
  void for_each(LocalIndex j, F&& f) const {
    for (auto p = static_cast<std::size_t>(begins[static_cast<std::size_t>(j)]);
         p < static_cast<std::size_t>(begins[static_cast<std::size_t>(j) + 1]); ++p) {
      f(cols[p], sizes[p]);
    }
  }
};

/// Collective. By the classical strength of the coarse matrix itself, whatever that of the level
/// above was (strength_of_connection()). One row exchange of A, for strong entries only.
template <class T>
StrongRows<T> strong_rows(const LumpingCall<T>& call, double threshold, double max_row_sum);

}  // namespace nodewise::amg::sparsify
