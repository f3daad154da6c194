// Runs a function object for every index of a range by several threads together, in a space.
#pragma once

#include <cstdint>

#include "nodewise/device/launch.hpp"

namespace nodewise::device {

/// The threads that work on one index: this one is number rank() of size(). On the host it is
/// always one. `lanes` is a power of two up to 32, or 256.
template <int lanes>
class Group {
 public:
  NODEWISE_KERNEL int rank() const {
#ifdef __CUDA_ARCH__
    return static_cast<int>(threadIdx.x) % lanes;
#else
    return 0;
#endif
  }
  NODEWISE_KERNEL int size() const {
#ifdef __CUDA_ARCH__
    return lanes;
#else
    return 1;
#endif
  }
  /// All of them have got here, and see what each has written.
  NODEWISE_KERNEL void sync() const {
#ifdef __CUDA_ARCH__
    if constexpr (lanes > 32) {
      __syncthreads();
    } else if constexpr (lanes == 32) {
      __syncwarp();
    } else if constexpr (lanes > 1) {
      __syncwarp(((1u << lanes) - 1u) << (threadIdx.x % 32 / lanes * lanes));
    }
#endif
  }
};

/// f(0) + ... + f(n - 1) to the same bits in every space: lane j adds up f(j), f(j + lanes), ...,
/// and then the lanes are added by halves. All threads of a group call it, and its first one has
/// the sum.
template <class T, int lanes, class F>
NODEWISE_KERNEL T sum_by_lanes(const Group<lanes>& group, std::int64_t n, const F& f) {
#ifdef __CUDA_ARCH__
  static_assert(lanes > 1 && lanes <= 32);
  T sum = 0;
  for (std::int64_t k = group.rank(); k < n; k += lanes) sum += f(k);
  const unsigned mine =
      lanes == 32 ? ~0u : ((1ull << lanes) - 1ull) << (threadIdx.x % 32 / lanes * lanes);
  for (int half = lanes / 2; half > 0; half /= 2) {
    sum += __shfl_down_sync(mine, sum, static_cast<unsigned>(half), lanes);
  }
  return sum;
#else
  static_cast<void>(group);
  T sums[lanes] = {};
  for (std::int64_t k = 0; k < n; ++k) sums[k % lanes] += f(k);
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
#endif
}

/// A Table of nothing.
struct NoTable {};

#ifdef __CUDACC__

namespace detail {

template <int lanes, class Table, class F>
__global__ void __launch_bounds__(block_size) run_groups(std::int64_t n, const F f) {
  constexpr int groups = block_size / lanes;
  __shared__ Table tables[groups];
  const int mine = static_cast<int>(threadIdx.x) / lanes;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * groups + mine;
  if (i < n) f(Group<lanes>(), tables[mine], i);
}

}  // namespace detail

/// Local. f(group, table, i) for i = 0 .. n - 1, in any order, by groups of so many threads, each
/// of which has a table of its own whose values are not set: in the shared memory of a card, of
/// which a block of 256 threads has 48 KiB.
template <int lanes, class Table, class F>
void launch_groups(Queue<Cuda>& queue, std::int64_t n, const F& f) {
  if (n <= 0) return;
  constexpr int groups = detail::block_size / lanes;
  const auto blocks = static_cast<unsigned>((n + groups - 1) / groups);
  detail::run_groups<lanes, Table>
      <<<blocks, detail::block_size, 0, static_cast<cudaStream_t>(queue.stream())>>>(n, f);
}

#else

/// Local. f(group, table, i) for i = 0 .. n - 1, in any order, on the threads of the rank.
template <int lanes, class Table, class F>
void launch_groups(Queue<Host>& /*queue*/, std::int64_t n, const F& f) {
  parallel::for_range(static_cast<std::size_t>(n), [&f](std::size_t begin, std::size_t end) {
    Table table;
    for (std::size_t i = begin; i < end; ++i) {
      f(Group<lanes>(), table, static_cast<std::int64_t>(i));
    }
  });
}

#endif

}  // namespace nodewise::device
