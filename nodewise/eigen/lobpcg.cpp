// The locally optimal block preconditioned conjugate gradient method (Knyazev 2001), with the basis
// and the orthonormal directions of Duersch, Shao, Yang and Gu 2018.
#include "nodewise/eigen/lobpcg.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/eigen/block_basis.hpp"
#include "nodewise/eigen/options.hpp"
#include "nodewise/eigen/small.hpp"
#include "nodewise/kernels/dense.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/block_ops.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::eigen {

namespace {

using solve::Outcome;

/// Iterations after which A X and the like are computed anew from X.
constexpr int lobpcg_refresh_interval = 20;
/// A verification that does not bring the residual to this part of what the last found is in vain.
constexpr double lobpcg_gain = 0.5;
constexpr int lobpcg_vain_verifications = 3;

/// X: the Ritz vectors; P: the directions that they came along; W: the preconditioned residuals.
/// All together are orthonormal in the scalar product of B, up to round-off. Columns that have
/// converged stay in X and get no direction of their own (soft locking: Knyazev, Argentati, Lashuk,
/// Ovtchinnikov 2007). The small problem is solved on every rank, see small.hpp.
class Lobpcg {
 public:
  explicit Lobpcg(const EigenCall& call);
  Found run();

 private:
  bool start();
  bool iterate();
  bool look();
  void find_residuals();
  bool all_converged() const;
  bool verify();
  bool refresh();
  bool make_directions();
  bool project();
  void choose_next(std::span<const double> vectors, std::size_t n);
  std::vector<double> matrix_with_W();
  std::vector<double> matrix_of_X_and_P();
  bool is_orthonormal(Orthonormal how);
  double relative(std::size_t c) const;
  double norm() const { return std::max(call_.norm, found_.largest); }
  double worst_wanted() const;
  void note_converged();
  void fail(Outcome outcome, std::string diagnosis);
  void explain_limit();

  const EigenCall& call_;
  Found found_;
  std::size_t pairs_, block_;
  BlockBasis basis_;
  Block X_, P_, W_, next_X_, next_P_;
  std::vector<double> theta_;        // of X
  std::vector<double> H_, HPP_;      // the last small matrix; P^T A P, while X^T A P vanishes
  std::vector<double> squares_;      // of the residuals, then of the vectors
  std::vector<std::size_t> active_;  // columns of X that have not converged
  double verified_ = std::numeric_limits<double>::infinity();
  int in_vain_ = 0;
  int since_refresh_ = 0;
};

/// Makes p orthonormal to the columns; false where nothing is left of it.
bool orthogonalise_small(std::span<const std::vector<double>> columns, std::vector<double>& p) {
  constexpr double nothing = 1e-14;
  for (int pass = 0; pass < 3; ++pass) {
    for (const std::vector<double>& q : columns) {
      const double dot = std::inner_product(p.begin(), p.end(), q.begin(), 0.0);
      for (std::size_t i = 0; i < p.size(); ++i) p[i] -= dot * q[i];
    }
    const double length = std::sqrt(std::inner_product(p.begin(), p.end(), p.begin(), 0.0));
    if (!(length > (pass == 0 ? nothing : 0.1))) return false;
    for (double& value : p) value /= length;
  }
  return true;
}

/// Columns of length n as a matrix, row-major.
std::vector<double> side_by_side(std::span<const std::vector<double>> columns, std::size_t n) {
  std::vector<double> C(n * columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t i = 0; i < n; ++i) C[i * columns.size() + c] = columns[c][i];
  }
  return C;
}

/// The pairs and some more.
int usual_or_given_block(const Choice<EigenMethod>& method, int pairs) {
  const int wanted = method.options<LobpcgOptions>().block_size;
  const int most = std::max(pairs, static_cast<int>(solve::max_block_width));
  return wanted == 0 ? std::min(pairs + std::clamp(pairs / 2, 2, 8), most) : wanted;
}

/// The block: no more than there are rows.
std::size_t block_of(const EigenCall& call) {
  const int block = usual_or_given_block(call.method, call.options.pairs);
  const GlobalIndex rows = call.A.layout().n_global();
  return static_cast<std::size_t>(std::min<GlobalIndex>(block, rows));
}

/// Local. The same on every rank.
void check_block(const EigenCall& call, std::size_t block) {
  const auto pairs = static_cast<std::size_t>(call.options.pairs);
  if (pairs > solve::max_block_width) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("option pairs: {} are too many for lobpcg, which knows blocks of up to "
                            "{}; take `eigensolver lanczos`",
                            pairs, solve::max_block_width));
  }
  if (block >= pairs) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("option block_size: {} is less than the {} that are wanted", block,
                          counted(call.options.pairs, "pair")));
}

Lobpcg::Lobpcg(const EigenCall& call)
    : call_(call),
      pairs_(static_cast<std::size_t>(call.options.pairs)),
      block_((check_block(call, block_of(call)), block_of(call))),
      basis_(call, found_.work, block_) {
  mpi::collectively(call.A.layout().comm(), [&] {
    for (Block* block : {&X_, &P_, &W_, &next_X_, &next_P_}) {
      block->reserve(basis_.rows(), block_, call.B != nullptr);
    }
    squares_.resize(2 * block_);
    found_.since.assign(pairs_, -1);
  });
}

void Lobpcg::fail(Outcome outcome, std::string diagnosis) {
  found_.outcome = outcome;
  found_.diagnosis = std::move(diagnosis);
}

/// Says what was wrong where a block could not be made orthonormal.
bool Lobpcg::is_orthonormal(Orthonormal how) {
  if (how == Orthonormal::not_finite) {
    fail(Outcome::not_finite,
         "the numbers are not finite any more: the matrix or the preconditioner has NaN, infinite "
         "or huge entries");
  } else if (how == Orthonormal::indefinite_mass) {
    fail(Outcome::indefinite_matrix,
         "the mass matrix B is not positive definite: x.Bx was negative for a vector x");
  }
  return how == Orthonormal::done;
}

/// Random vectors, made Ritz vectors.
bool Lobpcg::start() {
  X_.resize(block_);
  fill_random(call_.A.layout(), static_cast<std::uint64_t>(call_.options.start_seed), block_,
              X_.X());
  basis_.multiply_mass(X_);
  if (!is_orthonormal(basis_.orthonormalise(X_, {}))) return false;
  if (X_.width() < pairs_) {
    fail(Outcome::breakdown, "the mass matrix is singular: fewer vectors than pairs have a length");
    return false;
  }
  basis_.multiply(X_);
  P_.resize(0);
  W_.resize(0);
  theta_.assign(X_.width(), 0.0);
  return project();
}

/// Of the columns of X, in one reduction, with R = A X - B X diag(theta) in the place of W.
void Lobpcg::find_residuals() {
  const std::size_t w = X_.width();
  W_.resize(w);
  const std::span<const double> ax = X_.AX(), bx = X_.BX();
  const std::span<double> r = W_.X();
  for (std::size_t i = 0; i < r.size(); i += w) {
    for (std::size_t c = 0; c < w; ++c) r[i + c] = ax[i + c] - theta_[c] * bx[i + c];
  }
  const std::span<double> sums = std::span(squares_).first(2 * w);
  squares_local(W_.x(), sums.first(w));
  squares_local(X_.x(), sums.last(w));
  basis_.sum(sums);
}

double Lobpcg::relative(std::size_t c) const {
  const double size =
      (norm() + std::abs(theta_[c]) * call_.mass_norm) * std::sqrt(squares_[theta_.size() + c]);
  const double residual = std::sqrt(squares_[c]);
  return size > 0 ? residual / size : residual;
}

double Lobpcg::worst_wanted() const {
  double worst = 0;
  for (std::size_t c = 0; c < pairs_; ++c) {
    const double here = relative(c);
    worst = here > worst || std::isnan(here) ? here : worst;
  }
  return worst;
}

void Lobpcg::note_converged() {
  active_.clear();
  for (std::size_t c = 0; c < X_.width(); ++c) {
    const bool has = relative(c) <= call_.options.tolerance;
    if (!has) active_.push_back(c);
    if (c >= pairs_) continue;
    if (!has) found_.since[c] = -1;
    if (has && found_.since[c] < 0) found_.since[c] = found_.iterations;
  }
}

bool Lobpcg::all_converged() const {
  return worst_wanted() <= call_.options.tolerance;
}

/// Computes A X, B X and the like anew, with X and P orthonormal. False where that failed.
bool Lobpcg::refresh() {
  since_refresh_ = 0;
  basis_.multiply_mass(X_);
  if (!is_orthonormal(basis_.orthonormalise(X_, {}))) return false;
  basis_.multiply(X_);
  Block* const against[] = {&X_};
  basis_.multiply_mass(P_);
  if (!is_orthonormal(basis_.orthonormalise(P_, against))) return false;
  if (P_.width() > 0) basis_.multiply(P_);
  W_.resize(0);
  HPP_.clear();
  return project();
}

/// Whether X has converged in truth. Ends the search where that was asked for in vain too often.
bool Lobpcg::verify() {
  if (!refresh()) return false;
  find_residuals();
  note_converged();
  if (all_converged()) return true;
  const double now = worst_wanted();
  in_vain_ = now < lobpcg_gain * verified_ ? 0 : in_vain_ + 1;
  verified_ = now;
  if (in_vain_ >= lobpcg_vain_verifications) {
    fail(Outcome::stagnated,
         fmt::format("the largest relative residual stays at {:.1e}: the tolerance of {:.1e} is "
                     "below what can be reached; raise `tolerance`",
                     now, call_.options.tolerance));
  }
  return false;
}

/// W = M R for the columns that have not converged, orthogonal to X and P, and A W.
bool Lobpcg::make_directions() {
  const std::size_t w = X_.width();
  const std::size_t n = active_.size();
  const std::size_t rows = basis_.rows();
  const std::span<double> r = W_.X();
  for (std::size_t i = 0; i < rows; ++i) {  // in place: columns move to the left
    for (std::size_t c = 0; c < n; ++c) r[i * n + c] = r[i * w + active_[c]];
  }
  W_.resize(n);
  if (call_.M != nullptr) {
    std::copy(W_.X().begin(), W_.X().end(), W_.AX().begin());
    call_.M->apply_block(W_.AX(), W_.X(), static_cast<int>(n), basis_.work());
    found_.work.preconditioners += static_cast<int>(n);
  }
  basis_.multiply_mass(W_);
  Block* const against[] = {&X_, &P_};
  if (!is_orthonormal(basis_.orthonormalise(W_, against))) return false;
  if (W_.width() > 0) basis_.multiply(W_);
  return true;
}

/// The matrix of the small problem of X, P and W, of which the products with A W are unknown. One
/// reduction.
std::vector<double> Lobpcg::matrix_with_W() {
  const std::size_t nx = X_.width(), np = P_.width(), nw = W_.width();
  const std::size_t n = nx + np + nw;
  std::vector<double> of_W(n * nw);
  gram_local(X_.x(), W_.ax(), std::span(of_W).first(nx * nw));
  gram_local(P_.x(), W_.ax(), std::span(of_W).subspan(nx * nw, np * nw));
  gram_local(W_.x(), W_.ax(), std::span(of_W).last(nw * nw));
  basis_.sum(of_W);
  std::vector<double> H(n * n, 0.0);
  for (std::size_t c = 0; c < nx; ++c) H[c * n + c] = theta_[c];
  for (std::size_t a = 0; a < np; ++a) {
    for (std::size_t b = 0; b < np; ++b) H[(nx + a) * n + nx + b] = HPP_[a * np + b];
  }
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < nw; ++b) {
      const std::size_t at = nx + np + b;
      double value = of_W[a * nw + b];
      if (a >= nx + np) value = 0.5 * (value + of_W[at * nw + (a - nx - np)]);
      H[a * n + at] = H[at * n + a] = value;
    }
  }
  return H;
}

/// The same of X and P, all of whose products are unknown.
std::vector<double> Lobpcg::matrix_of_X_and_P() {
  const std::size_t nx = X_.width(), np = P_.width();
  const std::size_t n = nx + np;
  std::vector<double> sums(nx * nx + nx * np + np * np);
  const std::span<double> xx = std::span(sums).first(nx * nx);
  const std::span<double> xp = std::span(sums).subspan(nx * nx, nx * np);
  const std::span<double> pp = std::span(sums).last(np * np);
  gram_local(X_.x(), X_.ax(), xx);
  gram_local(X_.x(), P_.ax(), xp);
  gram_local(P_.x(), P_.ax(), pp);
  basis_.sum(sums);
  const auto mean = [](std::span<const double> G, std::size_t w, std::size_t a, std::size_t b) {
    return 0.5 * (G[a * w + b] + G[b * w + a]);
  };
  std::vector<double> H(n * n);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a; b < n; ++b) {
      const double value = b < nx   ? mean(xx, nx, a, b)
                           : a < nx ? xp[a * np + (b - nx)]
                                    : mean(pp, np, a - nx, b - nx);
      H[a * n + b] = H[b * n + a] = value;
    }
  }
  return H;
}

/// Rayleigh and Ritz in the space of X, P and W: the next X and P.
bool Lobpcg::project() {
  H_ = W_.width() > 0 ? matrix_with_W() : matrix_of_X_and_P();
  if (!std::all_of(H_.begin(), H_.end(), [](double v) { return std::isfinite(v); })) {
    return is_orthonormal(Orthonormal::not_finite);
  }
  const kernels::SymmetricEigen eigen = kernels::symmetric_eigen(H_);
  theta_.assign(eigen.values.begin(), eigen.values.begin() + std::ptrdiff_t(X_.width()));
  if (call_.B == nullptr) {  // else they are no eigenvalues of A
    for (const double value : theta_) found_.largest = std::max(found_.largest, std::abs(value));
  }
  choose_next(eigen.vectors, eigen.values.size());
  return true;
}

/// X goes to the lowest Ritz vectors. P becomes what of these is not along the old X, made
/// orthogonal to the new one within the space: in coordinates, without products. Where there is no
/// W it keeps its space.
void Lobpcg::choose_next(std::span<const double> vectors, std::size_t n) {
  const std::size_t nx = X_.width();
  std::vector<std::vector<double>> columns;  // orthonormal: of X, then of P
  for (std::size_t c = 0; c < nx; ++c) {
    columns.emplace_back(vectors.begin() + std::ptrdiff_t(c * n),
                         vectors.begin() + std::ptrdiff_t((c + 1) * n));
  }
  if (W_.width() == 0) {
    for (std::size_t c = nx; c < n; ++c) {
      columns.emplace_back(vectors.begin() + std::ptrdiff_t(c * n),
                           vectors.begin() + std::ptrdiff_t((c + 1) * n));
    }
  } else {
    for (const std::size_t c : active_) {
      std::vector<double> p = columns[c];
      std::fill_n(p.begin(), nx, 0.0);
      if (orthogonalise_small(columns, p)) columns.push_back(std::move(p));
    }
  }
  const std::size_t np = columns.size() - nx;
  const std::span<const std::vector<double>> all_columns = columns;
  const std::vector<double> CX = side_by_side(all_columns.first(nx), n);
  const std::vector<double> CP = side_by_side(all_columns.last(np), n);
  Block* const all[] = {&X_, &P_, &W_};
  basis_.combine(all, CX, nx, next_X_);
  basis_.combine(all, CP, np, next_P_);
  std::swap(X_, next_X_);
  std::swap(P_, next_P_);
  HPP_ = small_gram(H_, CP, n, np);
}

/// Notes the residuals of an iteration; false where they, or the observer, end the search.
bool Lobpcg::look() {
  find_residuals();
  note_converged();
  const double worst = worst_wanted();
  if (!std::isfinite(worst)) return is_orthonormal(Orthonormal::not_finite);
  if (found_.iterations > 0) {
    found_.history.push_back(worst);
    const bool goes_on =
        solve::ask(call_.A.layout().comm(), call_.observe, found_.iterations, worst);
    if (!goes_on && !all_converged()) {
      fail(Outcome::interrupted,
           fmt::format("the observer ended the search at a relative residual of {:.1e}", worst));
      return false;
    }
  }
  if (call_.M == nullptr || theta_[0] >= -(1e-12 + call_.options.tolerance) * norm()) return true;
  fail(Outcome::indefinite_matrix,
       fmt::format("the matrix has an eigenvalue below {:.3e}, and the preconditioner is for "
                   "matrices without negative ones; take `preconditioner none`, or `eigensolver "
                   "lanczos`",
                   theta_[0]));
  return false;
}

/// One iteration; false where the search is over.
bool Lobpcg::iterate() {
  if (!look()) return false;
  if (all_converged()) {
    if (verify()) {
      fail(Outcome::converged, "");
      return false;
    }
    if (!found_.diagnosis.empty()) return false;
  } else if (since_refresh_ >= lobpcg_refresh_interval) {
    if (!refresh()) return false;
    find_residuals();
    note_converged();
  }
  if (found_.iterations >= call_.options.max_iterations) {
    explain_limit();
    return false;
  }
  ++found_.iterations;
  ++since_refresh_;
  if (!make_directions()) return false;
  if (W_.width() > 0) return project();
  fail(Outcome::stagnated,
       fmt::format("no new direction is left at a relative residual of {:.1e}; raise `tolerance`",
                   worst_wanted()));
  return false;
}

void Lobpcg::explain_limit() {
  const auto converged =
      std::count_if(found_.since.begin(), found_.since.end(), [](int since) { return since >= 0; });
  fail(Outcome::max_iterations,
       fmt::format(
           "{} of {} converged in {}; raise `max_iterations` or `block_size`, which is {}{}",
           converged, counted(call_.options.pairs, "pair"), counted(found_.iterations, "iteration"),
           block_, call_.M == nullptr ? ", or take `preconditioner amg`" : ""));
}

Found Lobpcg::run() {
  if (!start()) return std::move(found_);
  while (iterate()) {
  }
  if (found_.outcome == Outcome::not_finite) return std::move(found_);
  found_.width = X_.width();
  mpi::collectively(call_.A.layout().comm(),
                    [&] { found_.X.assign(X_.X().begin(), X_.X().end()); });
  return std::move(found_);
}

Found find_by_lobpcg(const EigenCall& call) {
  return Lobpcg(call).run();
}

}  // namespace

std::span<const Field<LobpcgOptions>> lobpcg_fields() {
  static const std::vector<Field<LobpcgOptions>> fields = {
      field("block_size", &LobpcgOptions::block_size,
            "vectors that are improved together, the pairs and more that help these to converge; "
            "0: half as many again, 2 to 8 more",
            0, static_cast<int>(solve::max_block_width))
          .common(),
  };
  return fields;
}

const EigenMethod& lobpcg_method() {
  static const EigenMethod method = {
      {"lobpcg",
       "a block of vectors with a preconditioner, for matrices without negative eigenvalues; takes "
       "a mass matrix",
       "Knyazev 2001; Duersch, Shao, Yang, Gu 2018", own_options(lobpcg_fields)},
      {.title = "LOBPCG",
       .iteration = "iteration",
       .takes_mass = true,
       .takes_preconditioner = true,
       .vectors =
           [](const Choice<EigenMethod>& chosen, int pairs, bool with_mass) {
             return (with_mass ? 17.0 : 12.0) * usual_or_given_block(chosen, pairs) + 2;
           },
       .solve = find_by_lobpcg}};
  return method;
}

}  // namespace nodewise::eigen
