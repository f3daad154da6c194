#include "nodewise/amg/problem_facts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "nodewise/amg/block_survey.hpp"
#include "nodewise/amg/row_entries.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg {

namespace {

using matrix::DistMatrix;

/// What is added up over the ranks. Counts are exact up to 2^53.
struct Sums {
  double nonzeros = 0, nonpositive = 0, positive = 0, off_diagonal = 0, zero_sum = 0, dominant = 0;
  double stretched = 0, before = 0, behind = 0, relaxed = 0;
  double squares = 0;          // of all entries
  double difference = 0;       // of the entries of (A - A^T) x
  double random_square = 0;    // of those of x
  double unequal_pattern = 0;  // rows
  double unequal_values = 0;   // rows
  BlockSums blocks;
};

/// Whether a row is one of stretched elements (ProblemFacts::stretched_share). In bilinear ones of
/// much smaller width than length the couplings along the short side are -1, those to the corners
/// -1/4, and those along the long side 1/2: whether the corners are strong at 0.25 is up to little.
template <class T>
bool is_stretched(const DistMatrix<T>& A, LocalIndex i, double diagonal) {
  constexpr double large_same = 0.22, low = 0.2, high = 0.5, many = 0.2;
  constexpr double like_the_largest = 0.9, few = 0.05;
  const GlobalIndex row = A.rows().to_global(i);
  double largest = 0, largest_same = 0;
  const auto visit = [&](auto&& of_opposite) {
    for_each_in_row(A, i, [&](GlobalIndex col, double value) {
      if (col == row) return;
      const double size = diagonal < 0 ? value : -value;
      if (size > 0) {
        of_opposite(size);
      } else {
        largest_same = std::max(largest_same, -size);
      }
    });
  };
  visit([&](double size) { largest = std::max(largest, size); });
  if (largest == 0 || largest_same < large_same * largest) return false;
  double all = 0, between = 0, above = 0;
  visit([&](double size) {
    all += size;
    if (size > low * largest && size < high * largest) between += size;
    if (size >= high * largest && size < like_the_largest * largest) above += size;
  });
  return between >= many * all && above <= few * all;
}

template <class T>
void add_row(const DistMatrix<T>& A, LocalIndex i, Sums& sums, GlobalIndex& longest) {
  const GlobalIndex row = A.rows().to_global(i);
  double diagonal = 0, minus = 0, plus = 0;
  GlobalIndex length = 0;
  for_each_in_row(A, i, [&](GlobalIndex col, double value) {
    ++length;
    sums.squares += value * value;
    if (col == row) {
      diagonal = value;
    } else {
      (value < 0 ? minus : plus) += std::abs(value);
      (col < row ? sums.before : sums.behind) += std::abs(value);
    }
  });
  longest = std::max(longest, length);
  const double off = minus + plus;
  sums.nonzeros += static_cast<double>(length);
  sums.nonpositive += diagonal > 0 ? 0 : 1;
  sums.positive += diagonal < 0 ? minus : plus;
  sums.off_diagonal += off;
  const double scale = off + std::abs(diagonal);
  sums.zero_sum += std::abs(diagonal + plus - minus) <= round_off<T>() * scale ? 1 : 0;
  sums.relaxed += std::abs(diagonal + plus - minus) > 0.9 * std::abs(diagonal) ? 1 : 0;
  sums.stretched += is_stretched(A, i, diagonal) ? 1 : 0;
  sums.dominant += std::abs(diagonal) * (1 + round_off<T>()) >= off ? 1 : 0;
}

/// The products with A and its transpose by which they are compared, three numbers a row: with x,
/// of the moduli, and of the pattern.
struct Products {
  static constexpr int width = 3;
  std::vector<double> x, x_ghosts, direct, transposed, ghosts;

  template <class T>
  explicit Products(const DistMatrix<T>& A)
      : x(static_cast<std::size_t>(A.n_local())),
        x_ghosts(static_cast<std::size_t>(A.n_ghosts())),
        direct(width * x.size()),
        transposed(width * x.size()),
        ghosts(width * x_ghosts.size()) {
    const auto first = static_cast<std::uint64_t>(A.rows().begin());
    for (std::size_t i = 0; i < x.size(); ++i) {
      // Away from zero, so that no column is overlooked; both signs, so that the square of a
      // product is on the average that of the row's entries.
      const double size = 0.5 + hash_uniform(first + i, 23);
      x[i] = hash_uniform(first + i, 24) < 0.5 ? -size : size;
    }
  }
};

template <class T>
void accumulate(const kernels::Csr<T>& part, std::span<const double> x,
                std::span<const double> x_of_columns, std::vector<double>& direct,
                std::vector<double>& transposed) {
  for (LocalIndex i = 0; i < part.n_rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (Offset k = part.begin(i); k < part.end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      const auto col = static_cast<std::size_t>(part.cols[p]);
      const auto value = static_cast<double>(part.vals[p]);
      if (value == 0) continue;
      const double there = x_of_columns[col];
      direct[3 * row] += value * there;
      direct[3 * row + 1] += std::abs(value * there);
      direct[3 * row + 2] += std::abs(there);
      transposed[3 * col] += value * x[row];
      transposed[3 * col + 1] += std::abs(value * x[row]);
      transposed[3 * col + 2] += std::abs(x[row]);
    }
  }
}

/// Collective. An exchange forwards and one reversed.
template <class T>
void compare_with_transpose(const DistMatrix<T>& A, Products& products, Sums& sums) {
  A.exchange().forward(std::span<const double>(products.x), std::span<double>(products.x_ghosts));
  accumulate<T>(A.on(), products.x, products.x, products.direct, products.transposed);
  accumulate<T>(A.off(), products.x, products.x_ghosts, products.direct, products.ghosts);
  A.exchange().reverse_add(std::span<const double>(products.ghosts),
                           std::span<double>(products.transposed), Products::width);
  const double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-12;
  for (std::size_t i = 0; i < products.x.size(); ++i) {
    const double* d = &products.direct[3 * i];
    const double* t = &products.transposed[3 * i];
    const double difference = d[0] - t[0];
    sums.difference += difference * difference;
    sums.random_square += products.x[i] * products.x[i];
    // Written so that NaN counts as unequal.
    sums.unequal_values += std::abs(difference) <= tolerance * (d[1] + t[1]) ? 0 : 1;
    sums.unequal_pattern += std::abs(d[2] - t[2]) <= 1e-12 * (d[2] + t[2]) ? 0 : 1;
  }
}

ProblemFacts facts_from(const Sums& sums, GlobalIndex rows, GlobalIndex longest) {
  ProblemFacts facts;
  facts.rows = rows;
  facts.longest_row = longest;
  facts.nonzeros = static_cast<GlobalIndex>(sums.nonzeros);
  facts.symmetric_pattern = sums.unequal_pattern == 0;
  facts.symmetric = sums.unequal_values == 0;
  facts.nonpositive_diagonals = static_cast<GlobalIndex>(sums.nonpositive);
  const auto n = static_cast<double>(std::max<GlobalIndex>(rows, 1));
  const double random_mean = sums.random_square > 0 ? sums.random_square / n : 1;
  if (!facts.symmetric) {
    facts.asymmetry = std::sqrt(sums.difference / random_mean / sums.squares) / 2;
  }
  if (sums.off_diagonal > 0) {
    facts.positive_share = sums.positive / sums.off_diagonal;
    facts.triangular_share = std::max(sums.before, sums.behind) / sums.off_diagonal;
  }
  facts.stretched_share = sums.stretched / n;
  facts.relaxed_share = sums.relaxed / n;
  facts.zero_sum_share = sums.zero_sum / n;
  facts.dominant_share = sums.dominant / n;
  facts.mean_row = sums.nonzeros / n;
  facts.unknowns = whole_block_unknowns(sums.blocks);
  return facts;
}

}  // namespace

bool ProblemFacts::has_signs_of_m_matrix() const {
  return nonpositive_diagonals == 0 && positive_share <= 1e-12;
}

template <class T>
ProblemFacts problem_facts(const DistMatrix<T>& A) {
  if (!(A.rows() == A.cols())) {
    throw Error(ErrorCode::dimension_mismatch,
                "problem facts: the matrix is not square: " + std::to_string(A.rows().n_global()) +
                    " x " + std::to_string(A.cols().n_global()));
  }
  Sums sums;
  GlobalIndex longest = 0;
  Products products = mpi::collectively(A.comm(), [&] {
    for (LocalIndex i = 0; i < A.n_local(); ++i) add_row(A, i, sums, longest);
    sums.blocks = survey_blocks(A);
    return Products(A);
  });
  compare_with_transpose(A, products, sums);
  auto numbers = std::bit_cast<std::array<double, sizeof(Sums) / sizeof(double)>>(sums);
  mpi::sum_in_place(A.comm(), std::span<double>(numbers));
  return facts_from(std::bit_cast<Sums>(numbers), A.rows().n_global(), mpi::max(A.comm(), longest));
}

template ProblemFacts problem_facts(const DistMatrix<double>&);
template ProblemFacts problem_facts(const DistMatrix<float>&);

}  // namespace nodewise::amg
