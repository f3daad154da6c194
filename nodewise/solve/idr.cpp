// Induced dimension reduction, preconditioned from the right.
#include "nodewise/solve/idr.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/checkpoint.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

/// Fresh starts after breakdowns, in a row without any gain, that end a solve.
constexpr int most_fresh_starts = 3;
/// The least cosine between a residual and its image for which omega is the minimiser.
constexpr double least_cosine = 0.7;

int dimension_of(const Choice<KrylovMethod>& method) {
  return method.options<IdrOptions>().idr_dimension;
}

/// The s vectors g_k of a cycle made biorthogonal to the shadow vectors p_i, p_i . g_k = 0 for
/// i < k, through the triangular matrix of what is left of these products. Local and the same on
/// all ranks.
class ShadowProducts {
 public:
  explicit ShadowProducts(std::size_t s) : s_(s), M_(s * s), f_(s) {}

  /// As though the g_k were zero and their products those of the unit vectors.
  void reset() {
    std::fill(M_.begin(), M_.end(), 0.0);
    for (std::size_t k = 0; k < s_; ++k) M_[k * s_ + k] = 1;
  }
  /// p_i . r, which the steps of a cycle keep up.
  void set_residual(std::span<const double> f) { std::copy_n(f.begin(), s_, f_.begin()); }

  /// What of g_k, g_k+1 ... makes the residual orthogonal to p_k, p_k+1 ..., into c.
  void coefficients(std::size_t k, std::span<double> c) const {
    for (std::size_t i = k; i < s_; ++i) {
      double rest = f_[i];
      for (std::size_t j = k; j < i; ++j) rest -= M_[i * s_ + j] * c[j - k];
      c[i - k] = rest / M_[i * s_ + i];
    }
  }
  /// Takes p_i . g for all i of a new g for g_k, and returns what of g_0 ... g_k-1 is to be
  /// subtracted from it, in `alphas`.
  void take(std::size_t k, std::span<double> products, std::span<double> alphas) {
    for (std::size_t i = 0; i < k; ++i) {
      alphas[i] = products[i] / M_[i * s_ + i];
      for (std::size_t j = i; j < s_; ++j) products[j] -= alphas[i] * M_[j * s_ + i];
    }
    for (std::size_t i = k; i < s_; ++i) M_[i * s_ + k] = products[i];
  }
  double pivot(std::size_t k) const { return M_[k * s_ + k]; }
  /// How much of g_k makes the residual orthogonal to p_k.
  double step(std::size_t k) const { return f_[k] / pivot(k); }
  /// The residual has moved by -beta g_k.
  void move(std::size_t k, double beta) {
    for (std::size_t i = k; i < s_; ++i) f_[i] -= beta * M_[i * s_ + k];
  }

 private:
  std::size_t s_;
  std::vector<double> M_;  // row-major, the lower triangle
  std::vector<double> f_;
};

template <class T>
class Idr {
 public:
  explicit Idr(const KrylovCall<T>& call)
      : it_(call),
        best_(it_),
        s_(static_cast<std::size_t>(std::max<GlobalIndex>(
            1, std::min<GlobalIndex>(dimension_of(call.method), call.A.layout().n_global())))),
        small_(s_),
        c_(s_),
        dots_(s_ + 2),
        shadow_norms_(s_) {
    mpi::collectively(it_.comm(), [&] {
      best_.reserve_workspace();
      for (Array<T>* v : {&r_, &v_, &z_}) v->resize(call.b.size());
      for (std::vector<Array<T>>* all : {&P_, &G_, &U_}) all->resize(s_, Array<T>(call.b.size()));
    });
  }

  Report run() {
    if (it_.begin(r_)) {
      best_.begin();
      at_breakdown_ = it_.last();
      start();
      while (cycle()) {
      }
    }
    best_.restore(v_);
    it_.examine_range(v_);
    return it_.finish(v_);
  }

 private:
  bool cycle();
  bool reduce(std::size_t k);
  bool lower_dimension();
  bool settle(double rr, Move<T> step);
  bool recover(const char* vanished);
  void start();
  void draw_shadow();
  void measure_residual();
  void precondition(std::span<const T> v);
  bool stop_not_finite();
  static bool is_round_off(double product, double norm_a, double norm_b) {
    constexpr double unit = 10 * static_cast<double>(std::numeric_limits<T>::epsilon());
    return !(std::abs(product) > unit * norm_a * norm_b);
  }

  Iteration<T> it_;
  Checkpoint<T> best_;
  std::size_t s_;
  ShadowProducts small_;
  std::vector<double> c_, dots_;      // room for a cycle's small numbers
  std::vector<double> shadow_norms_;  // of P_
  std::vector<Array<T>> P_, G_, U_;   // shadow vectors, directions of r, and of x: G = A U
  Array<T> r_, v_, z_;
  double r_norm_ = 0, omega_ = 1;
  double A_norm_ = 0;        // the largest length of A u over that of u so far
  double at_breakdown_ = 0;  // the relative residual at the last breakdown
  int breakdowns_ = 0;       // since the last gain
  bool has_shadow_ = false;
  bool restarted_ = false;  // the next cycle starts afresh already
};

/// The shadow vectors by the rows' global numbers alone: the same on any ranks. Nearly orthogonal
/// for many rows; that they are independent is enough.
template <class T>
void Idr<T>::draw_shadow() {
  const comm::Layout& layout = it_.A().layout();
  const auto first = static_cast<std::uint64_t>(breakdowns_) * s_;
  for (std::size_t k = 0; k < s_; ++k) {
    for (std::size_t i = 0; i < r_.size(); ++i) {
      const GlobalIndex row = layout.to_global(static_cast<LocalIndex>(i)) - layout.first();
      P_[k][i] = static_cast<T>(2 * hash_uniform(static_cast<std::uint64_t>(row), first + k) - 1);
    }
    shadow_norms_[k] = dot_local<T>(P_[k], P_[k]);
  }
  sum_parts(it_.comm(), shadow_norms_);
  for (double& norm : shadow_norms_) norm = std::sqrt(norm);
  has_shadow_ = true;
}

/// Starts afresh from r_. One reduction; another where there are no shadow vectors.
template <class T>
void Idr<T>::start() {
  if (!has_shadow_) draw_shadow();
  for (std::size_t k = 0; k < s_; ++k) {
    std::fill(G_[k].begin(), G_[k].end(), T{});
    std::fill(U_[k].begin(), U_[k].end(), T{});
  }
  small_.reset();
  omega_ = 1;
  measure_residual();
}

/// Its products with the shadow vectors, and its norm. One reduction.
template <class T>
void Idr<T>::measure_residual() {
  const std::span<double> dots = std::span(dots_).first(s_ + 1);
  dots_with_basis<T>(P_, r_, dots);
  sum_parts(it_.comm(), dots);
  small_.set_residual(dots);
  r_norm_ = std::sqrt(dots.back());
}

/// z = M v.
template <class T>
void Idr<T>::precondition(std::span<const T> v) {
  if (it_.M() != nullptr) return it_.M()->apply(v, z_);
  xpby<T>(v, 0.0, z_);
}

/// s steps in the space of the cycle, and one into a space that is smaller by s dimensions.
template <class T>
bool Idr<T>::cycle() {
  restarted_ = false;
  for (std::size_t k = 0; k < s_; ++k) {
    if (!reduce(k)) return false;
    if (restarted_) return true;
  }
  return lower_dimension();
}

/// Step k: a direction whose image stays in the cycle's space, and with it a residual orthogonal to
/// one shadow vector more. One product, one preconditioner, two reductions.
template <class T>
bool Idr<T>::reduce(std::size_t k) {
  const std::span<double> c = std::span(c_).first(s_ - k);
  small_.coefficients(k, c);
  xpby<T>(r_, 0.0, v_);
  combine<T>(std::span<const Array<T>>(G_).subspan(k), c, -1.0, 1.0, v_);
  precondition(v_);
  scale<T>(omega_, z_);
  combine<T>(std::span<const Array<T>>(U_).subspan(k), c, 1.0, 1.0, z_);
  std::swap(U_[k], z_);
  it_.A().apply(U_[k], G_[k]);
  dots_with_basis<T>(P_, G_[k], std::span(dots_).first(s_ + 1));
  dots_[s_ + 1] = dot_local<T>(U_[k], U_[k]);
  sum_parts(it_.comm(), dots_);
  if (!std::isfinite(dots_[s_]) || !std::isfinite(dots_[s_ + 1])) return stop_not_finite();
  // What round-off in A u is in proportion to: a null vector of A leaves nothing else.
  const double u_norm = std::sqrt(dots_[s_ + 1]);
  if (u_norm > 0) A_norm_ = std::max(A_norm_, std::sqrt(dots_[s_]) / u_norm);
  const double length = A_norm_ * u_norm;
  const std::span<double> alphas = std::span(c_).first(k);
  small_.take(k, dots_, alphas);
  if (is_round_off(small_.pivot(k), shadow_norms_[k], length)) return recover("p.g");
  combine<T>(std::span<const Array<T>>(G_).first(k), alphas, -1.0, 1.0, G_[k]);
  combine<T>(std::span<const Array<T>>(U_).first(k), alphas, -1.0, 1.0, U_[k]);
  const double beta = small_.step(k);
  if (!std::isfinite(beta)) return recover("p.g");
  small_.move(k, beta);
  const auto [rr] = sum_all(it_.comm(), update<T>(beta, U_[k], G_[k], it_.x(), r_));
  return settle(rr, {beta, U_[k]});
}

/// r -= omega A M r. Omega minimises the residual, unless that is nearly orthogonal to its image:
/// then a longer step keeps the cycles that follow accurate (Sleijpen, van der Vorst 1995). One
/// product, one preconditioner, two reductions.
template <class T>
bool Idr<T>::lower_dimension() {
  if (it_.M() == nullptr) xpby<T>(r_, 0.0, z_);
  it_.apply_both(r_, z_, v_);
  const auto parts = dot_and_square_local<T>(r_, v_);
  const auto [tr, tt] = sum_all(it_.comm(), parts[0], parts[1]);
  if (!std::isfinite(tr) || !std::isfinite(tt)) return stop_not_finite();
  const double t_norm = std::sqrt(tt);
  if (is_round_off(tr, t_norm, r_norm_)) return recover("r.AMr");
  const double cosine = std::abs(tr) / (t_norm * r_norm_);
  omega_ = tr / tt * std::max(1.0, least_cosine / cosine);
  update<T>(omega_, z_, v_, it_.x(), r_);
  measure_residual();
  return settle(r_norm_ * r_norm_, {omega_, z_});
}

/// Records the new residual. One that passes the test is replaced by the true one, and iteration
/// starts afresh from that where it is too large.
template <class T>
bool Idr<T>::settle(double rr, Move<T> step) {
  r_norm_ = std::sqrt(rr);
  double relative = r_norm_ / it_.reference_norm();
  const bool verified = it_.passes(relative);
  if (verified) relative = it_.true_residual(r_);
  if (!verified && relative > it_.last() && std::isfinite(relative)) best_.keep_before({step});
  const bool more = it_.record(relative);
  if (!std::isfinite(relative)) best_.undo({step});
  best_.note(relative);
  if (!more || !verified) return more;
  if (!it_.attainable(relative)) return false;
  restarted_ = true;
  start();
  return true;
}

/// A breakdown: starts afresh from the true residual, against other shadow vectors. False, with a
/// diagnosis, where that has not helped several times.
template <class T>
bool Idr<T>::recover(const char* vanished) {
  const double relative = it_.true_residual(r_);
  const bool gained = relative < stagnation_factor * at_breakdown_;
  breakdowns_ = gained ? 1 : breakdowns_ + 1;
  if (gained) at_breakdown_ = relative;
  if (breakdowns_ > most_fresh_starts || !std::isfinite(relative)) {
    it_.stop(Outcome::breakdown,
             fmt::format("IDR broke down at a relative residual of {:.1e}: {} vanished, again "
                         "after {} fresh starts; use `solver gmres`",
                         relative, vanished, most_fresh_starts));
    return false;
  }
  draw_shadow();
  restarted_ = true;
  start();
  return true;
}

template <class T>
bool Idr<T>::stop_not_finite() {
  it_.stop(Outcome::not_finite,
           fmt::format("a product is not finite in iteration {}: the matrix or the preconditioner "
                       "has NaN, infinite or huge entries",
                       it_.report().iterations + 1));
  return false;
}

template <class T>
Report solve_by_idr(const KrylovCall<T>& call) {
  return Idr<T>(call).run();
}

}  // namespace

std::span<const Field<IdrOptions>> idr_fields() {
  static const std::vector<Field<IdrOptions>> fields = {
      field("idr_dimension", &IdrOptions::idr_dimension,
            "Shadow vectors of IDR(s), s: more take fewer iterations and more memory", 1, 64)};
  return fields;
}

const KrylovMethod& idr_method() {
  static const KrylovMethod method = {
      {"idr", "induced dimension reduction, for any matrix, with few vectors",
       "Sonneveld, van Gijzen 2008; van Gijzen, Sonneveld 2011", own_options(idr_fields)},
      {
          .title = "IDR",
          .suited_for = SuitedFor::any_matrix,
          .minimises_residual = false,
          .knows_all_norms = false,
          .needs_symmetric_preconditioner = false,
          .needs_fixed_preconditioner = true,
          .when_stagnated =
              "try a larger `idr_dimension`, `solver gmres`, or another smoother or preconditioner",
          .cost =
              [](const Choice<KrylovMethod>& chosen) {
                const int s = dimension_of(chosen);
                return KrylovCost{.longest_sum = s + 2, .vectors = 3 * s + 3};
              },
          .in_double = KrylovFunctions<double>{solve_by_idr<double>},
          .in_float = KrylovFunctions<float>{solve_by_idr<float>},
      }};
  return method;
}

}  // namespace nodewise::solve
