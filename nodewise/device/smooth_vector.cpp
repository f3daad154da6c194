#include "nodewise/device/smooth_vector.hpp"

#include <cmath>

#include "nodewise/base/hash.hpp"
#include "nodewise/device/launch.hpp"

namespace nodewise::device {

namespace {

struct WeighRows {
  CsrView<double> A;
  double* sums;
  double* moduli;
  double* inverses;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    double sum = 0;
    const Offset end = A.end(i);
    for (Offset k = A.begin(i); k < end; ++k) sum += ::fabs(A.val(k));
    const double modulus = ::fabs(A.diagonal(i));
    sums[i] = sum / modulus;
    moduli[i] = modulus;
    inverses[i] = 1 / modulus;
  }
};

struct StartSmooth {
  std::uint64_t first, seed;
  double* x;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    x[i] = 0.5 + hash_uniform(first + static_cast<std::uint64_t>(i), seed);
  }
};

struct MultiplyEach {
  const double* weights;
  double* x;
  NODEWISE_KERNEL void operator()(std::int64_t i) const { x[i] *= load(weights + i); }
};

struct WeightedSquare {
  const double* weights;
  const double* x;
  NODEWISE_KERNEL Terms<1> operator()(std::int64_t i) const {
    return {{load(weights + i) * load(x + i) * load(x + i)}};
  }
};

}  // namespace

template <class Space>
void weigh_rows(Queue<Space>& queue, const CsrMatrix<double, Space>& A, double* sums,
                double* moduli, double* inverses) {
  launch(queue, A.n_rows, WeighRows{A.view(), sums, moduli, inverses});
}

template <class Space>
void start_smooth(Queue<Space>& queue, std::int64_t n, GlobalIndex first, std::uint64_t seed,
                  double* x) {
  launch(queue, n, StartSmooth{static_cast<std::uint64_t>(first), seed, x});
}

template <class Space>
void multiply_each(Queue<Space>& queue, std::int64_t n, const double* weights, double* x) {
  launch(queue, n, MultiplyEach{weights, x});
}

template <class Space>
double weighted_square(Queue<Space>& queue, std::int64_t n, const double* weights,
                       const double* x) {
  Sums<1, Space> sums;
  Buffer<Terms<1>, Space> square(1);
  sums.add_up(queue, n, WeightedSquare{weights, x}, square.data());
  Terms<1> found;
  queue.copy_out(&found, square.data(), sizeof(found));
  queue.wait();
  return found.v[0];
}

template void weigh_rows(Queue<Compiled>&, const CsrMatrix<double, Compiled>&, double*, double*,
                         double*);
template void start_smooth(Queue<Compiled>&, std::int64_t, GlobalIndex, std::uint64_t, double*);
template void multiply_each(Queue<Compiled>&, std::int64_t, const double*, double*);
template double weighted_square(Queue<Compiled>&, std::int64_t, const double*, const double*);

}  // namespace nodewise::device
