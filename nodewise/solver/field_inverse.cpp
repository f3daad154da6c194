#include "nodewise/solver/field_inverse.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "nodewise/advise/block_survey.hpp"
#include "nodewise/amg/cycle/coarse_solver.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/comm/points.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solver/factors.hpp"

namespace nodewise::solver {

namespace {

using Matrix = matrix::DistMatrix<double>;
using MatrixPointer = std::shared_ptr<const Matrix>;

/// The generalised inverse of a small matrix.
class DenseInverse final : public solve::Operator<double> {
 public:
  explicit DenseInverse(const Matrix& A) : layout_(A.rows()), solver_(A) {}
  const comm::Layout& layout() const override { return layout_; }
  void apply(std::span<const double> b, std::span<double> x) const override { solver_.solve(b, x); }

 private:
  comm::Layout layout_;
  amg::CoarseSolver<double> solver_;
};

/// Collective. 1, or -1 where more entries of the diagonal are negative than positive.
double sign_of_diagonal(const Matrix& A) {
  std::int64_t balance = 0;
  const auto error = mpi::caught([&] {
    for (const double d : matrix::diagonal(A)) balance += d > 0 ? 1 : d < 0 ? -1 : 0;
  });
  mpi::agree_on_sums(A.comm(), error, std::span<std::int64_t>(&balance, 1));
  return balance < 0 ? -1 : 1;
}

/// Collective. The interleaved unknowns that the matrix shows, 1 where it shows none.
int unknowns_seen(const Matrix& A) {
  advise::BlockSums sums{};
  const auto error = mpi::caught([&] { sums = advise::survey_blocks(A); });
  auto numbers = std::bit_cast<std::array<double, sizeof(sums) / sizeof(double)>>(sums);
  mpi::agree_on_sums(A.comm(), error, numbers);
  return advise::whole_block_unknowns(std::bit_cast<advise::BlockSums>(numbers));
}

/// Collective. Whether iterations with the map alone reduce a residual, of a right-hand side that
/// has a solution.
bool is_good(const Matrix& A, const solve::Operator<double>& map) {
  constexpr int iterations = 5;
  constexpr double most_left = 0.5;
  const comm::Layout& rows = A.rows();
  const auto n = static_cast<std::size_t>(A.n_local());
  std::vector<double> x(n), b(n), r(n), z(n);
  for (std::size_t i = 0; i < n; ++i) {
    const GlobalIndex row = rows.to_global(static_cast<LocalIndex>(i));
    x[i] = 2 * hash_uniform(static_cast<std::uint64_t>(row), 1) - 1;
  }
  matrix::multiply(A, std::span<const double>(x), std::span<double>(b));
  std::fill(x.begin(), x.end(), 0.0);
  r = b;
  for (int k = 0; k < iterations; ++k) {
    map.apply(r, z);
    for (std::size_t i = 0; i < n; ++i) x[i] += z[i];
    matrix::residual(A, std::span<const double>(x), std::span<const double>(b),
                     std::span<double>(r));
  }
  double squares[2] = {};
  for (std::size_t i = 0; i < n; ++i) squares[0] += r[i] * r[i], squares[1] += b[i] * b[i];
  mpi::sum_in_place(A.comm(), std::span<double>(squares));
  return squares[0] <= most_left * most_left * squares[1];
}

using Map = std::unique_ptr<solve::Operator<double>>;

/// Collective. Factors; null where the matrix is singular.
Map factors_of(const Matrix& A) {
  try {
    return factorize(A);
  } catch (const Error& error) {  // the same on every rank
    if (error.code() != ErrorCode::unsuitable_matrix) throw;
  }
  return nullptr;
}

/// Collective. A cycle; null where multigrid refuses the matrix and there is MUMPS.
Map cycle_of(const MatrixPointer& A, amg::Options options, int unknowns) {
  if (unknowns == 0) unknowns = unknowns_seen(*A);
  options.unknowns = comm::has_whole_points(A->rows(), unknowns) ? unknowns : 1;
  try {
    return std::make_unique<amg::Hierarchy<double>>(A, options);
  } catch (const Error& error) {  // the same on every rank
    if (error.code() != ErrorCode::unsuitable_matrix || !has_mumps()) throw;
  }
  return nullptr;
}

/// Collective.
Map map_of(const MatrixPointer& A, FieldSolve solve, const amg::Options& options, int unknowns) {
  Map map;
  if (solve == FieldSolve::direct) map = factors_of(*A);
  if (map) return map;
  Map cycle = cycle_of(A, options, unknowns);
  if (!cycle) return factorize(*A);
  const bool replaceable = solve == FieldSolve::automatic && has_mumps();
  if (replaceable && !is_good(*A, *cycle)) map = factors_of(*A);
  return map ? std::move(map) : std::move(cycle);
}

}  // namespace

void FieldInverse::apply(std::span<const double> b, std::span<double> x) const {
  map->apply(b, x);
  if (sign < 0) {
    for (double& value : x) value = -value;
  }
}

FieldInverse invert_field(const MatrixPointer& A, FieldSolve solve, const amg::Options& options,
                          int unknowns, const std::string& what) {
  FieldInverse inverse;
  inverse.sign = sign_of_diagonal(*A);
  const MatrixPointer positive =
      inverse.sign > 0 ? A : std::make_shared<const Matrix>(A->with_type<double>(-1));
  try {
    if (A->rows().n_global() <= most_dense_rows) {
      inverse.map = std::make_unique<DenseInverse>(*positive);
    } else {
      inverse.map = map_of(positive, solve, options, unknowns);
    }
  } catch (const Error& error) {  // the same on every rank
    throw Error(error.code(), what + ": " + error.what());
  }
  return inverse;
}

}  // namespace nodewise::solver
