#include "nodewise/solver/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "nodewise/base/row_text.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::solver {

namespace {

using matrix::DistMatrix;

/// Collective. Throws unsuitable_matrix where a value is no positive finite number on some rank.
void require_positive(const DistMatrix<double>& A, std::span<const double> values,
                      const char* method, const char* what) {
  GlobalIndex first_bad = A.rows().last();
  for (std::size_t i = values.size(); i-- > 0;) {
    const bool good = std::isfinite(values[i]) && values[i] > 0;
    if (!good) first_bad = A.rows().to_global(static_cast<LocalIndex>(i));
  }
  first_bad = mpi::min(A.comm(), first_bad);
  if (first_bad == A.rows().last()) return;
  throw Error(ErrorCode::unsuitable_matrix,
              std::string("`scale ") + method + "`: " + row_text(first_bad) + ", " + what);
}

/// Of the moduli of the diagonal the roots' reciprocals, for rows and columns alike.
ScaleFactors by_diagonal(const DistMatrix<double>& A, bool /*symmetric*/) {
  std::vector<double> s;
  mpi::collectively(A.comm(), [&] {
    const Array<double> diagonal = matrix::diagonal(A);
    s.assign(diagonal.begin(), diagonal.end());
    for (double& value : s) value = std::abs(value);
  });
  require_positive(A, s, "diagonal", "has no nonzero diagonal entry");
  for (double& value : s) value = 1 / std::sqrt(value);
  return {s, s};
}

/// Collective. The matrix of the moduli.
DistMatrix<double> moduli(const DistMatrix<double>& A) {
  Array<double> on, off;
  mpi::collectively(A.comm(), [&] {
    on = A.on().vals;
    off = A.off().vals;
    for (double& value : on) value = std::abs(value);
    for (double& value : off) value = std::abs(value);
  });
  return A.with_values(std::move(on), std::move(off));
}

/// The nearest powers of two, by which values are scaled without rounding.
void round_to_powers(std::vector<double>& factors) {
  constexpr double most = 500;
  for (double& f : factors) {
    f = std::ldexp(1.0, static_cast<int>(std::lround(std::clamp(std::log2(f), -most, most))));
  }
}

/// Rows and columns whose moduli add up to about one: Ruiz 2001, with sums in place of the largest
/// entries, so that one large entry does not hide what is left of its row.
ScaleFactors by_sums(const DistMatrix<double>& A, bool symmetric) {
  constexpr int passes = 10;  // a pass halves what is missing, in exponents
  const DistMatrix<double> sizes = moduli(A);
  ScaleFactors factors;
  std::vector<double> sums;
  mpi::collectively(A.comm(), [&] {
    factors.rows.assign(static_cast<std::size_t>(A.n_local()), 1);
    factors.columns = factors.rows;
    sums.resize(factors.rows.size());
  });
  const auto divide = [&](std::vector<double>& f, const char* what) {
    for (std::size_t i = 0; i < f.size(); ++i) {
      sums[i] = sums[i] == 0 ? 1 : sums[i] * f[i];  // what has no entries stays as it is
    }
    require_positive(A, sums, "equilibrate", what);
    for (std::size_t i = 0; i < f.size(); ++i) f[i] /= std::sqrt(sums[i]);
  };
  std::vector<double> before;
  for (int pass = 0; pass < passes; ++pass) {
    before = factors.rows;
    matrix::multiply<double>(sizes, factors.columns, sums);
    divide(factors.rows, "has no finite sum of moduli");
    if (symmetric) {
      factors.columns = factors.rows;
      continue;
    }
    matrix::multiply_transposed<double>(sizes, before, sums);
    divide(factors.columns, "whose column has no finite sum of moduli");
  }
  round_to_powers(factors.rows);
  round_to_powers(factors.columns);
  return factors;
}

const ScalingMethod& no_scaling() {
  static const ScalingMethod method = {{"none", "as it is", ""}, nullptr};
  return method;
}

const ScalingMethod& diagonal_scaling() {
  static const ScalingMethod method = {
      {"diagonal", "rows and columns by the root of the diagonal's moduli, which become 1", ""},
      by_diagonal};
  return method;
}

const ScalingMethod& equilibration() {
  static const ScalingMethod method = {
      {"equilibrate", "rows and columns by powers of two, so that the moduli of each add up to 1",
       "Ruiz 2001"},
      by_sums};
  return method;
}

}  // namespace

Family<ScalingMethod>& ScalingMethod::family() {
  static Family<ScalingMethod> methods("scale",
                                       {&no_scaling(), &diagonal_scaling(), &equilibration()});
  return methods;
}

}  // namespace nodewise::solver
