// Conjugate gradients whose one reduction an iteration overlaps with preconditioner and product.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/mpi/nonblocking_sum.hpp"
#include "nodewise/solve/checkpoint.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

/// Every so many iterations the vectors that recurrences have brought further and further from what
/// they stand for are computed anew.
constexpr int iterations_between_replacements = 50;

/// What became of a new residual.
enum class NextPipelined { stop, go_on, restart };

template <class T>
class PipelinedCg {
 public:
  explicit PipelinedCg(const KrylovCall<T>& call) : it_(call), best_(it_) {
    mpi::collectively(it_.comm(), [&] {
      best_.reserve_workspace();
      for (Array<T>* v : {&r_, &w_, &n_, &p_, &s_, &z_}) v->resize(call.b.size());
      if (call.M == nullptr) return;
      for (Array<T>* v : {&u_, &m_, &q_}) v->resize(call.b.size());
    });
  }

  Report run() {
    if (it_.begin(r_)) {
      best_.begin();
      start();
      while (advance()) {
      }
    }
    best_.restore(n_);
    it_.examine_range(n_);
    return it_.finish(n_);
  }

 private:
  /// Numbers of a residual, summed over the ranks.
  struct Products {
    double ru, wu, rr, uu;
  };

  void start();
  bool advance();
  Products sum_products();
  bool find_step(const Products& sums);
  bool recover(const Products& sums);
  void diagnose(const Products& sums);
  void move();
  NextPipelined settle(double square);
  NextPipelined settle_now();
  void replace();
  bool is_trusted() const;
  // Without a preconditioner three pairs of vectors are one each.
  Array<T>& u() { return it_.M() == nullptr ? r_ : u_; }
  Array<T>& m() { return it_.M() == nullptr ? w_ : m_; }
  Array<T>& q() { return it_.M() == nullptr ? s_ : q_; }

  Iteration<T> it_;
  Checkpoint<T> best_;
  Array<T> r_, u_, w_;      // residual, u = M r, w = A u
  Array<T> m_, n_;          // m = M w, n = A m
  Array<T> p_, s_, q_, z_;  // direction, s = A p, q = M s, z = A q
  double ru_ = 0;           // r.u of the last step; 0: the next one starts afresh
  double alpha_ = 0, beta_ = 0, p_Ap_ = 0;
  double p_square_ = 0;  // p.M^-1 p, as long as directions are conjugate
  double largest_ = 0;   // eigenvalue of M A, from below
  double drift_ = 0;     // of r_ from b - A x, in the norm of M
  int since_replacement_ = 0;
  bool pending_ = false;  // the residual is not recorded yet
};

/// Starts afresh from r_.
template <class T>
void PipelinedCg<T>::start() {
  it_.apply_both(r_, u(), w_);
  for (Array<T>* v : {&p_, &s_, &q_, &z_}) std::fill(v->begin(), v->end(), T{});
  ru_ = 0;
  drift_ = 0;
  since_replacement_ = 0;
}

/// The one reduction, and m = M w, n = A m meanwhile.
template <class T>
typename PipelinedCg<T>::Products PipelinedCg<T>::sum_products() {
  const bool needs_uu = it_.norm() == ResidualNorm::preconditioned;
  std::array<double, 4> sums = {dot_local<T>(r_, u()), dot_local<T>(w_, u()), dot_local<T>(r_, r_),
                                needs_uu ? dot_local<T>(u(), u()) : 0.0};
  std::optional<mpi::NonblockingSum> sum;
  {
    const mpi::Scope scope(it_.comm(), "dot_products");
    sum.emplace(it_.comm(), sums);
  }
  it_.apply_both(w_, m(), n_);
  const mpi::Scope scope(it_.comm(), "dot_products");
  sum->finish();
  return {sums[0], sums[1], sums[2], sums[3]};
}

/// One iteration: a reduction beside one preconditioner and one product, then all vectors at once.
template <class T>
bool PipelinedCg<T>::advance() {
  const Products sums = sum_products();
  const double square = it_.chosen(sums.rr, sums.ru, sums.uu);
  if (pending_ && !(square < 0)) {
    const NextPipelined next = settle(square);
    if (next != NextPipelined::go_on) return next == NextPipelined::restart;
  }
  if (!find_step(sums)) return recover(sums);
  move();
  pending_ = true;
  if (++since_replacement_ >= iterations_between_replacements) replace();
  const bool last_allowed = it_.report().iterations + 1 >= it_.options().max_iterations;
  if (!last_allowed && !it_.next_may_pass()) return true;
  return settle_now() != NextPipelined::stop;
}

/// The lengths of the next step; false where there is none.
template <class T>
bool PipelinedCg<T>::find_step(const Products& sums) {
  beta_ = ru_ == 0 ? 0.0 : sums.ru / ru_;
  p_Ap_ = ru_ == 0 ? sums.wu : sums.wu - beta_ * sums.ru / alpha_;
  const double alpha = sums.ru / p_Ap_;
  if (!(sums.ru > 0) || !(p_Ap_ > 0) || !std::isfinite(alpha)) return false;
  alpha_ = alpha;
  ru_ = sums.ru;
  p_square_ = ru_ + beta_ * beta_ * p_square_;
  largest_ = std::max(largest_, p_Ap_ / p_square_);
  drift_ += std::numeric_limits<T>::epsilon() * largest_ * alpha_ * std::sqrt(p_square_);
  return true;
}

/// Whether the residual of the recurrence says anything about x. A step as long as those along a
/// null vector changes x by much more than what is left of the residual, and the round-off of A
/// times that is nothing that the recurrence knows. (Van der Vorst, Ye 2000 estimate likewise when
/// to replace residuals.) By numbers that are at hand.
template <class T>
bool PipelinedCg<T>::is_trusted() const {
  constexpr double slack = 1e-3;  // recurrences of recurrences amplify what they are given
  return drift_ <= slack * std::sqrt(ru_);
}

/// There is no step. The recurrences may have brought that about: then other vectors are made; or
/// else it is the end.
template <class T>
bool PipelinedCg<T>::recover(const Products& sums) {
  if (since_replacement_ > 0) {
    replace();
    return true;
  }
  if (ru_ != 0) {  // the next direction may not be conjugate to the last, as the formula assumes
    const auto [us, ps] = sum_all(it_.comm(), dot_local<T>(u(), s_), dot_local<T>(p_, s_));
    p_Ap_ = sums.wu + beta_ * (2 * us + beta_ * ps);
  }
  if (ru_ == 0 || !(sums.ru > 0) || !(p_Ap_ > 0)) {
    diagnose(sums);
    return false;
  }
  const double relative = it_.true_residual(r_);
  start();
  if (it_.attainable(relative)) return true;
  if (relative * relative > std::numeric_limits<T>::epsilon()) {  // that is not round-off
    it_.stop(Outcome::breakdown,
             fmt::format("pipelined CG found no step at a relative residual of {:.1e}, after fresh "
                         "starts neither: the matrix or the preconditioner is not symmetric "
                         "positive definite; use `solver gmres`",
                         relative));
  }
  return false;
}

/// Why there is no step, although all that it is made of has just been computed.
template <class T>
void PipelinedCg<T>::diagnose(const Products& sums) {
  const int iteration = it_.report().iterations + 1;
  if (!std::isfinite(sums.ru) || !std::isfinite(p_Ap_) || (sums.ru > 0 && p_Ap_ > 0)) {
    it_.stop(Outcome::not_finite,
             fmt::format("r.Mr = {:.2e} and p.Ap = {:.2e} in iteration {}: the matrix or the "
                         "preconditioner has NaN, infinite or huge entries",
                         sums.ru, p_Ap_, iteration));
  } else if (!(sums.ru > 0)) {
    it_.stop(
        Outcome::indefinite_preconditioner,
        fmt::format(
            "r.Mr = {:.2e} in iteration {}: the preconditioner is not positive "
            "definite, as CG needs it; use `solver gmres`, or another smoother or preconditioner",
            sums.ru, iteration));
  } else {
    it_.stop(Outcome::indefinite_matrix,
             fmt::format("p.Ap = {:.2e} in iteration {}: the matrix is not positive definite, as "
                         "CG needs it; use `solver minres` or gmres",
                         p_Ap_, iteration));
  }
}

/// The directions and what the operators make of them, then a step of x and of all that follows it,
/// in one pass over memory.
template <class T>
void PipelinedCg<T>::move() {
  const T alpha = static_cast<T>(alpha_);
  const T beta = static_cast<T>(beta_);
  const std::span<T> x = it_.x();
  const bool preconditioned = it_.M() != nullptr;
  for (std::size_t i = 0; i < x.size(); ++i) {
    p_[i] = u()[i] + beta * p_[i];
    s_[i] = w_[i] + beta * s_[i];
    z_[i] = n_[i] + beta * z_[i];
    if (preconditioned) {
      q_[i] = m_[i] + beta * q_[i];
      u_[i] -= alpha * q_[i];
    }
    x[i] += alpha * p_[i];
    r_[i] -= alpha * s_[i];
    w_[i] -= alpha * z_[i];
  }
}

/// Computes everything but x and p anew from these.
template <class T>
void PipelinedCg<T>::replace() {
  it_.true_residual(r_);
  drift_ = 0;
  it_.apply_both(r_, u(), w_);
  it_.A().apply(p_, s_);
  it_.apply_both(s_, q(), z_);
  since_replacement_ = 0;
}

/// Takes the new residual, whose tested norm has this square: records it and keeps a checkpoint.
/// Where the recurrence says converged, it is replaced by the true residual, from which iteration
/// starts afresh if that is too large.
template <class T>
NextPipelined PipelinedCg<T>::settle(double square) {
  pending_ = false;
  double relative = std::sqrt(square) / it_.reference_norm();
  const bool verified = it_.passes(relative);
  if (verified) relative = it_.true_residual(r_);
  const bool says_something = verified || is_trusted();
  if (!verified && says_something && relative > it_.last() && std::isfinite(relative)) {
    best_.keep_before({{alpha_, p_}});
  }
  const bool more = it_.record(relative);
  if (!std::isfinite(relative)) best_.undo({{alpha_, p_}});
  if (says_something) best_.note(relative);
  if (!more) return NextPipelined::stop;
  if (!verified) return NextPipelined::go_on;
  if (!it_.attainable(relative)) return NextPipelined::stop;
  start();
  return NextPipelined::restart;
}

/// The same by a reduction of its own, which may save a preconditioner and a product.
template <class T>
NextPipelined PipelinedCg<T>::settle_now() {
  const std::span<const T> a = it_.norm() == ResidualNorm::preconditioned ? u() : r_;
  const std::span<const T> b = it_.norm() == ResidualNorm::unpreconditioned ? r_ : u();
  const double square = sum_all(it_.comm(), dot_local<T>(a, b))[0];
  return square < 0 ? NextPipelined::go_on : settle(square);
}

template <class T>
Report solve_by_pipelined_cg(const KrylovCall<T>& call) {
  return PipelinedCg<T>(call).run();
}

}  // namespace

const KrylovMethod& pipelined_cg_method() {
  static const KrylovMethod method = {
      {"pipelined_cg",
       "conjugate gradients with one sum an iteration, which goes on while it computes, for many "
       "ranks",
       "Ghysels, Vanroose 2014, algorithm 4; Cools, Yetkin, Agullo, Giraud, Vanroose 2018"},
      {
          .title = "pipelined conjugate gradients",
          .suited_for = SuitedFor::positive_definite_ones,
          .minimises_residual = false,
          .knows_all_norms = true,
          .needs_symmetric_preconditioner = true,
          .needs_fixed_preconditioner = true,
          .when_stagnated = advice_for_cg,
          .cost =
              [](const Choice<KrylovMethod>&) { return KrylovCost{.allreduces = 1, .vectors = 9}; },
          .in_double = KrylovFunctions<double>{solve_by_pipelined_cg<double>},
          .in_float = KrylovFunctions<float>{solve_by_pipelined_cg<float>},
          .needs_linear_preconditioner = true,
          .sums_in_background = true,
      }};
  return method;
}

}  // namespace nodewise::solve
