// Where data lie and kernels run: on the host, or on a graphics card. Every kernel is written once,
// as a function object for one index, and compiled for both: by the C++ compiler for Host, by nvcc
// for Cuda.
#pragma once

#ifdef __CUDACC__
#define NODEWISE_KERNEL __host__ __device__ inline
#else
#define NODEWISE_KERNEL inline
#endif

namespace nodewise::device {

/// The memory and threads of the rank itself. Every build has it, and tests check all kernels
/// there.
struct Host {};
/// A card programmed by CUDA, in builds with NODEWISE_CUDA.
struct Cuda {};

// The space that this compiler makes code for. A source of this layer instantiates its templates
// for it, and is compiled twice in builds with NODEWISE_CUDA.
#ifdef __CUDACC__
using Compiled = Cuda;
#else
using Compiled = Host;
#endif

/// What nothing writes while a kernel runs, which a card may then keep in a cache of its own.
template <class T>
NODEWISE_KERNEL T load(const T* place) {
#ifdef __CUDA_ARCH__
  return __ldg(place);
#else
  return *place;
#endif
}

}  // namespace nodewise::device
