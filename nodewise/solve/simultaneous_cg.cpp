// Conjugate gradients for several right-hand sides at once.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/block_ops.hpp"
#include "nodewise/solve/checkpoint.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

const Observer silent;

const Choice<KrylovMethod>& conjugate_gradients() {
  static const Choice<KrylovMethod> method("cg");
  return method;
}

/// One of the systems. Its residual and direction are columns of the blocks.
template <class T>
struct System {
  System(const Operator<T>& A, const Operator<T>* M, Array<T> rhs, Array<T> guess,
         const Options& options)
      : b(std::move(rhs)),
        x(std::move(guess)),
        it(Unagreed{}, {conjugate_gradients(), A, M, b, x, options, silent}),
        best(it) {}

  Array<T> b, x;
  Iteration<T> it;
  Checkpoint<T> best;
  double rz = 0;     // of the last direction; 0: the next direction starts afresh
  double alpha = 0;  // the last step
  double r_norm = 0;
  double relative = 0;   // the residual in the tested norm, relative to that of b
  double true_norm = 0;  // its 2-norm, where it was computed from x
  bool running = false;
  bool pending = false;    // the residual is not recorded yet
  bool settles = false;    // it is to be recorded now
  bool to_verify = false;  // it is to be computed from x
};

template <class T>
class SimultaneousCg {
 public:
  SimultaneousCg(const Operator<T>& A, const Operator<T>* M, std::span<const T> B, std::span<T> X,
                 int width, const Options& options, const Observer& observe);
  std::vector<Report> run();

 private:
  const mpi::Comm& comm() const { return A_.layout().comm(); }
  std::span<const T> Z() const { return M_ == nullptr ? R_ : Z_; }
  /// The numbers of one kind, one for each system, in what is summed over the ranks.
  std::span<double> sums(std::size_t kind) {
    return std::span(sums_).subspan(kind * width_, width_);
  }
  double sum(std::size_t kind, std::size_t c) const { return sums_[kind * width_ + c]; }
  bool any_runs() const {
    return std::any_of(systems_.begin(), systems_.end(), [](const auto& s) { return s->running; });
  }

  void begin();
  void precondition();
  void advance();
  bool residual_needed() const;
  bool settle_all();
  void find_true_residuals();
  bool settle(std::size_t c);
  void halt(std::size_t c);
  void next_directions();
  bool accept(std::size_t c);
  void next_steps();
  bool accept_step(std::size_t c);
  void tell();

  // Kinds of sums.
  static constexpr std::size_t rz = 0, rr = 1, zz = 2;  // of a residual
  static constexpr std::size_t pq = 0, qq = 1;          // of a direction

  const Operator<T>& A_;
  const Operator<T>* M_;
  std::span<T> X_;
  std::size_t width_;
  const Observer& observe_;
  std::vector<std::unique_ptr<System<T>>> systems_;
  Array<T> R_, P_, Q_, Z_;  // residuals, directions, A P, M R
  Array<T> work_;           // two vectors
  std::vector<double> sums_;
  std::vector<double> factors_;  // one for each system: beta, alpha
  std::vector<double> rr_local_;
  std::vector<double> true_sums_;  // of residuals computed from x
  int iterations_ = 0;
};

template <class T>
SimultaneousCg<T>::SimultaneousCg(const Operator<T>& A, const Operator<T>* M, std::span<const T> B,
                                  std::span<T> X, int width, const Options& options,
                                  const Observer& observe)
    : A_(A), M_(M), X_(X), width_(static_cast<std::size_t>(width)), observe_(observe) {
  const auto n = static_cast<std::size_t>(A.layout().n_local());
  std::uint64_t given = 0;
  const auto error = mpi::caught([&] {
    if (width < 1 || width_ > max_block_width) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("solve: {} right-hand sides at once; 1 to {} will do", width,
                              max_block_width));
    }
    if (B.size() != n * width_ || X.size() != n * width_) {
      throw Error(ErrorCode::dimension_mismatch,
                  fmt::format("solve: the matrix has {} rows on this rank, the {} right-hand sides "
                              "have {} entries and the solutions {}",
                              n, width, B.size(), X.size()));
    }
    require_apart<T>(B, X);
    for (Array<T>* block : {&R_, &P_, &Q_}) block->resize(n * width_);
    if (M != nullptr) Z_.resize(n * width_);
    work_.resize(2 * n);
    sums_.resize(4 * width_);
    factors_.resize(width_);
    rr_local_.resize(width_);
    true_sums_.resize(2 * width_);
    systems_.reserve(width_);
    for (std::size_t c = 0; c < width_; ++c) {
      Array<T> b(n), x(n);
      get_column<T>(B, width_, c, b);
      get_column<T>(X, width_, c, x);
      systems_.push_back(std::make_unique<System<T>>(A, M, std::move(b), std::move(x), options));
      systems_.back()->best.reserve_workspace();
    }
    const int agreements = observe.may_stop() ? observe.interval() : 0;
    const std::uint64_t kind = hash64(M != nullptr ? 1 : 0, static_cast<std::uint64_t>(agreements));
    given =
        hash64(hash64(static_cast<std::uint64_t>(width_), kind), hash_of(options, option_fields()));
  });
  mpi::agree_on_same(comm(), error,
                     {given, "solve: width, options, preconditioner and kind of observer"});
}

/// One reduction for all. A system far from one in size, with a guess that is not zero or with the
/// preconditioner in its norm costs more: what Iteration::begin() costs.
template <class T>
void SimultaneousCg<T>::begin() {
  const std::span<T> r = std::span(work_).first(work_.size() / 2);
  constexpr std::size_t n_measures = std::tuple_size_v<typename Iteration<T>::Measures>;
  for (std::size_t c = 0; c < width_; ++c) {
    const auto local = systems_[c]->it.measures();
    std::copy(local.begin(), local.end(), sums_.begin() + std::ptrdiff_t(c * n_measures));
  }
  sum_parts(comm(), sums_);
  for (std::size_t c = 0; c < width_; ++c) {
    System<T>& s = *systems_[c];
    typename Iteration<T>::Measures all;
    std::copy_n(sums_.begin() + std::ptrdiff_t(c * n_measures), n_measures, all.begin());
    s.running = s.it.begin(r, all);
    if (!s.running) {
      halt(c);
      continue;
    }
    s.best.begin();
    set_column<T>(r, width_, c, R_);
  }
  std::fill(P_.begin(), P_.end(), T{});
  dot_columns<T>(R_, R_, rr_local_);
}

/// Takes a system out: its columns are zero from now on, so that nothing happens to them.
template <class T>
void SimultaneousCg<T>::halt(std::size_t c) {
  systems_[c]->running = false;
  for (std::size_t i = c; i < R_.size(); i += width_) R_[i] = P_[i] = T{};
  rr_local_[c] = 0;
}

template <class T>
std::vector<Report> SimultaneousCg<T>::run() {
  begin();
  while (any_runs()) {
    precondition();
    if (any_runs()) advance();
  }
  std::vector<Report> reports;
  const std::span<T> r = std::span(work_).first(work_.size() / 2);
  for (std::size_t c = 0; c < width_; ++c) {
    System<T>& s = *systems_[c];
    s.best.restore(r);
    s.it.examine_range(r);
    s.to_verify = s.it.needs_true_residual();
  }
  find_true_residuals();
  for (std::size_t c = 0; c < width_; ++c) {
    System<T>& s = *systems_[c];
    reports.push_back(s.it.finish(s.relative, s.true_norm));
    set_column<T>(s.x, width_, c, X_);
  }
  return reports;
}

/// Z = M R, the tests that are still pending, and the next directions. One application of the
/// preconditioner to all, and one reduction.
template <class T>
void SimultaneousCg<T>::precondition() {
  for (bool restarted = true; restarted;) {
    if (M_ != nullptr) M_->apply_block(R_, Z_, static_cast<int>(width_), work_);
    dot_columns<T>(R_, Z(), sums(rz));
    std::copy(rr_local_.begin(), rr_local_.end(), sums(rr).begin());
    dot_columns<T>(Z(), Z(), sums(zz));
    sum_parts(comm(), std::span(sums_).first(3 * width_));
    restarted = settle_all();
  }
  next_directions();
}

/// Records the residuals that are pending. Where the recurrence of a system says converged, its
/// residual is replaced by the true one, from which iteration starts afresh if that is too large.
/// Whether that is so for any.
template <class T>
bool SimultaneousCg<T>::settle_all() {
  bool settled = false;
  for (std::size_t c = 0; c < width_; ++c) {
    System<T>& s = *systems_[c];
    s.r_norm = std::sqrt(sum(rr, c));
    const double square = s.it.chosen(sum(rr, c), sum(rz, c), sum(zz, c));
    s.to_verify = false;
    if (!s.running || !s.pending) continue;
    if (square < 0) continue;  // of an indefinite M: accept() says so
    s.relative = std::sqrt(square) / s.it.reference_norm();
    s.to_verify = s.it.passes(s.relative);
    s.pending = false;
    s.settles = settled = true;
  }
  find_true_residuals();
  bool restarted = false;
  for (std::size_t c = 0; c < width_; ++c) {
    if (std::exchange(systems_[c]->settles, false)) restarted = settle(c) || restarted;
  }
  if (settled) tell();
  return restarted;
}

/// Computes the residuals that are to be verified from x, into the columns of R. One product for
/// all of them and one reduction, with the preconditioner in the norm one application of it. X,
/// which is not the caller's yet, and Q, which is not needed any more, hold them side by side.
template <class T>
void SimultaneousCg<T>::find_true_residuals() {
  const auto count = static_cast<std::size_t>(
      std::count_if(systems_.begin(), systems_.end(), [](const auto& s) { return s->to_verify; }));
  if (count == 0) return;
  const std::span<T> r = std::span(work_).first(work_.size() / 2);
  const std::span<T> x = X_.first(r.size() * count);
  const std::span<T> image = std::span(Q_).first(x.size());
  const bool plain = systems_.front()->it.norm() == ResidualNorm::unpreconditioned;
  const auto for_each = [&](auto&& f) {
    std::size_t k = 0;
    for (std::size_t c = 0; c < width_; ++c) {
      if (systems_[c]->to_verify) f(*systems_[c], c, k++);
    }
  };
  for_each([&](System<T>& s, std::size_t, std::size_t k) { set_column<T>(s.x, count, k, x); });
  A_.apply_block(x, image, static_cast<int>(count), work_);
  const std::span<double> squares = std::span(true_sums_).first(count);
  const std::span<double> tested = std::span(true_sums_).subspan(count, plain ? 0 : count);
  for_each([&](System<T>& s, std::size_t c, std::size_t k) {
    get_column<T>(image, count, k, r);
    squares[k] = rr_local_[c] = subtract<T>(s.it.b(), r, r);
    set_column<T>(r, width_, c, R_);
    set_column<T>(r, count, k, x);
  });
  if (!plain) {
    M_->apply_block(x, image, static_cast<int>(count), work_);
    const bool natural = systems_.front()->it.norm() == ResidualNorm::natural;
    dot_columns<T>(natural ? x : image, image, tested);
  }
  sum_parts(comm(), std::span(true_sums_).first(squares.size() + tested.size()));
  for_each([&](System<T>& s, std::size_t, std::size_t k) {
    s.true_norm = std::sqrt(squares[k]);
    s.relative = std::sqrt(plain ? squares[k] : tested[k]) / s.it.reference_norm();
    s.rz = 0;
  });
}

/// Records the residual of one system. Whether it goes on from a residual computed from x.
template <class T>
bool SimultaneousCg<T>::settle(std::size_t c) {
  System<T>& s = *systems_[c];
  const std::span<T> p = std::span(work_).last(work_.size() / 2);
  const double relative = s.relative;
  const bool verified = s.to_verify;
  const bool rises = !verified && !(relative <= s.it.last());
  if (rises) get_column<T>(P_, width_, c, p);
  if (rises && std::isfinite(relative)) s.best.keep_before({{s.alpha, p}});
  const bool more = s.it.record(relative);
  if (rises && !std::isfinite(relative)) s.best.undo({{s.alpha, p}});
  s.best.note(relative);
  if (more && (!verified || s.it.attainable(relative))) return verified;
  halt(c);
  return false;
}

/// The observer hears of the iteration, and of the largest residual of those in it.
template <class T>
void SimultaneousCg<T>::tell() {
  ++iterations_;
  double largest = 0;
  for (const auto& s : systems_) {
    if (s->it.report().iterations == iterations_) largest = std::max(largest, s->it.last());
  }
  if (ask(comm(), observe_, iterations_, largest)) return;
  for (std::size_t c = 0; c < width_; ++c) {
    if (!systems_[c]->running) continue;
    systems_[c]->it.stop_by_observer();
    halt(c);
  }
}

template <class T>
void SimultaneousCg<T>::next_directions() {
  for (std::size_t c = 0; c < width_; ++c) {
    System<T>& s = *systems_[c];
    factors_[c] = 0;
    if (!s.running || !accept(c)) continue;
    if (s.rz != 0) factors_[c] = sum(rz, c) / s.rz;
    s.rz = sum(rz, c);
  }
  xpby_columns<T>(Z(), factors_, P_);
}

/// Whether a system can go on with its r.z; takes it out where not.
template <class T>
bool SimultaneousCg<T>::accept(std::size_t c) {
  Iteration<T>& it = systems_[c]->it;
  const double value = sum(rz, c);
  if (value > 0 && std::isfinite(value)) return true;
  it.stop(std::isfinite(value) ? Outcome::indefinite_preconditioner : Outcome::not_finite,
          fmt::format("r.Mr = {:.2e} in iteration {}: the preconditioner {}", value,
                      it.report().iterations + 1,
                      std::isfinite(value)
                          ? "is not positive definite, as CG needs it; use `solver gmres`, or "
                            "another smoother or preconditioner"
                          : "returned NaN or infinite values"));
  halt(c);
  return false;
}

/// Q = A P and the steps along P. One product of all and one reduction, one more where
/// residual_needed().
template <class T>
void SimultaneousCg<T>::advance() {
  A_.apply_block(P_, Q_, static_cast<int>(width_), work_);
  dot_columns<T>(P_, Q_, sums(pq));
  dot_columns<T>(Q_, Q_, sums(qq));
  sum_parts(comm(), std::span(sums_).first(2 * width_));
  next_steps();
  update_columns<T>(factors_, Q_, R_, rr_local_);
  if (!residual_needed()) return;
  std::copy(rr_local_.begin(), rr_local_.end(), sums(rr).begin());
  sum_parts(comm(), sums(rr));
  settle_all();
}

template <class T>
void SimultaneousCg<T>::next_steps() {
  for (std::size_t c = 0; c < width_; ++c) {
    System<T>& s = *systems_[c];
    factors_[c] = 0;
    if (!s.running || !accept_step(c)) continue;
    constexpr double leap = 100;  // so bad a step that it could not be undone accurately
    s.alpha = factors_[c] = s.rz / sum(pq, c);
    if (s.alpha * std::sqrt(sum(qq, c)) > leap * s.r_norm) s.best.keep_before({});
    add_column<T>(s.alpha, P_, width_, c, s.x);
    s.pending = true;
  }
}

/// Whether a system can go on with its p.Ap; takes it out where not.
template <class T>
bool SimultaneousCg<T>::accept_step(std::size_t c) {
  System<T>& s = *systems_[c];
  const double value = sum(pq, c);
  if (value > 0 && std::isfinite(value) && std::isfinite(s.rz / value)) return true;
  const bool indefinite = !(value > 0) && std::isfinite(value);
  s.it.stop(indefinite ? Outcome::indefinite_matrix : Outcome::not_finite,
            fmt::format("p.Ap = {:.2e} in iteration {}: the matrix {}", value,
                        s.it.report().iterations + 1,
                        indefinite ? "is not positive definite, as CG needs it; use `solver gmres`"
                                   : "or the preconditioner has NaN, infinite or huge entries"));
  halt(c);
  return false;
}

/// Whether this may be the last iteration of all systems that still run, so that a reduction of its
/// own may save an application of the preconditioner.
template <class T>
bool SimultaneousCg<T>::residual_needed() const {
  bool needed = any_runs();
  for (const auto& s : systems_) {
    const Iteration<T>& it = s->it;
    const bool last_allowed = it.report().iterations + 1 >= it.options().max_iterations;
    const bool may_be_last = last_allowed || (M_ != nullptr && it.next_may_pass());
    if (s->running && (it.norm() != ResidualNorm::unpreconditioned || !may_be_last)) needed = false;
  }
  return needed;
}

}  // namespace

template <class T>
std::vector<Report> simultaneous_cg(const Operator<T>& A, const Operator<T>* preconditioner,
                                    std::span<const T> B, std::span<T> X, int width,
                                    const Options& options, const Observer& observe) {
  const mpi::Scope scope(A.layout().comm(), "vector_updates", mpi::no_level);
  return SimultaneousCg<T>(A, preconditioner, B, X, width, options, observe).run();
}

template std::vector<Report> simultaneous_cg(const Operator<double>&, const Operator<double>*,
                                             std::span<const double>, std::span<double>, int,
                                             const Options&, const Observer&);
template std::vector<Report> simultaneous_cg(const Operator<float>&, const Operator<float>*,
                                             std::span<const float>, std::span<float>, int,
                                             const Options&, const Observer&);

}  // namespace nodewise::solve
