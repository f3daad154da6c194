#include "nodewise/device/lanczos_steps.hpp"

#include <cmath>
#include <utility>

#include "nodewise/base/hash.hpp"
#include "nodewise/device/launch.hpp"

namespace nodewise::device {

namespace {

/// Hashed numbers in (-1, 1), divided by the roots of the diagonal.
struct StartVector {
  CsrView<double> A;
  std::uint64_t first, seed;
  double* inverse;
  double* v;
  double* before;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const double d = A.diagonal(i);
    const double one_over = d == 0 ? 0 : 1 / ::fabs(d);
    const double u = 2 * hash_uniform(first + static_cast<std::uint64_t>(i), seed) - 1;
    inverse[i] = one_over;
    v[i] = u * ::sqrt(one_over);
    before[i] = 0;
  }
};

struct SquareOfStart {
  const double* inverse;
  const double* v;
  NODEWISE_KERNEL Terms<1> operator()(std::int64_t i) const {
    const double d = load(inverse + i);
    const double x = load(v + i);
    return {{d == 0 ? 0.0 : x * x / d}};
  }
};

struct StepSums {
  const double* inverse;
  const double* v;
  const double* w;
  NODEWISE_KERNEL Terms<2> operator()(std::int64_t i) const {
    const double d = load(inverse + i);
    const double x = d == 0 ? 0.0 : load(w + i);
    return {{x * load(v + i), x * x * d}};
  }
};

struct ScaleStart {
  double factor;
  double* v;
  NODEWISE_KERNEL void operator()(std::int64_t i) const { v[i] = factor * v[i]; }
};

struct Recur {
  double alpha, beta, factor;
  const double* inverse;
  const double* w;
  const double* v;
  double* before;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    before[i] = factor * (load(inverse + i) * load(w + i) - alpha * load(v + i) - beta * before[i]);
  }
};

}  // namespace

template <class Space>
LanczosSteps<Space>::LanczosSteps(Queue<Space>& queue, const CsrMatrix<double, Space>& A,
                                  GlobalIndex first, int seed)
    : queue_(queue),
      n_(A.n_rows),
      inverse_(static_cast<std::size_t>(n_)),
      v_(static_cast<std::size_t>(A.n_cols)),
      before_(v_.size()),
      w_(static_cast<std::size_t>(n_)),
      one_(1),
      two_(1) {
  launch(queue, n_,
         StartVector{A.view(), static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(seed),
                     inverse_.data(), v_.data(), before_.data()});
}

template <class Space>
template <int K>
Terms<K> LanczosSteps<Space>::read(const Buffer<Terms<K>, Space>& sum) {
  Terms<K> terms;
  queue_.copy_out(&terms, sum.data(), sizeof(terms));
  queue_.wait();
  return terms;
}

template <class Space>
double LanczosSteps<Space>::square() {
  one_sum_.add_up(queue_, n_, SquareOfStart{inverse_.data(), v_.data()}, one_.data());
  return read(one_).v[0];
}

template <class Space>
void LanczosSteps<Space>::scale(double factor) {
  launch(queue_, n_, ScaleStart{factor, v_.data()});
}

template <class Space>
std::array<double, 2> LanczosSteps<Space>::step_sums() {
  two_sums_.add_up(queue_, n_, StepSums{inverse_.data(), v_.data(), w_.data()}, two_.data());
  const Terms<2> sums = read(two_);
  return {sums.v[0], sums.v[1]};
}

template <class Space>
void LanczosSteps<Space>::recur(double alpha, double beta, double next_beta) {
  launch(queue_, n_,
         Recur{alpha, beta, 1 / next_beta, inverse_.data(), w_.data(), v_.data(), before_.data()});
  std::swap(v_, before_);
}

template class LanczosSteps<Compiled>;

}  // namespace nodewise::device
