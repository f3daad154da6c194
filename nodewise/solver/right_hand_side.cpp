#include "nodewise/solver/right_hand_side.hpp"

#include <cmath>

#include "nodewise/advise/diagnosis.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/block_ops.hpp"

namespace nodewise::solver {

using Matrix = matrix::DistMatrix<double>;

namespace {

/// A x at x = 1 counts as zero where it is below this times |A| 1, in norms.
constexpr double zero_row_sum = 1e-12;

/// Collective. Whether A 1 = 0.
bool maps_constants_to_zero(const Matrix& A) {
  return advise::null_vector_facts<double>(A, {}, {}, 0).front().smallness <= zero_row_sum;
}

std::vector<double> random_vector(const comm::Layout& layout, std::uint64_t seed) {
  std::vector<double> x(static_cast<std::size_t>(layout.n_local()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = hash_normal(
        static_cast<std::uint64_t>(layout.to_global(static_cast<LocalIndex>(i)) - layout.first()),
        seed);
  }
  return x;
}

}  // namespace

RightHandSides with_known_solution(const Matrix& A) {
  RightHandSides rhs;
  rhs.kind = RhsKind::ones;
  rhs.values.resize(static_cast<std::size_t>(A.rows().n_local()));
  rhs.known_solution.assign(static_cast<std::size_t>(A.n_local()), 1.0);
  matrix::multiply<double>(A, rhs.known_solution, rhs.values);
  if (!maps_constants_to_zero(A)) return rhs;
  rhs.kind = RhsKind::consistent;
  rhs.modulo_constants = true;
  rhs.known_solution = random_vector(A.cols(), 0);
  matrix::multiply<double>(A, rhs.known_solution, rhs.values);
  return rhs;
}

RightHandSides random_right_hand_sides(const Matrix& A, int seed, int count) {
  const comm::Layout& layout = A.rows();
  RightHandSides rhs;
  rhs.kind = RhsKind::random;
  rhs.count = count;
  const auto k = static_cast<std::size_t>(count);
  mpi::collectively(layout.comm(), [&] {
    rhs.values.resize(static_cast<std::size_t>(layout.n_local()) * k);
    for (std::size_t c = 0; c < k; ++c) {
      const auto of_column = static_cast<std::uint64_t>(seed) + c;
      solve::set_column<double>(random_vector(layout, of_column), k, c, rhs.values);
    }
  });
  return rhs;
}

void remove_constants(const comm::Layout& rows, RightHandSides& rhs) {
  const auto k = static_cast<std::size_t>(rhs.count);
  std::vector<double> means(k, 0.0);
  for (std::size_t i = 0; i < rhs.values.size(); ++i) means[i % k] += rhs.values[i];
  mpi::sum_in_place(rows.comm(), std::span<double>(means));
  for (double& mean : means) mean /= static_cast<double>(rows.n_global());
  for (std::size_t i = 0; i < rhs.values.size(); ++i) rhs.values[i] -= means[i % k];
}

std::optional<SolutionError> solution_error(const comm::Layout& layout, const RightHandSides& rhs,
                                            std::span<const double> x) {
  const std::span<const double> exact = rhs.known_solution;
  if (rhs.kind != RhsKind::ones && rhs.kind != RhsKind::consistent) return std::nullopt;
  double means[2] = {0, 0};
  if (rhs.modulo_constants) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      means[0] += x[i] - exact[i];
      means[1] += exact[i];
    }
    mpi::sum_in_place<double>(layout.comm(), means);
    for (double& mean : means) mean /= static_cast<double>(layout.n_global());
  }
  double squares[2] = {0, 0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double wrong = x[i] - exact[i] - means[0];
    const double right = exact[i] - means[1];
    squares[0] += wrong * wrong;
    squares[1] += right * right;
  }
  mpi::sum_in_place<double>(layout.comm(), squares);
  return SolutionError{std::sqrt(squares[0] / squares[1]), rhs.modulo_constants};
}

}  // namespace nodewise::solver
