// Values of another type.
#pragma once

#include <algorithm>

#include "nodewise/base/array.hpp"

namespace nodewise::kernels {

/// Local. `factor` times the values, rounded to another type.
template <class To, class T>
Array<To> cast_values(const Array<T>& values, T factor) {
  Array<To> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(),
                 [factor](T value) { return static_cast<To>(factor * value); });
  return result;
}

}  // namespace nodewise::kernels
