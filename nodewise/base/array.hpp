// A vector whose elements are not set to zero when it grows: large arrays are written once only.
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

namespace nodewise {

template <class T>
class UninitializedAllocator : public std::allocator<T> {
 public:
  template <class U>
  struct rebind {
    using other = UninitializedAllocator<U>;
  };
  UninitializedAllocator() = default;
  template <class U>
  UninitializedAllocator(const UninitializedAllocator<U>&) noexcept {}

  template <class U>
  void construct(U* p) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void*>(p)) U;  // default, not value, initialisation
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
};

/// std::vector, except that resize(n) and Array(n) leave new numbers unset.
template <class T>
using Array = std::vector<T, UninitializedAllocator<T>>;

}  // namespace nodewise
