#include "nodewise/device/primitives.hpp"

#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_sort.cuh>
#else
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>
#endif

#ifdef __CUDACC__
#include "nodewise/device/cuda/checks.hpp"
#endif
#include "nodewise/device/launch.hpp"

namespace nodewise::device {

namespace {

struct Flag {
  const std::uint8_t* marks;
  LocalIndex* flags;
  NODEWISE_KERNEL void operator()(std::int64_t i) const { flags[i] = load(marks + i) != 0 ? 1 : 0; }
};

struct Choose {
  const std::uint8_t* marks;
  const Offset* places;
  LocalIndex* chosen;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    if (load(marks + i) != 0) chosen[load(places + i)] = static_cast<LocalIndex>(i);
  }
};

}  // namespace

template <class Space>
LocalIndex Primitives<Space>::select(std::int64_t n, const std::uint8_t* marks,
                                     LocalIndex* chosen) {
  if (n <= 0) return 0;
  const auto size = static_cast<std::size_t>(n);
  if (flags_.size() < size) {
    flags_ = {};
    places_ = {};
    flags_ = Buffer<LocalIndex, Space>(size);
    places_ = Buffer<Offset, Space>(size + 1);
  }
  launch(queue_, n, Flag{marks, flags_.data()});
  const Offset count = scan(n, flags_.data(), places_.data());
  launch(queue_, n, Choose{marks, places_.data(), chosen});
  return static_cast<LocalIndex>(count);
}

#ifdef __CUDACC__

namespace {

struct Plus {
  __device__ Offset operator()(Offset a, Offset b) const { return a + b; }
};

struct Larger {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

struct Modulus {
  __device__ double operator()(double x) const { return x == x ? fabs(x) : 0.0; }
};

/// The sum of all is that before the last and the last.
struct AddLast {
  const LocalIndex* lengths;
  Offset* begins;
  std::int64_t last;
  __device__ void operator()(std::int64_t) const {
    begins[last + 1] = begins[last] + lengths[last];
  }
};

}  // namespace

// CUB is asked twice: for the bytes that it needs, and to do it.

template <class Space>
Offset Primitives<Space>::scan(std::int64_t n, const LocalIndex* lengths, Offset* begins) {
  if (n <= 0) {
    queue_.clear(begins, sizeof(Offset));
    return 0;
  }
  std::size_t bytes = 0;
  const auto run = [&](void* room) {
    require(cub::DeviceScan::ExclusiveScan(room, bytes, lengths, begins, Plus{}, Offset{0}, n,
                                           stream_of(queue_)),
            "a scan");
  };
  run(nullptr);
  run(room(bytes));
  launch(queue_, 1, AddLast{lengths, begins, n - 1});
  return read(begins + n);
}

template <class Space>
template <class Key, class Value>
void Primitives<Space>::sort_pairs(std::int64_t n, int bits, const Key* keys, const Value* values,
                                   Key* sorted_keys, Value* sorted_values) {
  if (n <= 0) return;
  std::size_t bytes = 0;
  const auto run = [&](void* room) {
    require(cub::DeviceRadixSort::SortPairs(room, bytes, keys, sorted_keys, values, sorted_values,
                                            n, 0, bits, stream_of(queue_)),
            "a sort");
  };
  run(nullptr);
  run(room(bytes));
}

template <class Space>
void Primitives<Space>::sort_segments(std::int64_t n, const Offset* begins, Offset n_numbers,
                                      const LocalIndex* numbers, LocalIndex* sorted) {
  if (n_numbers <= 0) return;
  std::size_t bytes = 0;
  const auto run = [&](void* room) {
    require(cub::DeviceSegmentedSort::SortKeys(room, bytes, numbers, sorted, n_numbers, n, begins,
                                               begins + 1, stream_of(queue_)),
            "a sort of rows");
  };
  run(nullptr);
  run(room(bytes));
}

template <class Space>
LocalIndex Primitives<Space>::max(std::int64_t n, const LocalIndex* numbers) {
  if (n <= 0) return 0;
  Buffer<LocalIndex, Space> largest(1);
  std::size_t bytes = 0;
  const auto run = [&](void* room) {
    require(cub::DeviceReduce::Max(room, bytes, numbers, largest.data(), n, stream_of(queue_)),
            "a maximum");
  };
  run(nullptr);
  run(room(bytes));
  return read(largest.data());
}

template <class Space>
double Primitives<Space>::max_modulus(std::int64_t n, const double* numbers) {
  if (n <= 0) return 0;
  Buffer<double, Space> largest(1);
  std::size_t bytes = 0;
  const auto run = [&](void* room) {
    require(cub::DeviceReduce::TransformReduce(room, bytes, numbers, largest.data(), n, Larger{},
                                               Modulus{}, 0.0, stream_of(queue_)),
            "a maximum");
  };
  run(nullptr);
  run(room(bytes));
  return read(largest.data());
}

#else

template <class Space>
Offset Primitives<Space>::scan(std::int64_t n, const LocalIndex* lengths, Offset* begins) {
  begins[0] = 0;
  for (std::int64_t i = 0; i < n; ++i) begins[i + 1] = begins[i] + lengths[i];
  return n > 0 ? begins[n] : 0;
}

template <class Space>
template <class Key, class Value>
void Primitives<Space>::sort_pairs(std::int64_t n, int /*bits*/, const Key* keys,
                                   const Value* values, Key* sorted_keys, Value* sorted_values) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return keys[a] < keys[b]; });
  for (const std::int64_t from : order) {
    *sorted_keys++ = keys[from];
    *sorted_values++ = values[from];
  }
}

template <class Space>
void Primitives<Space>::sort_segments(std::int64_t n, const Offset* begins, Offset /*n_numbers*/,
                                      const LocalIndex* numbers, LocalIndex* sorted) {
  launch(queue_, n, [=](std::int64_t i) {
    std::copy(numbers + begins[i], numbers + begins[i + 1], sorted + begins[i]);
    std::sort(sorted + begins[i], sorted + begins[i + 1]);
  });
}

template <class Space>
LocalIndex Primitives<Space>::max(std::int64_t n, const LocalIndex* numbers) {
  return n > 0 ? *std::max_element(numbers, numbers + n) : 0;
}

template <class Space>
double Primitives<Space>::max_modulus(std::int64_t n, const double* numbers) {
  double most = 0;
  for (std::int64_t i = 0; i < n; ++i) most = std::fmax(most, std::abs(numbers[i]));
  return most;
}

#endif

template class Primitives<Compiled>;
template void Primitives<Compiled>::sort_pairs(std::int64_t, int, const LocalIndex*, const Offset*,
                                               LocalIndex*, Offset*);
template void Primitives<Compiled>::sort_pairs(std::int64_t, int, const std::uint64_t*,
                                               const LocalIndex*, std::uint64_t*, LocalIndex*);

}  // namespace nodewise::device
