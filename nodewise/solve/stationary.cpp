// The preconditioner alone: x += M (b - A x).
#include <algorithm>
#include <cmath>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/checkpoint.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

template <class T>
class Stationary {
 public:
  explicit Stationary(const KrylovCall<T>& call) : it_(call), best_(it_) {
    mpi::collectively(it_.comm(), [&] {
      best_.reserve_workspace();
      for (Array<T>* v : {&r_, &z_, &previous_}) v->resize(call.b.size());
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

template <class T>
Report solve_by_stationary(const KrylovCall<T>& call) {
  return Stationary<T>(call).run();
}

}  // namespace

const KrylovMethod& stationary_method() {
  static const KrylovMethod method = {
      {"stationary",
       "x += M (b - A x): the preconditioner by itself, one multigrid cycle after the other", ""},
      {
          .title = "stationary iteration",
          .suited_for = SuitedFor::any_matrix,
          .minimises_residual = false,
          .knows_all_norms = true,
          .needs_symmetric_preconditioner = false,
          .needs_fixed_preconditioner = false,
          .when_stagnated = "try another smoother or preconditioner",
          .cost =
              [](const Choice<KrylovMethod>&) { return KrylovCost{.allreduces = 1, .vectors = 3}; },
          .in_double = KrylovFunctions<double>{solve_by_stationary<double>},
          .in_float = KrylovFunctions<float>{solve_by_stationary<float>},
      }};
  return method;
}

}  // namespace nodewise::solve
