// Of cards: memory that other processes open by its CUDA handle.
#include <cstring>
#include <cuda_runtime.h>
#include <string>

#include "nodewise/base/error.hpp"
#include "nodewise/device/queue.hpp"
#include "nodewise/device/shared_memory.hpp"

namespace nodewise::device {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(SharedHandle::words));

namespace {

void require(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // or the next call would report it again
  throw Error(ErrorCode::unsupported, std::string(what) + ": " + cudaGetErrorString(code));
}

}  // namespace

template <>
SharedMemory<Cuda> SharedMemory<Cuda>::make(std::size_t n) {
  SharedMemory made;
  made.data_ = static_cast<std::byte*>(Memory<Cuda>::allocate(n));
  made.bytes_ = n;
  made.is_mine_ = true;
  return made;
}

template <>
SharedMemory<Cuda> SharedMemory<Cuda>::open(const SharedHandle& handle) {
  cudaIpcMemHandle_t named;
  std::memcpy(&named, handle.words.data(), sizeof(named));
  void* data = nullptr;
  require(cudaIpcOpenMemHandle(&data, named, cudaIpcMemLazyEnablePeerAccess),
          "the card's memory of another process cannot be reached");
  SharedMemory opened;
  opened.data_ = static_cast<std::byte*>(data);
  return opened;
}

template <>
SharedHandle SharedMemory<Cuda>::handle() const {
  cudaIpcMemHandle_t named;
  require(cudaIpcGetMemHandle(&named, data_), "the card's memory cannot be shared");
  SharedHandle handle;
  std::memcpy(handle.words.data(), &named, sizeof(named));
  return handle;
}

template <>
void SharedMemory<Cuda>::close() noexcept {
  if (data_ == nullptr) return;
  if (is_mine_) {
    Memory<Cuda>::release(data_, bytes_);
  } else {
    cudaIpcCloseMemHandle(data_);
  }
}

}  // namespace nodewise::device
