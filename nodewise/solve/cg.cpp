// Preconditioned conjugate gradients, also with a preconditioner that changes.
#include <array>
#include <cmath>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/cg_tests.hpp"
#include "nodewise/solve/checkpoint.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

/// What became of a new residual.
enum class Next { stop, go_on, restart };

/// How a direction is made conjugate to the last one. For a preconditioner that is one symmetric
/// map both are the same.
enum class Conjugacy {
  fletcher_reeves,  ///< beta = r'.z' / r.z
  polak_ribiere     ///< beta = (r' - r).z' / r.z = -alpha q.z' / r.z: for any map
};

template <class T>
class ConjugateGradient {
 public:
  ConjugateGradient(Conjugacy conjugacy, const KrylovCall<T>& call)
      : it_(call),
        best_(it_),
        conjugacy_(conjugacy),
        saves_product_(call.M != nullptr && call.M->saves_product_with(call.A)) {
    mpi::collectively(it_.comm(), [&] {
      best_.reserve_workspace();
      for (Array<T>* v : {&r_, &p_, &q_}) v->resize(call.b.size());
      if (call.M != nullptr) z_.resize(call.b.size());
      if (saves_product_) w_.resize(call.b.size());
    });
  }

  Report run() {
    if (it_.begin(r_)) {
      best_.begin();
      rr_local_ = dot_local<T>(r_, r_);
      while (precondition() && advance()) {
      }
    }
    best_.restore(q_);
    it_.examine_range(r_);
    return it_.finish(q_);
  }

 private:
  /// Numbers of a residual, summed over the ranks.
  struct Products {
    double rz, rr, zz, qz;
  };

  bool precondition();
  void apply_preconditioner();
  void extend_direction(double beta);
  bool advance();
  Products sum_products();
  Next settle(double square);
  bool residual_needed() const;
  std::span<const T> z() const { return it_.M() == nullptr ? r_ : z_; }

  Iteration<T> it_;
  Checkpoint<T> best_;
  Conjugacy conjugacy_;
  bool saves_product_;  // A p comes from A M r, which the preconditioner makes for less than A p
  Array<T> r_, p_, q_, z_, w_;        // residual, direction, A p, M r, A M r
  std::array<double, 2> pq_local_{};  // this rank's parts of p.q and q.q
  double rz_ = 0;         // r.z of the last direction; 0: the next direction starts afresh
  double alpha_ = 0;      // the last step
  double r_norm_ = 0;     // |r|, of the last sum
  double rr_local_ = 0;   // this rank's part of r.r
  bool pending_ = false;  // the residual is not recorded yet
};

/// One reduction.
template <class T>
typename ConjugateGradient<T>::Products ConjugateGradient<T>::sum_products() {
  const bool needs_qz = conjugacy_ == Conjugacy::polak_ribiere && rz_ != 0;
  const bool needs_zz = it_.norm() == ResidualNorm::preconditioned;
  const auto [rz, rr, zz, qz] =
      sum_all(it_.comm(), dot_local<T>(r_, z()), rr_local_, needs_zz ? dot_local<T>(z(), z()) : 0.0,
              needs_qz ? dot_local<T>(q_, z()) : 0.0);
  r_norm_ = std::sqrt(rr);
  return {rz, rr, zz, qz};
}

template <class T>
void ConjugateGradient<T>::apply_preconditioner() {
  if (it_.M() == nullptr) return;
  if (saves_product_) return it_.M()->apply_with_product(it_.A(), r_, z_, w_);
  it_.M()->apply(r_, z_);
}

/// p = z + beta p and q = A p, by a product or from those that were made before.
template <class T>
void ConjugateGradient<T>::extend_direction(double beta) {
  if (saves_product_) {
    pq_local_ = xpby_both<T>(z_, w_, beta, p_, q_);
    return;
  }
  xpby<T>(z(), beta, p_);
  it_.A().apply(p_, q_);
  pq_local_ = dot_and_square_local<T>(p_, q_);
}

/// z = M r, the test of the residual if that is still pending, p = z + beta p and q = A p. One
/// preconditioner application, one product and one reduction; false where the solve is over.
template <class T>
bool ConjugateGradient<T>::precondition() {
  Products sums{};
  for (bool restarted = true; restarted;) {
    restarted = false;
    apply_preconditioner();
    sums = sum_products();
    const double square = it_.chosen(sums.rr, sums.rz, sums.zz);
    if (pending_ && !(square < 0)) {
      const Next next = settle(square);
      if (next == Next::stop) return false;
      restarted = next == Next::restart;  // r is another now
    }
  }
  if (!accepts_preconditioner(it_, sums.rz)) return false;
  double beta = 0;
  if (rz_ != 0) {
    beta = (conjugacy_ == Conjugacy::fletcher_reeves ? sums.rz : -alpha_ * sums.qz) / rz_;
  }
  extend_direction(beta);
  rz_ = sums.rz;
  return true;
}

/// The step along p. One reduction, one more where residual_needed().
template <class T>
bool ConjugateGradient<T>::advance() {
  const auto [pq, qq] = sum_all(it_.comm(), pq_local_[0], pq_local_[1]);
  alpha_ = rz_ / pq;
  if (!accepts_matrix(it_, pq, alpha_)) return false;
  // |r - alpha q| >= alpha |q| - |r|: a step so bad that it could not be undone accurately.
  constexpr double leap = 100;
  if (alpha_ * std::sqrt(qq) > leap * r_norm_) best_.keep_before({});
  rr_local_ = update<T>(alpha_, p_, q_, it_.x(), r_);
  pending_ = true;
  if (!residual_needed()) return true;
  const double rr = sum_all(it_.comm(), rr_local_)[0];
  return settle(rr) != Next::stop;
}

/// Whether to spend a reduction on r.r before the preconditioner is applied, because this may be
/// the last iteration, or whether r.r can wait for the reduction of r.z. Without a preconditioner
/// nothing is lost by waiting, but for the last iteration allowed; and a norm that has the
/// preconditioner in it has to wait.
template <class T>
bool ConjugateGradient<T>::residual_needed() const {
  if (it_.norm() != ResidualNorm::unpreconditioned) return false;
  if (it_.report().iterations + 1 >= it_.options().max_iterations) return true;
  return it_.M() != nullptr && it_.next_may_pass();
}

/// Takes the new residual, whose tested norm has this square: records it and keeps a checkpoint.
/// Where the recurrence says converged, it is replaced by the true residual, from which iteration
/// starts afresh if that is too large.
template <class T>
Next ConjugateGradient<T>::settle(double square) {
  pending_ = false;
  double relative = std::sqrt(square) / it_.reference_norm();
  Next next = Next::go_on;
  if (it_.passes(relative)) {
    relative = it_.true_residual(r_);
    rr_local_ = dot_local<T>(r_, r_);
    rz_ = 0;
    next = Next::restart;
  }
  if (next == Next::go_on && relative > it_.last() && std::isfinite(relative)) {
    best_.keep_before({{alpha_, p_}});
  }
  const bool more = it_.record(relative);
  if (!std::isfinite(relative)) best_.undo({{alpha_, p_}});
  best_.note(relative);
  if (more && next == Next::restart && !it_.attainable(relative)) return Next::stop;
  return more ? next : Next::stop;
}

template <class T>
Report cg_by(const KrylovCall<T>& call) {
  return ConjugateGradient<T>(Conjugacy::fletcher_reeves, call).run();
}

template <class T>
Report flexible_cg_by(const KrylovCall<T>& call) {
  return ConjugateGradient<T>(Conjugacy::polak_ribiere, call).run();
}

}  // namespace

const KrylovMethod& cg_method() {
  static const KrylovMethod method = {
      {"cg", "conjugate gradients, for symmetric positive definite matrices",
       "Hestenes, Stiefel 1952; Saad 2003, algorithm 9.1"},
      {
          .title = "conjugate gradients",
          .suited_for = SuitedFor::positive_definite_ones,
          .minimises_residual = false,
          .knows_all_norms = true,
          .needs_symmetric_preconditioner = true,
          .needs_fixed_preconditioner = true,
          .when_stagnated = advice_for_cg,
          .cost = [](const Choice<KrylovMethod>&) { return KrylovCost{}; },
          .in_double = KrylovFunctions<double>{cg_by<double>, simultaneous_cg<double>},
          .in_float = KrylovFunctions<float>{cg_by<float>, simultaneous_cg<float>},
          .runs_on_devices = true,
      }};
  return method;
}

const KrylovMethod& flexible_cg_method() {
  static const KrylovMethod method = {
      {"flexible_cg", "the same for a preconditioner that may change or is not quite symmetric",
       "Golub, Ye 1999; Notay 2000, with one direction kept"},
      {
          .title = "flexible conjugate gradients",
          .suited_for = SuitedFor::positive_definite_ones,
          .minimises_residual = false,
          .knows_all_norms = true,
          .needs_symmetric_preconditioner = false,
          .needs_fixed_preconditioner = false,
          .when_stagnated = advice_for_cg,
          .cost = [](const Choice<KrylovMethod>&) { return KrylovCost{}; },
          .in_double = KrylovFunctions<double>{flexible_cg_by<double>},
          .in_float = KrylovFunctions<float>{flexible_cg_by<float>},
          .runs_on_devices = true,
      }};
  return method;
}

}  // namespace nodewise::solve
