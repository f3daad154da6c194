// Work in its order: kernels and copies, one after another, on one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "nodewise/device/space.hpp"

namespace nodewise::device {

/// The order in which kernels and copies run. All but wait() and make_graph() return at once on a
/// card; on the host everything is done when they return. Local, and not to be shared by threads.
template <class Space>
class Queue;

/// Some work of a queue, recorded once, that is started as one.
template <class Space>
class Graph;

/// Memory of a space. allocate() returns room for so many bytes, aligned for any kernel; throws
/// Error{out_of_memory}, naming the bytes, where there is none. n > 0. release() waits for kernels
/// that may still use it. allocate_staging() is of the host, from and to which the space's devices
/// copy fastest: page-locked for a card.
template <class Space>
struct Memory;

namespace detail {
/// For tests: whether new memory of the host is filled with what is no number, and how often there
/// was some.
extern bool poisons_new_memory;
extern std::int64_t allocations;
/// No array is as long, and some allocators end the program where they are asked for more.
inline constexpr std::size_t most_bytes = std::size_t{1} << 39;
}  // namespace detail

template <>
struct Memory<Host> {
  static void* allocate(std::size_t bytes);
  static void release(void* memory, std::size_t bytes) noexcept;
  static void* allocate_staging(std::size_t bytes);
  static void release_staging(void* memory, std::size_t bytes) noexcept;
};

template <>
class Queue<Host> {
 public:
  void copy_in(void* device, const void* host, std::size_t bytes);
  void copy_out(void* host, const void* device, std::size_t bytes);
  void copy_within(void* to, const void* from, std::size_t bytes);
  void clear(void* device, std::size_t bytes);
  void wait() {}
};

template <>
class Graph<Host> {
 public:
  Graph(Queue<Host>& /*queue*/, std::function<void()> work) : work_(std::move(work)) {}
  void run() { work_(); }

 private:
  std::function<void()> work_;
};

template <>
struct Memory<Cuda> {
  static void* allocate(std::size_t bytes);
  static void release(void* memory, std::size_t bytes) noexcept;
  static void* allocate_staging(std::size_t bytes);
  static void release_staging(void* memory, std::size_t bytes) noexcept;
};

template <>
class Queue<Cuda> {
 public:
  /// On the device that is current. Throws Error{unsupported} where there is none.
  Queue();
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// The host's memory may be any; where it is not page-locked, the copy is waited for.
  void copy_in(void* device, const void* host, std::size_t bytes);
  void copy_out(void* host, const void* device, std::size_t bytes);
  /// Both are the device's.
  void copy_within(void* to, const void* from, std::size_t bytes);
  void clear(void* device, std::size_t bytes);
  /// Returns when all is done; throws Error{internal} where a kernel failed.
  void wait();
  /// The stream, a cudaStream_t.
  void* stream() const { return stream_; }

 private:
  void* stream_ = nullptr;
};

template <>
class Graph<Cuda> {
 public:
  /// Records what `work` puts into the queue, and runs nothing. No memory may be asked for
  /// meanwhile.
  Graph(Queue<Cuda>& queue, const std::function<void()>& work);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void run();

 private:
  Queue<Cuda>& queue_;
  void* instance_ = nullptr;
};

/// What is known of a space's devices on this machine, for the rank that asks.
struct DeviceInfo {
  int count = 0;           ///< devices that can be used
  std::string name;        ///< of the current one
  std::size_t memory = 0;  ///< bytes of it
  std::string why_none;    ///< where there is none
};

/// Local. How many cards there are, and what the current one is.
DeviceInfo cuda_devices();
/// Local. Makes one of them current, for this thread. Throws Error{unsupported} where it cannot be
/// had.
void use_cuda_device(int number);

}  // namespace nodewise::device
