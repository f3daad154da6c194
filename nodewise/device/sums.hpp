// Sums over a range, to the same bits on the host and on a card.
#pragma once

#include <cstdint>

#include "nodewise/device/buffer.hpp"
#include "nodewise/device/launch.hpp"

namespace nodewise::device {

/// Several sums that are made in one pass.
template <int K>
struct Terms {
  double v[K];
};

/// The order of the additions, which the length alone decides: `pieces` pieces of the range, in
/// each `lanes` lanes that take every lanes'th index, then the lanes by halves; and the sums of the
/// pieces likewise.
struct SumOrder {
  static constexpr int lanes = 256;
  static constexpr std::int64_t most_pieces = 1024;

  explicit SumOrder(std::int64_t length) : n(length) {
    const std::int64_t rounds = (n + lanes - 1) / lanes;
    const std::int64_t rounds_each = (rounds + most_pieces - 1) / most_pieces;
    piece = (rounds_each > 0 ? rounds_each : 1) * lanes;
    pieces = n > 0 ? static_cast<int>((n + piece - 1) / piece) : 0;
  }

  std::int64_t n;
  std::int64_t piece = 0;  ///< its length
  int pieces = 0;
};

namespace detail {

/// The sum of what the lanes have, by halves.
template <int K>
struct Lanes {
  Terms<K> of[SumOrder::lanes];
};

/// Number i of a list of partial sums.
template <int K>
struct PartialSum {
  const Terms<K>* partial;
  NODEWISE_KERNEL Terms<K> operator()(std::int64_t i) const { return partial[i]; }
};

#ifdef __CUDACC__

/// Block b sums its piece into to[b].
template <int K, class F>
__global__ void __launch_bounds__(SumOrder::lanes)
    sum_pieces(std::int64_t n, std::int64_t piece, const F f, Terms<K>* to) {
  __shared__ Lanes<K> lanes;
  const std::int64_t begin = blockIdx.x * piece;
  const std::int64_t end = begin + piece < n ? begin + piece : n;
  Terms<K> sum = {};
  for (std::int64_t i = begin + threadIdx.x; i < end; i += SumOrder::lanes) {
    const Terms<K> term = f(i);
    for (int k = 0; k < K; ++k) sum.v[k] += term.v[k];
  }
  lanes.of[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = SumOrder::lanes / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      for (int k = 0; k < K; ++k) lanes.of[threadIdx.x].v[k] += lanes.of[threadIdx.x + half].v[k];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) to[blockIdx.x] = lanes.of[0];
}

template <int K, class F>
void sum_all_pieces(Queue<Cuda>& queue, const SumOrder& order, const F& f, Terms<K>* to) {
  sum_pieces<K, F><<<order.pieces, SumOrder::lanes, 0, static_cast<cudaStream_t>(queue.stream())>>>(
      order.n, order.piece, f, to);
}

#else

template <int K, class F>
Terms<K> sum_of_piece(std::int64_t begin, std::int64_t end, const F& f) {
  Lanes<K> lanes = {};
  for (std::int64_t i = begin; i < end; ++i) {
    const Terms<K> term = f(i);
    for (int k = 0; k < K; ++k) lanes.of[(i - begin) % SumOrder::lanes].v[k] += term.v[k];
  }
  for (int half = SumOrder::lanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) {
      for (int k = 0; k < K; ++k) lanes.of[lane].v[k] += lanes.of[lane + half].v[k];
    }
  }
  return lanes.of[0];
}

template <int K, class F>
void sum_all_pieces(Queue<Host>& queue, const SumOrder& order, const F& f, Terms<K>* to) {
  const std::int64_t n = order.n;
  const std::int64_t piece = order.piece;
  launch(queue, order.pieces, [&f, n, piece, to](std::int64_t b) {
    to[b] = sum_of_piece<K>(b * piece, n < (b + 1) * piece ? n : (b + 1) * piece, f);
  });
}

#endif

}  // namespace detail

/// Room for the sums of a range, and the way to make them.
template <int K, class Space>
class Sums {
 public:
  Sums() : partial_(SumOrder::most_pieces) {}

  /// Local. *to = the sum of f(i), a Terms<K>, over i = 0 .. n - 1, in SumOrder; zero where n is 0.
  /// f may write what belongs to i. `to` is in the space.
  template <class F>
  void add_up(Queue<Space>& queue, std::int64_t n, const F& f, Terms<K>* to) {
    const SumOrder order(n);
    if (order.pieces == 0) return queue.clear(to, sizeof(Terms<K>));
    if (order.pieces == 1) return detail::sum_all_pieces<K>(queue, order, f, to);
    detail::sum_all_pieces<K>(queue, order, f, partial_.data());
    SumOrder last(order.pieces);
    last.piece = last.n;
    last.pieces = 1;
    detail::sum_all_pieces<K>(queue, last, detail::PartialSum<K>{partial_.data()}, to);
  }

 private:
  Buffer<Terms<K>, Space> partial_;
};

}  // namespace nodewise::device
