// Values of another type.
#pragma once

#include <cstddef>

#include "nodewise/base/array.hpp"
#include "nodewise/base/parallel.hpp"

namespace nodewise::kernels {

/// Local. `factor` times the values, rounded to another type. On threads, since what is written for
/// the first time is placed in memory, too.
template <class To, class T>
Array<To> cast_values(const Array<T>& values, double factor) {
  Array<To> result(values.size());
  const T* const from = values.data();
  To* const to = result.data();
  parallel::for_range(values.size(), [=](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) to[k] = static_cast<To>(factor * from[k]);
  });
  return result;
}

}  // namespace nodewise::kernels
