// The preconditioner alone: x += M (b - A x).
#include <algorithm>
#include <cmath>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/checkpoint.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

template <class T>
class Stationary {
 public:
  Stationary(const Operator<T>& A, const Operator<T>* M, std::span<const T> b, std::span<T> x,
             const Options& options, const Observer& observe)
      : it_(Method::stationary, A, M, b, x, options, observe), best_(it_) {
    mpi::collectively(it_.comm(), [&] {
      best_.reserve_workspace();
      for (Array<T>* v : {&r_, &z_, &previous_}) v->resize(b.size());
    });
  }

  Report run() {
    if (it_.begin(r_)) {
      best_.begin();
      do {
        precondition();
      } while (advance());
    }
    best_.restore(r_);
    it_.examine_range(r_);
    return it_.finish(r_);
  }

 private:
  void precondition();
  bool advance();

  Iteration<T> it_;
  Checkpoint<T> best_;
  Array<T> r_, z_;     // residual, M r
  Array<T> previous_;  // x before the step, in case that z is not finite
};

/// z = M r, unless the norm has needed it already.
template <class T>
void Stationary<T>::precondition() {
  if (it_.norm() != ResidualNorm::unpreconditioned) {
    const std::span<const T> known = it_.preconditioned_residual();
    std::copy(known.begin(), known.end(), z_.begin());
  } else if (it_.M() != nullptr) {
    it_.M()->apply(r_, z_);
  } else {
    std::copy(r_.begin(), r_.end(), z_.begin());
  }
}

/// A step along z: one product and one reduction. False where the solve is over.
template <class T>
bool Stationary<T>::advance() {
  const std::span<T> x = it_.x();
  std::copy(x.begin(), x.end(), previous_.begin());
  axpy<T>(1.0, z_, x);
  const double relative = it_.true_residual(r_);
  if (!std::isfinite(relative)) {
    std::copy(previous_.begin(), previous_.end(), x.begin());
  } else if (relative > it_.last()) {
    best_.keep_before({{1.0, z_}});
  }
  const bool more = it_.record(relative);
  best_.note(relative);
  return more;
}

}  // namespace

template <class T>
Report stationary(const Operator<T>& A, const Operator<T>* preconditioner, std::span<const T> b,
                  std::span<T> x, const Options& options, const Observer& observe) {
  const mpi::Scope scope(A.layout().comm(), "vector_updates", mpi::no_level);
  return Stationary<T>(A, preconditioner, b, x, options, observe).run();
}

template Report stationary(const Operator<double>&, const Operator<double>*,
                           std::span<const double>, std::span<double>, const Options&,
                           const Observer&);
template Report stationary(const Operator<float>&, const Operator<float>*, std::span<const float>,
                           std::span<float>, const Options&, const Observer&);

}  // namespace nodewise::solve
