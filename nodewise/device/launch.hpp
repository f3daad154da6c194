// Runs a function object for every index of a range, in a space.
#pragma once

#include <cstdint>

#ifndef __CUDACC__
#include "nodewise/base/parallel.hpp"
#endif
#include "nodewise/device/queue.hpp"

namespace nodewise::device {

#ifdef __CUDACC__

namespace detail {

inline constexpr int block_size = 256;

template <class F>
__global__ void __launch_bounds__(block_size) run_for_each(std::int64_t n, const F f) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_size + threadIdx.x;
  if (i < n) f(i);
}

}  // namespace detail

/// Local. f(i) for i = 0 .. n - 1, in any order; f is copied to the card.
template <class F>
void launch(Queue<Cuda>& queue, std::int64_t n, const F& f) {
  if (n <= 0) return;
  const auto blocks = static_cast<unsigned>((n + detail::block_size - 1) / detail::block_size);
  detail::
      run_for_each<<<blocks, detail::block_size, 0, static_cast<cudaStream_t>(queue.stream())>>>(n,
                                                                                                 f);
}

#else

/// Local. f(i) for i = 0 .. n - 1, in any order, on the threads of the rank.
template <class F>
void launch(Queue<Host>& /*queue*/, std::int64_t n, const F& f) {
  parallel::for_range(static_cast<std::size_t>(n), [&f](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) f(static_cast<std::int64_t>(i));
  });
}

#endif

}  // namespace nodewise::device
