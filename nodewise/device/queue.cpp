#include "nodewise/device/queue.hpp"

#include <cstring>
#include <new>
#include <string>

#include "nodewise/base/error.hpp"

namespace nodewise::device {

bool detail::poisons_new_memory = false;
std::int64_t detail::allocations = 0;

namespace {

constexpr std::align_val_t host_alignment{256};

}  // namespace

void* Memory<Host>::allocate(std::size_t bytes) {
  void* const memory =
      bytes > detail::most_bytes ? nullptr : ::operator new(bytes, host_alignment, std::nothrow);
  if (memory != nullptr) {
    ++detail::allocations;
    if (detail::poisons_new_memory) std::memset(memory, 0xff, bytes);
    return memory;
  }
  throw Error(ErrorCode::out_of_memory,
              "no " + std::to_string(bytes) + " bytes of memory are left");
}

void Memory<Host>::release(void* memory, std::size_t /*bytes*/) noexcept {
  ::operator delete(memory, host_alignment);
}

void* Memory<Host>::allocate_staging(std::size_t bytes) {
  return allocate(bytes);
}

void Memory<Host>::release_staging(void* memory, std::size_t bytes) noexcept {
  release(memory, bytes);
}

void Queue<Host>::copy_in(void* device, const void* host, std::size_t bytes) {
  if (bytes > 0) std::memcpy(device, host, bytes);
}

void Queue<Host>::copy_out(void* host, const void* device, std::size_t bytes) {
  if (bytes > 0) std::memcpy(host, device, bytes);
}

void Queue<Host>::copy_within(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void Queue<Host>::clear(void* device, std::size_t bytes) {
  if (bytes > 0) std::memset(device, 0, bytes);
}

#ifndef NODEWISE_CUDA

DeviceInfo cuda_devices() {
  DeviceInfo none;
  none.why_none = "this build has no CUDA; configure it with -DNODEWISE_CUDA=ON";
  return none;
}

void use_cuda_device(int /*number*/) {
  throw Error(ErrorCode::unsupported, cuda_devices().why_none);
}

#endif

}  // namespace nodewise::device
