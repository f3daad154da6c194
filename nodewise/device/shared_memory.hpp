// Memory of a device that other processes of the node reach.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "nodewise/device/space.hpp"

namespace nodewise::device {

/// Names the memory to other processes of the node. To be sent as it is.
struct SharedHandle {
  std::array<std::uint64_t, 8> words{};
};

/// Memory of a space, made by one process and opened by others: on a card by its CUDA handles, on
/// the host by a file without a name. Whoever opened it must close it before its maker frees it.
/// The values of new memory are not set.
template <class Space>
class SharedMemory {
 public:
  SharedMemory() = default;
  /// Local. Room for n > 0 bytes. Throws Error{out_of_memory}; unsupported where the space cannot
  /// share.
  static SharedMemory make(std::size_t n);
  /// Local. That which another process on this node made. Throws unsupported where it cannot be
  /// reached, as between containers.
  static SharedMemory open(const SharedHandle& handle);
  ~SharedMemory() { close(); }
  SharedMemory(SharedMemory&& other) noexcept { swap(other); }
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    SharedMemory(static_cast<SharedMemory&&>(other)).swap(*this);
    return *this;
  }

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Of memory that was made here.
  SharedHandle handle() const;

 private:
  void close() noexcept;
  void swap(SharedMemory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(file_, other.file_);
    std::swap(is_mine_, other.is_mine_);
  }

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  int file_ = -1;  // of the host
  bool is_mine_ = false;
};

template <>
SharedMemory<Host> SharedMemory<Host>::make(std::size_t n);
template <>
SharedMemory<Host> SharedMemory<Host>::open(const SharedHandle& handle);
template <>
SharedHandle SharedMemory<Host>::handle() const;
template <>
void SharedMemory<Host>::close() noexcept;
template <>
SharedMemory<Cuda> SharedMemory<Cuda>::make(std::size_t n);
template <>
SharedMemory<Cuda> SharedMemory<Cuda>::open(const SharedHandle& handle);
template <>
SharedHandle SharedMemory<Cuda>::handle() const;
template <>
void SharedMemory<Cuda>::close() noexcept;

}  // namespace nodewise::device
