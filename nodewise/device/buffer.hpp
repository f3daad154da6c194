// Arrays in the memory of a space, and on the host beside it.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "nodewise/device/queue.hpp"

namespace nodewise::device {

namespace detail {

/// Owns n numbers whose values are not set, in memory that Place allocates and releases.
template <class T, class Place>
class Owned {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Owned() = default;
  explicit Owned(std::size_t n)
      : data_(n > 0 ? static_cast<T*>(Place::allocate(n * sizeof(T))) : nullptr), size_(n) {}
  ~Owned() { release(); }
  Owned(Owned&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this == &other) return *this;
    release();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

 private:
  void release() noexcept {
    if (data_ != nullptr) Place::release(data_, bytes());
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The host's memory beside a space.
template <class Space>
struct StagingMemory {
  static void* allocate(std::size_t bytes) { return Memory<Space>::allocate_staging(bytes); }
  static void release(void* memory, std::size_t bytes) noexcept {
    Memory<Space>::release_staging(memory, bytes);
  }
};

}  // namespace detail

/// Kernels get its data(), which the host must not read where the space is a card's.
template <class T, class Space>
class Buffer : public detail::Owned<T, Memory<Space>> {
 public:
  Buffer() = default;
  /// Local. n numbers whose values are not set. Throws Error{out_of_memory} where there is no room.
  explicit Buffer(std::size_t n) : detail::Owned<T, Memory<Space>>(n) {}
  /// Local. With these values, which the queue copies and the call waits for.
  Buffer(Queue<Space>& queue, std::span<const T> values) : Buffer(values.size()) {
    put(queue, values);
  }

  /// Local. Sets the first values.size() numbers, and waits.
  void put(Queue<Space>& queue, std::span<const T> values) {
    if (values.empty()) return;
    queue.copy_in(this->data(), values.data(), values.size_bytes());
    queue.wait();
  }
  /// Local. Reads the first values.size() numbers, and waits.
  void get(Queue<Space>& queue, std::span<T> values) const {
    if (values.empty()) return;
    queue.copy_out(values.data(), this->data(), values.size_bytes());
    queue.wait();
  }
};

/// An array of the host that is copied to and from devices of the space.
template <class T, class Space>
class Staging : public detail::Owned<T, detail::StagingMemory<Space>> {
 public:
  Staging() = default;
  /// Local. n numbers whose values are not set. Throws Error{out_of_memory} where there is no room.
  explicit Staging(std::size_t n) : detail::Owned<T, detail::StagingMemory<Space>>(n) {}

  std::span<T> span() { return {this->data(), this->size()}; }
};

}  // namespace nodewise::device
