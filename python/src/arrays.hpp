// NumPy arrays that show memory of the library, or that the library reads in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nanobind/ndarray.h>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/base/array.hpp"

#include "bindings.hpp"

namespace nodewise::python {

/// An array that the library reads, or writes, where it is. Python hands over nothing else:
/// contiguous, of this type.
template <class T>
using InPlace = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<T> span_of(const InPlace<T>& array) {
  return {array.data(), array.size()};
}

/// An array of the caller's own.
template <class T>
using NewArray = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

/// One that takes over a container with data() and size().
template <class Container>
auto array_of(Container values) {
  using T = typename Container::value_type;
  auto* held = new Container(std::move(values));
  const nb::capsule owner(held, [](void* p) noexcept { delete static_cast<Container*>(p); });
  return NewArray<T>(held->data(), {held->size()}, owner);
}

/// The bytes of numbers whose type Python knows.
inline NewArray<std::uint8_t> bytes_of(Array<std::byte> bytes) {
  auto* held = new Array<std::byte>(std::move(bytes));
  const nb::capsule owner(held, [](void* p) noexcept { delete static_cast<Array<std::byte>*>(p); });
  return NewArray<std::uint8_t>(reinterpret_cast<std::uint8_t*>(held->data()), {held->size()},
                                owner);
}

/// One that shows `values` without a copy, and keeps `owner` alive; it cannot be written to.
template <class T, class Owner>
NewArray<const T> view_of(std::span<const T> values, std::shared_ptr<const Owner> owner) {
  auto* held = new std::shared_ptr<const Owner>(std::move(owner));
  const nb::capsule capsule(
      held, [](void* p) noexcept { delete static_cast<std::shared_ptr<const Owner>*>(p); });
  return NewArray<const T>(values.data(), {values.size()}, capsule);
}

}  // namespace nodewise::python
