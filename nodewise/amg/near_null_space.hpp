// Vectors that the relaxation hardly reduces.
#pragma once

#include <vector>

namespace nodewise::amg {

/// This rank's part of some vectors v with A v about 0, which the coarse grids are to represent.
template <class T>
struct NearNullSpace {
  int n_vectors = 0;      ///< 0: none are known
  std::vector<T> values;  ///< entry (i, k) of vector k at local row i: values[i * n_vectors + k]
};

}  // namespace nodewise::amg
