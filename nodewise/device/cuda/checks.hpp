// What sources for CUDA share.
#pragma once

#include <cuda_runtime.h>
#include <string>

#include "nodewise/base/error.hpp"
#include "nodewise/device/queue.hpp"

namespace nodewise::device {

/// Throws Error{internal} unless a call of the CUDA runtime succeeded.
inline void require(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  throw Error(ErrorCode::internal,
              std::string("the card failed at ") + what + ": " + cudaGetErrorString(code));
}

inline cudaStream_t stream_of(const Queue<Cuda>& queue) {
  return static_cast<cudaStream_t>(queue.stream());
}

}  // namespace nodewise::device
