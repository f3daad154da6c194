// A vector whose elements are not set to zero when it grows: large arrays are written once only,
// and to large pages.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "nodewise/base/large_memory.hpp"

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

  T* allocate(std::size_t n) {
    if (n > large_bytes / sizeof(T)) {
      if (n > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T)) {
        throw std::bad_array_new_length();
      }
      return static_cast<T*>(allocate_large(n * sizeof(T)));
    }
    return std::allocator<T>::allocate(n);
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    if (n > large_bytes / sizeof(T)) return free_large(memory);
    std::allocator<T>::deallocate(memory, n);
  }

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
