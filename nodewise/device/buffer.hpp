// Arrays in the memory of a space, and on the host beside it.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "nodewise/device/queue.hpp"

namespace nodewise::device {

/// Owns n numbers whose values are not set. Kernels get its data(), which the host must not read
/// where the space is a card's.
template <class T, class Space>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  /// Local. Throws Error{out_of_memory} where there is no room.
  explicit Buffer(std::size_t n)
      : data_(n > 0 ? static_cast<T*>(Memory<Space>::allocate(n * sizeof(T))) : nullptr),
        size_(n) {}
  /// Local. With these values, which the queue copies and the call waits for.
  Buffer(Queue<Space>& queue, std::span<const T> values) : Buffer(values.size()) {
    put(queue, values);
  }
  ~Buffer() { release(); }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
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

  /// Local. Sets the first values.size() numbers, and waits.
  void put(Queue<Space>& queue, std::span<const T> values) {
    if (values.empty()) return;
    queue.copy_in(data_, values.data(), values.size_bytes());
    queue.wait();
  }
  /// Local. Reads the first values.size() numbers, and waits.
  void get(Queue<Space>& queue, std::span<T> values) const {
    if (values.empty()) return;
    queue.copy_out(values.data(), data_, values.size_bytes());
    queue.wait();
  }

 private:
  void release() noexcept {
    if (data_ != nullptr) Memory<Space>::release(data_, bytes());
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// An array of the host that is copied to and from devices of the space. Owns n numbers whose
/// values are not set.
template <class T, class Space>
class Staging {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Staging() = default;
  /// Local. Throws Error{out_of_memory} where there is no room.
  explicit Staging(std::size_t n)
      : data_(n > 0 ? static_cast<T*>(Memory<Space>::allocate_staging(n * sizeof(T))) : nullptr),
        size_(n) {}
  ~Staging() { release(); }
  Staging(Staging&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Staging& operator=(Staging&& other) noexcept {
    if (this == &other) return *this;
    release();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<T> span() { return {data_, size_}; }

 private:
  void release() noexcept {
    if (data_ != nullptr) Memory<Space>::release_staging(data_, size_ * sizeof(T));
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace nodewise::device
