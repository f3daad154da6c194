#include "nodewise/model/relative_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <Eigen/Dense>

#include "nodewise/base/error.hpp"
#include "nodewise/base/types.hpp"

namespace nodewise::model {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double exact = 1e-10;  // relative errors below this are round-off
constexpr Index least_freedom = 4;
constexpr double bisquare = 4.685;  // 95 % efficient for normal errors

[[noreturn]] void refuse_relative_fit(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "fit of times: " + why);
}

void require_finite(std::span<const double> values, const char* what) {
  for (const double value : values) {
    if (!std::isfinite(value)) refuse_relative_fit(std::string(what) + " is not finite");
  }
}

/// The model as matrices; columns are scaled to a largest entry of 1.
struct System {
  MatrixXd columns;
  VectorXd known;
  VectorXd seconds;
  VectorXd scale;

  Index n() const { return columns.rows(); }
  Index p() const { return columns.cols(); }
};

void check_times(const TimeModel& model) {
  if (model.columns.empty()) refuse_relative_fit("nothing to be found");
  require_finite(model.seconds, "a time");
  require_finite(model.known, "a known part");
  for (const double t : model.seconds) {
    if (t <= 0) refuse_relative_fit("the time " + std::to_string(t) + " s is not positive");
  }
  if (!model.known.empty() && model.known.size() != model.seconds.size()) {
    refuse_relative_fit("as many known parts as times are needed");
  }
}

System make_system(const TimeModel& model) {
  check_times(model);
  const auto n = static_cast<Index>(model.seconds.size());
  const auto p = static_cast<Index>(model.columns.size());
  System s{MatrixXd(n, p), VectorXd::Zero(n), VectorXd(n), VectorXd(p)};
  s.seconds = VectorXd::Map(model.seconds.data(), n);
  if (!model.known.empty()) s.known = VectorXd::Map(model.known.data(), n);
  for (Index j = 0; j < p; ++j) {
    const std::vector<double>& column = model.columns[static_cast<std::size_t>(j)];
    if (column.size() != model.seconds.size())
      refuse_relative_fit("columns and times differ in length");
    require_finite(column, "an entry");
    s.columns.col(j) = VectorXd::Map(column.data(), n);
    s.scale[j] = n > 0 ? s.columns.col(j).cwiseAbs().maxCoeff() : 0;
    if (s.scale[j] > 0) s.columns.col(j) /= s.scale[j];
  }
  // What is asked of the times is how they change, in relative terms.
  Eigen::ColPivHouseholderQR<MatrixXd> qr(n, p);
  qr.setThreshold(1e-12);
  if (n >= p) qr.compute(s.seconds.cwiseInverse().asDiagonal() * s.columns);
  if (n < p || qr.rank() < p) {
    refuse_relative_fit(std::to_string(p) + " parameters cannot be told apart by " +
                        std::to_string(n) + (n == 1 ? " time" : " times"));
  }
  return s;
}

/// Coefficients, and which of them the constraint leaves free.
struct Solution {
  VectorXd c;
  std::vector<Index> free;
};

VectorXd fitted(const System& s, const VectorXd& c) {
  return s.known + s.columns * c;
}

MatrixXd chosen_columns(const System& s, const std::vector<Index>& chosen) {
  MatrixXd part(s.n(), static_cast<Index>(chosen.size()));
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    part.col(static_cast<Index>(k)) = s.columns.col(chosen[k]);
  }
  return part;
}

/// Least squares with row factors `f`, with all but the chosen coefficients zero.
VectorXd solve_with(const System& s, const VectorXd& f, const std::vector<Index>& chosen) {
  VectorXd c = VectorXd::Zero(s.p());
  if (chosen.empty()) return c;
  const MatrixXd A = f.asDiagonal() * chosen_columns(s, chosen);
  const VectorXd part = A.colPivHouseholderQr().solve(f.cwiseProduct(s.seconds - s.known));
  for (std::size_t k = 0; k < chosen.size(); ++k) c[chosen[k]] = part[static_cast<Index>(k)];
  return c;
}

/// The same with c >= 0. The least of a convex function over that cone is the unconstrained least
/// over one of its faces: with so few coefficients, all faces are tried.
Solution solve_nonnegative(const System& s, const VectorXd& f) {
  Solution best;
  double least = std::numeric_limits<double>::infinity();
  for (unsigned mask = 1U << static_cast<unsigned>(s.p()); mask-- > 0;) {
    std::vector<Index> chosen;
    for (Index j = 0; j < s.p(); ++j) {
      if (((mask >> static_cast<unsigned>(j)) & 1U) != 0) chosen.push_back(j);
    }
    const VectorXd c = solve_with(s, f, chosen);
    if ((c.array() < 0).any()) continue;
    const double cost = f.cwiseProduct(fitted(s, c) - s.seconds).squaredNorm();
    if (cost < least) {
      least = cost;
      best = {c, chosen};
    }
    if (std::cmp_equal(chosen.size(), s.p())) break;  // nothing is better than without a constraint
  }
  return best;
}

/// Fitted times that a relative error may be counted by: never zero.
VectorXd reference(const System& s, const VectorXd& c) {
  return fitted(s, c).cwiseMax(1e-3 * s.seconds);
}

VectorXd relative_residuals(const System& s, const VectorXd& c) {
  return (fitted(s, c) - s.seconds).cwiseQuotient(reference(s, c));
}

/// The scale of errors as long as outliers have a vote: the larger of both times, so that none
/// counts more than 1, whichever way it is off.
VectorXd larger(const System& s, const VectorXd& c) {
  return fitted(s, c).cwiseMax(s.seconds);
}

/// Iteratively reweighted: |r| = r^2 / |r|.
Solution least_absolute(const System& s) {
  Solution solution = solve_nonnegative(s, s.seconds.cwiseInverse());
  for (int k = 0; k < 60; ++k) {
    const VectorXd t = larger(s, solution.c);
    const VectorXd r = (fitted(s, solution.c) - s.seconds).cwiseQuotient(t);
    const VectorXd f = r.cwiseAbs().cwiseMax(exact).cwiseSqrt().cwiseProduct(t).cwiseInverse();
    Solution next = solve_nonnegative(s, f);
    const double change = (next.c - solution.c).norm();
    solution = std::move(next);
    if (change <= exact * solution.c.norm()) break;
  }
  return solution;
}

/// Tukey's weight of a residual in units of its deviation.
double vote(double residual, double deviation) {
  if (deviation < exact) return std::abs(residual) < 100 * exact ? 1 : 0;
  const double u = residual / (bisquare * deviation);
  return std::abs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0;
}

VectorXd votes(const VectorXd& residuals, double deviation) {
  return residuals.unaryExpr([deviation](double r) { return vote(r, deviation); });
}

/// The result of a robust fit, with the row factors it found it by.
struct RobustFit {
  Solution solution;
  double deviation = 0;
  VectorXd factors;
};

RobustFit fit_robustly(const System& s) {
  RobustFit fit;
  fit.solution = least_absolute(s);
  const Index freedom = s.n() - static_cast<Index>(fit.solution.free.size());
  const VectorXd start = relative_residuals(s, fit.solution.c);
  fit.deviation = robust_deviation({start.data(), static_cast<std::size_t>(start.size())},
                                   narrow<int>(fit.solution.free.size()));
  // So few times cannot outvote one: all count.
  if (freedom < least_freedom) fit.deviation = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 60; ++k) {
    const VectorXd w = votes(relative_residuals(s, fit.solution.c), fit.deviation);
    fit.factors = w.cwiseSqrt().cwiseQuotient(reference(s, fit.solution.c));
    Solution next = solve_nonnegative(s, fit.factors);
    const double change = (next.c - fit.solution.c).norm();
    fit.solution = std::move(next);
    if (change <= 1e-12 * fit.solution.c.norm()) break;
  }
  return fit;
}

/// The variance of M-estimates over the inverse of X^T X (Huber and Ronchetti, eq. 7.81 ff.).
double unit_variance(const VectorXd& residuals, double deviation, Index p) {
  const auto n = static_cast<double>(residuals.size());
  if (deviation < exact) return 0;
  double squares = 0;
  double slope = 0;
  double slope_squares = 0;
  for (const double r : residuals) {
    const double psi = r * vote(r, deviation);
    const double u = r / (bisquare * deviation);
    const double d = std::abs(u) < 1 ? (1 - u * u) * (1 - 5 * u * u) : 0;
    squares += psi * psi;
    slope += d / n;
    slope_squares += d * d / n;
  }
  if (slope <= 0) return std::numeric_limits<double>::infinity();
  const auto parameters = static_cast<double>(p);
  const double spread = std::max(slope_squares - slope * slope, 0.0);
  const double correction = 1 + parameters / n * spread / (slope * slope);
  return correction * correction * squares / (n - parameters) / (slope * slope);
}

/// Half of each interval's length, for the chosen coefficients.
VectorXd half_lengths(const System& s, const VectorXd& c, double deviation,
                      const std::vector<Index>& chosen) {
  const auto p = static_cast<Index>(chosen.size());
  const Index freedom = s.n() - p;
  if (freedom < 1) return VectorXd::Constant(p, std::numeric_limits<double>::infinity());
  const MatrixXd X = reference(s, c).cwiseInverse().asDiagonal() * chosen_columns(s, chosen);
  const MatrixXd gram = X.transpose() * X;
  const VectorXd inverse = gram.ldlt().solve(MatrixXd::Identity(p, p)).diagonal();
  const double variance = unit_variance(relative_residuals(s, c), deviation, p);
  const double factor = student_factor(narrow<int>(freedom));
  return factor * (variance * inverse.cwiseMax(0.0)).cwiseSqrt();
}

std::vector<Estimate> intervals(const System& s, const RobustFit& fit) {
  const std::vector<Index>& free = fit.solution.free;
  const VectorXd& c = fit.solution.c;
  std::vector<Estimate> estimates(static_cast<std::size_t>(s.p()));
  const VectorXd half = half_lengths(s, c, fit.deviation, free);
  for (std::size_t k = 0; k < free.size(); ++k) {
    const double h = half[static_cast<Index>(k)];
    const double value = c[free[k]];
    estimates[static_cast<std::size_t>(free[k])] = {value, std::max(value - h, 0.0), value + h};
  }
  if (std::cmp_equal(free.size(), s.p())) return estimates;
  // Returns how far from zero a coefficient may be that wanted to be below.
  std::vector<Index> all(static_cast<std::size_t>(s.p()));
  for (std::size_t j = 0; j < all.size(); ++j) all[j] = static_cast<Index>(j);
  const VectorXd wanted = solve_with(s, fit.factors, all);
  const VectorXd half_all = half_lengths(s, c, fit.deviation, all);
  for (const Index j : all) {
    if (std::find(free.begin(), free.end(), j) != free.end()) continue;
    estimates[static_cast<std::size_t>(j)] = {0, 0, std::max(wanted[j] + half_all[j], 0.0)};
  }
  return estimates;
}

}  // namespace

LinearFit fit_relative(const TimeModel& model) {
  const System s = make_system(model);
  const RobustFit fit = fit_robustly(s);
  LinearFit result;
  result.coefficients = intervals(s, fit);
  for (Index j = 0; j < s.p(); ++j) {
    Estimate& e = result.coefficients[static_cast<std::size_t>(j)];
    e = {e.value / s.scale[j], e.low / s.scale[j], e.high / s.scale[j]};
  }
  const VectorXd r = relative_residuals(s, fit.solution.c);
  const VectorXd w = votes(r, fit.deviation);
  result.weights.assign(w.begin(), w.end());
  if (w.sum() > 0) result.relative_error = std::sqrt(w.dot(r.cwiseAbs2()) / w.sum());
  return result;
}

AbsoluteFit fit_least_absolute(const TimeModel& model) {
  const System s = make_system(model);
  const VectorXd c = least_absolute(s).c;
  const VectorXd r = (fitted(s, c) - s.seconds).cwiseQuotient(larger(s, c));
  const VectorXd unscaled = c.cwiseQuotient(s.scale);
  return {{unscaled.begin(), unscaled.end()}, {r.begin(), r.end()}};
}

double robust_deviation(std::span<const double> residuals, int fitted) {
  std::vector<double> sizes;
  for (const double r : residuals) sizes.push_back(std::abs(r));
  std::sort(sizes.begin(), sizes.end());
  const std::size_t zeros = std::min(sizes.size(), static_cast<std::size_t>(std::max(fitted, 0)));
  const std::size_t others = sizes.size() - zeros;
  if (others == 0) return 0;
  return sizes[zeros + (others - 1) / 2] / 0.6745;  // the median of |x|, x standard normal
}

double student_factor(int degrees_of_freedom) {
  constexpr std::array<double, 10> table = {12.706, 4.303, 3.182, 2.776, 2.571,
                                            2.447,  2.365, 2.306, 2.262, 2.228};
  if (degrees_of_freedom < 1)
    refuse_relative_fit("Student's distribution needs a degree of freedom");
  const auto index = static_cast<std::size_t>(degrees_of_freedom) - 1;
  if (index < table.size()) return table[index];
  // Expansion around the normal distribution's 1.96 (Abramowitz and Stegun, 26.7.5).
  const double z = 1.959964;
  const double v = degrees_of_freedom;
  const double z2 = z * z;
  return z * (1 + (z2 + 1) / (4 * v) + ((5 * z2 + 16) * z2 + 3) / (96 * v * v));
}

}  // namespace nodewise::model
