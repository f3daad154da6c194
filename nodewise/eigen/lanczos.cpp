// Thick-restart Lanczos (Wu, Simon 2000) with full reorthogonalisation.
#include "nodewise/eigen/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/eigen/method.hpp"
#include "nodewise/eigen/options.hpp"
#include "nodewise/eigen/tall.hpp"
#include "nodewise/kernels/dense.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/block_ops.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/sums_in_pieces.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::eigen {

namespace {

using solve::Outcome;

constexpr double lanczos_round_off = std::numeric_limits<double>::epsilon();

/// Ritz values of the basis beyond the locked vectors, lowest first; the vectors as combinations of
/// all of the basis, by columns of its length.
struct RitzPairs {
  std::vector<double> values;
  std::vector<double> couplings;  // with the vector behind the basis: residuals, with their signs
  std::vector<double> vectors;
  std::size_t size() const { return values.size(); }
};

/// The basis V is orthonormal, and A V = V H + (what is behind it). Its first `locked_` vectors are
/// converged, and their couplings with the others are taken for zero; the next up to `kept_` are
/// Ritz vectors that a restart kept, each coupled with the one that follows them; the others are
/// those of Lanczos' recurrence. The small problems are solved on every rank, from numbers that an
/// allreduce has made the same, by the same instructions: the results are the same.
class Lanczos {
 public:
  explicit Lanczos(const EigenCall& call);
  Found run();

 private:
  bool find_wanted();
  bool look_again();
  enum class Seen { nothing_below, one_below, failed };
  Seen follow_new_vector();
  bool extend();
  bool step(std::size_t j);
  bool draw(std::size_t j);
  double norm() const { return std::max(call_.norm, found_.largest); }
  /// What relative residuals are to come to: less than is asked for, since vectors of a multiple
  /// eigenvalue are turned among each other in the end, which mixes their residuals.
  double target() const { return 0.3 * call_.options.tolerance; }
  double& h(std::size_t i, std::size_t j) { return H_[j * most_ + i]; }
  std::span<const Array<double>> basis(std::size_t n) const { return std::span(V_).first(n); }
  bool is_whole_space(std::size_t n) const { return n >= global_; }
  void sum(std::span<double> sums);
  RitzPairs ritz_pairs();
  void restart(const RitzPairs& ritz, std::size_t keep);
  void rotate(std::span<const double> C, std::size_t n, std::size_t keep);
  void lock_lowest(const RitzPairs& ritz);
  void insert_locked(const RitzPairs& ritz);
  bool count_cycle(double worst);
  void note_converged(const RitzPairs& ritz, std::size_t n);
  void fail(Outcome outcome, std::string diagnosis);

  const EigenCall& call_;
  Found found_;
  std::size_t n_, global_, pairs_, most_;  // local and global rows, pairs wanted, longest basis
  std::vector<Array<double>> V_;           // most_ + 1 of them
  std::vector<double> H_;                  // most_ x most_, by columns
  std::vector<double> first_, second_;     // sums of the two passes of orthogonalisation
  std::size_t kept_ = 0, locked_ = 0, used_ = 0;
  double last_coupling_ = 0;  // of the last vector of the basis with the one behind it
  std::uint64_t draws_ = 0;
};

std::size_t usual_or_given_basis(const Choice<EigenMethod>& method, int pairs) {
  const int wanted = method.options<LanczosOptions>().basis;
  return static_cast<std::size_t>(wanted == 0 ? std::max(2 * pairs + 20, 40) : wanted);
}

std::size_t longest_basis(const EigenCall& call, std::size_t global) {
  return std::min(usual_or_given_basis(call.method, call.options.pairs), global);
}

Lanczos::Lanczos(const EigenCall& call)
    : call_(call),
      n_(static_cast<std::size_t>(call.A.layout().n_local())),
      global_(static_cast<std::size_t>(call.A.layout().n_global())),
      pairs_(static_cast<std::size_t>(call.options.pairs)),
      most_(longest_basis(call, global_)) {
  mpi::collectively(call.A.layout().comm(), [&] {
    if (most_ < std::min(pairs_ + 3, global_)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("option basis: {} vectors are too few for {}; at least {} more are "
                              "needed than these",
                              most_, counted(call_.options.pairs, "pair"), 3));
    }
    V_.resize(most_ + 1, Array<double>(n_));
    H_.assign(most_ * most_, 0.0);
    first_.resize(most_ + 1);
    second_.resize(most_ + 1);
    found_.since.assign(pairs_, -1);
  });
}

void Lanczos::sum(std::span<double> sums) {
  solve::sum_parts(call_.A.layout().comm(), sums);
  ++found_.work.reductions;
}

void Lanczos::fail(Outcome outcome, std::string diagnosis) {
  found_.outcome = outcome;
  found_.diagnosis = std::move(diagnosis);
}

/// Puts a random vector behind the j orthonormal ones, orthogonal to them. False where they span
/// everything, or the numbers are not finite.
bool Lanczos::draw(std::size_t j) {
  constexpr int most_draws = 4;
  const std::span<double> w = V_[j];
  for (int attempt = 0; attempt < most_draws && !is_whole_space(j); ++attempt) {
    const auto seed = static_cast<std::uint64_t>(call_.options.start_seed);
    fill_random(call_.A.layout(), hash64(seed, ++draws_), 1, w);
    double before = 0;
    for (int pass = 0; pass < 3; ++pass) {
      const std::span<double> dots = std::span(first_).first(j + 1);
      solve::dots_with_basis<double>(basis(j), w, dots);
      sum(dots);
      const double length = std::sqrt(dots.back());
      if (!std::isfinite(length)) return false;
      if (pass == 0) before = length;
      if (pass == 2 && length > 1e-6 * before) {
        solve::scale<double>(1 / length, w);
        return true;
      }
      solve::combine<double>(basis(j), dots.first(j), -1.0, 1.0, w);
    }
  }
  return false;
}

/// Step j: the product with V_j, made orthogonal to the basis by classical Gram-Schmidt, twice, of
/// which each pass needs one reduction; the norm follows from the second by Pythagoras' theorem.
bool Lanczos::step(std::size_t j) {
  const std::span<double> w = V_[j + 1];
  call_.A.apply(V_[j], w);
  ++found_.work.products;
  ++found_.work.product_calls;
  const std::span<double> column = std::span(first_).first(j + 2);
  const std::span<double> second = std::span(second_).first(j + 2);
  solve::dots_with_basis<double>(basis(j + 1), w, column);
  sum(column);
  const double length = std::sqrt(column.back());
  if (!std::isfinite(length)) {
    fail(Outcome::not_finite,
         "the product with the matrix is not finite: it has NaN, infinite or huge entries");
    return false;
  }
  solve::project_and_dot<double>(basis(j + 1), column.first(j + 1), w, second);
  sum(second);
  double rest = second.back();
  for (std::size_t i = 0; i <= j; ++i) rest -= second[i] * second[i];
  h(j, j) = column[j] + second[j];
  found_.largest = std::max(found_.largest, std::abs(h(j, j)));
  const double negligible = 10 * lanczos_round_off * std::max(length, found_.largest);
  const bool extends = rest > negligible * negligible;
  last_coupling_ = extends ? std::sqrt(rest) : 0.0;
  used_ = j + 1;
  if (extends) {
    solve::combine<double>(basis(j + 1), second.first(j + 1), -1.0, 1 / last_coupling_, w);
  } else if (!is_whole_space(j + 1) && !draw(j + 1)) {  // the basis spans an invariant space
    fail(Outcome::breakdown, "no vector was found beside those that were found already");
    return false;
  }
  if (j + 1 < most_) h(j + 1, j) = h(j, j + 1) = last_coupling_;
  return true;
}

/// Steps until the basis is full. False where that failed.
bool Lanczos::extend() {
  for (std::size_t j = kept_; j < most_; ++j) {
    if (!step(j)) return false;
  }
  return true;
}

RitzPairs Lanczos::ritz_pairs() {
  const std::size_t n = used_ - locked_;
  std::vector<double> small(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) small[j * n + i] = h(locked_ + i, locked_ + j);
  }
  const kernels::SymmetricEigen eigen = kernels::symmetric_eigen(small);
  RitzPairs ritz;
  ritz.values = eigen.values;
  ritz.couplings.resize(n);
  ritz.vectors.assign(n * used_, 0.0);
  for (std::size_t c = 0; c < n; ++c) {
    std::copy_n(eigen.vectors.data() + c * n, n, ritz.vectors.data() + c * used_ + locked_);
    ritz.couplings[c] = last_coupling_ * eigen.vectors[c * n + n - 1];
    found_.largest = std::max(found_.largest, std::abs(ritz.values[c]));
  }
  return ritz;
}

/// V = V C for the first n vectors, with C of `keep` columns of length n; the others stay.
void Lanczos::rotate(std::span<const double> C, std::size_t n, std::size_t keep) {
  constexpr std::size_t rows_at_once = 256;
  solve::for_ranges(n_, n * keep, [&](std::size_t begin, std::size_t end) {
    std::vector<double> turned(keep * rows_at_once);
    for (std::size_t at = begin; at < end; at += rows_at_once) {
      const std::size_t count = std::min(rows_at_once, end - at);
      std::fill(turned.begin(), turned.end(), 0.0);
      for (std::size_t c = 0; c < keep; ++c) {
        double* const into = turned.data() + c * rows_at_once;
        for (std::size_t a = 0; a < n; ++a) {
          const double factor = C[c * n + a];
          if (factor == 0) continue;
          const double* const v = V_[a].data() + at;
          for (std::size_t i = 0; i < count; ++i) into[i] += factor * v[i];
        }
      }
      for (std::size_t c = 0; c < keep; ++c) {
        std::copy_n(turned.data() + c * rows_at_once, count, V_[c].data() + at);
      }
    }
  });
}

/// Keeps the locked vectors and the lowest Ritz vectors, `keep` of these, and goes on with the
/// vector behind the basis, with which these are coupled.
void Lanczos::restart(const RitzPairs& ritz, std::size_t keep) {
  const std::size_t n = used_;
  std::vector<double> C((locked_ + keep) * n, 0.0);
  for (std::size_t c = 0; c < locked_; ++c) C[c * n + c] = 1;
  std::copy_n(ritz.vectors.begin(), keep * n, C.begin() + std::ptrdiff_t(locked_ * n));
  rotate(C, n, locked_ + keep);
  std::swap(V_[locked_ + keep], V_[n]);
  std::vector<double> values(locked_);
  for (std::size_t c = 0; c < locked_; ++c) values[c] = h(c, c);
  std::fill(H_.begin(), H_.end(), 0.0);
  for (std::size_t c = 0; c < locked_; ++c) h(c, c) = values[c];
  kept_ = locked_ + keep;
  for (std::size_t c = 0; c < keep; ++c) {
    h(locked_ + c, locked_ + c) = ritz.values[c];
    if (kept_ < most_) h(locked_ + c, kept_) = h(kept_, locked_ + c) = ritz.couplings[c];
  }
}

/// So many of the Ritz vectors outlive a restart: the wanted and half of the rest.
std::size_t number_kept(std::size_t wanted, std::size_t all) {
  const std::size_t least = std::min(wanted, all);
  return std::min(least + std::max<std::size_t>((all - least) / 2, 1), all - 1);
}

bool Lanczos::count_cycle(double worst) {
  ++found_.iterations;
  found_.history.push_back(worst);
  if (!solve::ask(call_.A.layout().comm(), call_.observe, found_.iterations, worst)) {
    fail(Outcome::interrupted,
         fmt::format("the observer ended the search at a relative residual of {:.1e}", worst));
    return false;
  }
  return true;
}

/// The cycle since which each of the lowest n pairs has converged.
void Lanczos::note_converged(const RitzPairs& ritz, std::size_t n) {
  for (std::size_t c = 0; c < n; ++c) {
    const bool has = std::abs(ritz.couplings[c]) <= target() * norm();
    if (!has) found_.since[c] = -1;
    if (has && found_.since[c] < 0) found_.since[c] = found_.iterations + 1;
  }
}

/// Cycles until the lowest pairs have converged, and locks them.
bool Lanczos::find_wanted() {
  if (!draw(0)) {
    fail(Outcome::breakdown, "no vector to start from was found");
    return false;
  }
  for (;;) {
    if (!extend()) return false;
    const RitzPairs ritz = ritz_pairs();
    double worst = 0;
    for (std::size_t c = 0; c < pairs_; ++c) worst = std::max(worst, std::abs(ritz.couplings[c]));
    const double relative = norm() == 0 ? 0 : worst / norm();
    note_converged(ritz, pairs_);
    const bool all = relative <= target();
    const bool goes_on = count_cycle(relative);
    if (all || !goes_on || found_.iterations >= call_.options.max_iterations) {
      lock_lowest(ritz);
      if (all && !goes_on) found_.outcome = Outcome::max_iterations;  // it is not needed any more
      return all;
    }
    restart(ritz, number_kept(pairs_, ritz.size()));
  }
}

/// Keeps the wanted vectors alone, without their couplings.
void Lanczos::lock_lowest(const RitzPairs& ritz) {
  if (used_ > pairs_) {
    found_.beyond = ritz.values[pairs_] - std::abs(ritz.couplings[pairs_]);
    if (is_whole_space(used_)) found_.beyond = ritz.values[pairs_];
  }
  restart(ritz, pairs_);
  locked_ = kept_ = pairs_;
  for (std::size_t c = 0; c < pairs_ && c < most_; ++c) {
    if (pairs_ < most_) h(c, pairs_) = h(pairs_, c) = 0;
  }
}

/// Puts the lowest Ritz vector, which is below the last of the locked ones, in its place among
/// them, and leaves that out. Ends the basis: its other vectors are given up.
void Lanczos::insert_locked(const RitzPairs& ritz) {
  restart(ritz, 1);
  std::size_t place = pairs_ - 1;
  // The new one stands behind the locked ones: it changes places with the last, then moves up.
  std::swap(V_[pairs_], V_[place]);
  h(place, place) = ritz.values[0];
  found_.since[place] = found_.iterations;
  for (; place > 0 && h(place, place) < h(place - 1, place - 1); --place) {
    std::swap(V_[place], V_[place - 1]);
    std::swap(h(place, place), h(place - 1, place - 1));
    std::swap(found_.since[place], found_.since[place - 1]);
  }
  kept_ = locked_ = pairs_;
  if (pairs_ < most_) {
    for (std::size_t c = 0; c < pairs_; ++c) h(c, pairs_) = h(pairs_, c) = 0;
  }
}

/// Follows a new random vector, orthogonal to those locked, until its lowest Ritz pair is above all
/// of these, or has converged below the last.
Lanczos::Seen Lanczos::follow_new_vector() {
  if (!draw(locked_)) {
    fail(Outcome::breakdown, "no vector was found beside those that were found already");
    return Seen::failed;
  }
  for (;;) {
    if (!extend()) return Seen::failed;
    const RitzPairs ritz = ritz_pairs();
    const double cut = h(locked_ - 1, locked_ - 1);
    const double lowest = ritz.values[0];
    const double residual = std::abs(ritz.couplings[0]);
    found_.beyond = lowest - residual;
    const double relative = norm() == 0 ? 0 : residual / norm();
    const bool has_converged = relative <= target();
    if (has_converged && lowest + residual < cut - 10 * lanczos_round_off * norm()) {
      ++found_.iterations;
      found_.history.push_back(relative);
      insert_locked(ritz);
      found_.are_ritz_vectors = false;
      return Seen::one_below;
    }
    if (has_converged || lowest - residual > cut) return Seen::nothing_below;
    if (!count_cycle(relative)) return Seen::failed;
    if (found_.iterations >= call_.options.max_iterations) return Seen::failed;
    restart(ritz, number_kept(1, ritz.size()));
  }
}

/// Whether no eigenvalue is missing, as far as new random vectors show: the space of one vector has
/// each eigenvalue once, but for round-off.
bool Lanczos::look_again() {
  if (!call_.method.options<LanczosOptions>().look_again) return true;
  if (is_whole_space(used_) || is_whole_space(pairs_)) return true;
  for (;;) {
    const Seen seen = follow_new_vector();
    if (seen != Seen::one_below) return seen == Seen::nothing_below;
  }
}

Found Lanczos::run() {
  bool done = find_wanted();
  if (done) {
    done = look_again();
    if (!done && found_.diagnosis.empty()) {
      fail(Outcome::max_iterations,
           fmt::format("all pairs converged, but not yet the check after {} that no multiple "
                       "eigenvalue is missing; raise `max_iterations`, or leave the check out by "
                       "`look_again false`",
                       counted(found_.iterations, "cycle")));
    }
  } else if (found_.diagnosis.empty()) {
    fail(Outcome::max_iterations,
         fmt::format(
             "{} of {} converged in {}; raise `max_iterations`, or `basis`, which is {}, or take "
             "`eigensolver lobpcg` where no eigenvalue is negative",
             std::count_if(found_.since.begin(), found_.since.end(),
                           [](int since) { return since >= 0; }),
             counted(call_.options.pairs, "pair"), counted(found_.iterations, "cycle"), most_));
  }
  if (done) fail(Outcome::converged, "");
  if (locked_ == 0) return std::move(found_);  // nothing was found
  found_.width = pairs_;
  mpi::collectively(call_.A.layout().comm(), [&] { found_.X.resize(n_ * pairs_); });
  for (std::size_t c = 0; c < pairs_; ++c) {
    solve::set_column<double>(V_[c], pairs_, c, found_.X);
  }
  return std::move(found_);
}

Found find_by_lanczos(const EigenCall& call) {
  return Lanczos(call).run();
}

}  // namespace

std::span<const Field<LanczosOptions>> lanczos_fields() {
  static const std::vector<Field<LanczosOptions>> fields = {
      field("basis", &LanczosOptions::basis,
            "vectors that are kept before a restart; 0: twice the pairs and 20, but 40 at least", 0,
            100000)
          .common(),
      field("look_again", &LanczosOptions::look_again,
            "when all pairs have converged, follow a new random vector until it shows that no copy "
            "of a multiple eigenvalue is missing"),
  };
  return fields;
}

const EigenMethod& lanczos_method() {
  static const EigenMethod method = {
      {"lanczos", "thick-restart Lanczos, for any symmetric matrix", "Wu, Simon 2000",
       own_options(lanczos_fields)},
      {.title = "thick-restart Lanczos",
       .iteration = "cycle",
       .takes_mass = false,
       .takes_preconditioner = false,
       .vectors =
           [](const Choice<EigenMethod>& chosen, int pairs, bool) {
             return static_cast<double>(usual_or_given_basis(chosen, pairs)) + 1 + 4.0 * pairs;
           },
       .solve = find_by_lanczos}};
  return method;
}

}  // namespace nodewise::eigen
