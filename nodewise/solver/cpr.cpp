#include "nodewise/solver/cpr.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "nodewise/advise/block_survey.hpp"
#include "nodewise/amg/relax/block_inverse.hpp"
#include "nodewise/amg/relax/smoother_method.hpp"
#include "nodewise/comm/points.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/row_entries.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solver/field_inverse.hpp"
#include "nodewise/solver/finite_check.hpp"

namespace nodewise::solver {

namespace {

using Matrix = matrix::DistMatrix<double>;
using MatrixPointer = std::shared_ptr<const Matrix>;

constexpr int most_unknowns = 6;

/// Collective. By dense_block_rows(); 1: there are no points.
int unknowns_of_pattern(const Matrix& A) {
  advise::BlockSums sums{};
  const auto error = mpi::caught([&] { sums = advise::survey_blocks(A); });
  auto numbers = std::bit_cast<std::array<double, sizeof(sums) / sizeof(double)>>(sums);
  mpi::agree_on_sums(A.comm(), error, numbers);
  sums = std::bit_cast<advise::BlockSums>(numbers);
  return advise::dense_block_rows(sums);
}

/// Collective. Those of the options, or found.
int unknowns_of_points(const Matrix& A, const CprOptions& cpr, const amg::Options& options) {
  const int unknowns = options.unknowns > 1 ? options.unknowns : unknowns_of_pattern(A);
  if (unknowns < 2) {
    throw Error(ErrorCode::invalid_argument,
                "`preconditioner cpr`: the matrix does not show how many unknowns its points have; "
                "say so with `unknowns`");
  }
  if (unknowns > most_unknowns) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("`preconditioner cpr`: `unknowns {}`, at most {} are known to it",
                            unknowns, most_unknowns));
  }
  comm::require_whole_points(A.rows(), unknowns);
  if (cpr.cpr_unknown >= unknowns) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("`cpr_unknown {}`: points have {} unknowns, counted from 0",
                            cpr.cpr_unknown, unknowns));
  }
  return unknowns;
}

MatrixPointer with_points(const MatrixPointer& A, int unknowns) {
  if (A->blocks() != nullptr && A->blocks()->block() == unknowns) return A;
  return std::make_shared<const Matrix>(A->with_blocks(unknowns));
}

/// Local. The weights of each row in the pressure equation of its point.
Array<double> pressure_weights(const Matrix& A, int unknowns, int pressure) {
  constexpr double tiny = 1e-12;
  const auto k = static_cast<std::size_t>(unknowns), p = static_cast<std::size_t>(pressure);
  const Array<double> inverses = amg::relax::inverse_diagonal_blocks<double>(A, 1, {});
  Array<double> weights(static_cast<std::size_t>(A.n_local()));
  for (std::size_t first = 0; first < weights.size(); first += k) {
    const auto row = std::span(inverses).subspan((first + p) * k, k);
    const double largest = std::abs(*std::max_element(
        row.begin(), row.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
    // Without a weight of its own the row of the pressure stays as it is.
    const bool has_own = std::abs(row[p]) > tiny * largest;
    for (std::size_t r = 0; r < k; ++r) {
      weights[first + r] = has_own ? row[r] / row[p] : r == p ? 1 : 0;
    }
  }
  return weights;
}

/// Collective. The combinations of rows with these weights, of the columns of pressures.
MatrixPointer pressure_matrix(const Matrix& A, int unknowns, int pressure,
                              std::span<const double> weights) {
  const comm::Layout points = comm::points_of(A.rows(), unknowns);
  const GlobalIndex first = A.rows().first();
  return std::make_shared<const Matrix>(
      matrix::matrix_from_rows<double>(points, points, [&](GlobalIndex point, auto&& emit) {
        const LocalIndex begin = points.to_local(point) * unknowns;
        for (LocalIndex i = begin; i < begin + unknowns; ++i) {
          const double weight = weights[static_cast<std::size_t>(i)];
          matrix::for_each_in_row(A, i, [&](GlobalIndex col, double value) {
            if ((col - first) % unknowns == pressure) {
              emit((col - first) / unknowns, weight * value);
            }
          });
        }
      }));
}

class PressureReduction final : public solve::Operator<double> {
 public:
  PressureReduction(const MatrixPointer& A, const CprOptions& cpr, const amg::Options& options);

  const comm::Layout& layout() const override { return A_->rows(); }
  void apply(std::span<const double> x, std::span<double> y) const override;
  std::string broken_symmetry() const override { return "preconditioner cpr"; }
  bool is_fixed() const override { return options_.cycle->is_fixed; }

  const CprOptions& cpr() const { return cpr_; }
  const amg::Options& options() const { return options_; }

 private:
  CprOptions cpr_;
  amg::Options options_;
  int unknowns_;
  MatrixPointer A_;  // in points
  Array<double> weights_;
  FieldInverse pressure_;
  std::unique_ptr<const amg::relax::Relaxation<double>> sweeps_;
  mutable std::vector<double> b_, x_;  // of pressures
};

PressureReduction::PressureReduction(const MatrixPointer& A, const CprOptions& cpr,
                                     const amg::Options& options)
    : cpr_(cpr), options_(options), unknowns_(unknowns_of_points(*A, cpr, options)) {
  require_finite(*A, "cpr");
  A_ = with_points(A, unknowns_);
  mpi::collectively(A->comm(), [&] {
    weights_ = pressure_weights(*A_, unknowns_, cpr.cpr_unknown);
    sweeps_ =
        amg::relax::make_relaxation(*A_, Choice<amg::relax::SmootherMethod>("block_gauss_seidel"));
    b_.resize(weights_.size() / static_cast<std::size_t>(unknowns_));
    x_.resize(b_.size());
  });
  pressure_ =
      invert_field(pressure_matrix(*A_, unknowns_, cpr.cpr_unknown, weights_),
                   FieldSolve::automatic, options_, 1, "`preconditioner cpr`, the pressures");
}

void PressureReduction::apply(std::span<const double> x, std::span<double> y) const {
  const auto k = static_cast<std::size_t>(unknowns_);
  for (std::size_t point = 0; point < b_.size(); ++point) {
    b_[point] = 0;
    for (std::size_t i = point * k; i < (point + 1) * k; ++i) b_[point] += weights_[i] * x[i];
  }
  pressure_.apply(b_, x_);
  std::fill(y.begin(), y.end(), 0.0);
  const auto pressure = static_cast<std::size_t>(cpr_.cpr_unknown);
  for (std::size_t point = 0; point < x_.size(); ++point) y[point * k + pressure] = x_[point];
  sweeps_->symmetric_sweep(x, y);
}

}  // namespace

std::span<const Field<CprOptions>> cpr_options() {
  static const std::vector<Field<CprOptions>> fields = {
      field("cpr_unknown", &CprOptions::cpr_unknown,
            "Which unknown of each point is its pressure, counted from 0", 0, most_unknowns - 1)};
  return fields;
}

std::unique_ptr<solve::Operator<double>> reduce_to_pressure(const MatrixPointer& A,
                                                            const CprOptions& cpr,
                                                            const amg::Options& options) {
  return std::make_unique<PressureReduction>(A, cpr, options);
}

const PreconditionerMethod& cpr_preconditioner() {
  static const PreconditionerMethod method = {
      {"cpr", "a cycle for the pressures, then block Gauss-Seidel, for reservoirs",
       "Wallis 1983; Lacroix, Vassilevski, Wheeler 2001", own_options(cpr_options)},
      false,
      [](PreconditionerCall&& call) -> Preconditioner {
        return {reduce_to_pressure(call.A, call.method.options<CprOptions>(), call.options),
                nullptr};
      },
      [](Preconditioner& made, const MatrixPointer& next, amg::Reuse) {
        const auto& before = dynamic_cast<const PressureReduction&>(*made.map);
        made.map = reduce_to_pressure(next, before.cpr(), before.options());
      },
      {.has_cycles = true,
       .asymmetry = [](const Choice<PreconditionerMethod>&, const amg::Options&) -> std::string {
         return "preconditioner cpr";
       }}};
  return method;
}

}  // namespace nodewise::solver
