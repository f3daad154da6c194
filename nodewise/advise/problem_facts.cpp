#include "nodewise/advise/problem_facts.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "nodewise/advise/block_survey.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/row_entries.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/sums_in_pieces.hpp"

namespace nodewise::advise {

namespace {

using matrix::DistMatrix;

/// Sums over the rows of all ranks. Counts are exact up to 2^53.
struct RowSums {
  double nonzeros = 0, nonpositive = 0, positive = 0, off_diagonal = 0, zero_sum = 0, dominant = 0;
  double stretched = 0, before = 0, behind = 0, relaxed = 0, even = 0, no_diagonal = 0, empty = 0;
};
constexpr std::size_t n_row_sums = sizeof(RowSums) / sizeof(double);
using RowNumbers = std::array<double, n_row_sums>;

/// Sums over the ranks.
struct Sums {
  RowSums rows;
  double squares = 0;        // of all entries
  double difference = 0;     // of the entries of (A - A^T) x
  double random_square = 0;  // of those of x
  double failed = 0;         // ranks
  BlockSums blocks;
};

/// A row's entries in the order of their columns, whichever rank owns these.
template <class T>
struct Row {
  std::array<std::span<const T>, 2> before, behind;  // the diagonal
  double diagonal = 0;

  /// visit(value) for each entry off the diagonal, stored zeros included.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto* side : {&before, &behind}) {
      for (const std::span<const T> part : *side) {
        for (const T value : part) visit(static_cast<double>(value));
      }
    }
  }
};

/// Takes rows apart; those of a grid have the place of the diagonal in common, which it remembers.
template <class T>
class Rows {
 public:
  explicit Rows(const DistMatrix<T>& A)
      : on_(A.on()),
        off_(A.off()),
        ghosts_before_(static_cast<LocalIndex>(
            std::lower_bound(A.ghosts().begin(), A.ghosts().end(), A.rows().begin()) -
            A.ghosts().begin())) {}

  Row<T> operator()(LocalIndex i) {
    place_ = kernels::diagonal_place(on_, i, place_);
    const Offset at = on_.begin(i) + place_;
    const bool stored = at < on_.end(i) && on_.cols[static_cast<std::size_t>(at)] == i;
    Row<T> row;
    row.diagonal = stored ? static_cast<double>(on_.vals[static_cast<std::size_t>(at)]) : 0;
    row.before[1] = values(on_, on_.begin(i), at);
    row.behind[0] = values(on_, stored ? at + 1 : at, on_.end(i));
    if (off_.begin(i) == off_.end(i)) return row;
    const auto columns = off_.cols.begin();
    const Offset middle =
        std::lower_bound(columns + off_.begin(i), columns + off_.end(i), ghosts_before_) - columns;
    row.before[0] = values(off_, off_.begin(i), middle);
    row.behind[1] = values(off_, middle, off_.end(i));
    return row;
  }

 private:
  static std::span<const T> values(const kernels::Csr<T>& part, Offset begin, Offset end) {
    return std::span<const T>(part.vals).subspan(static_cast<std::size_t>(begin),
                                                 static_cast<std::size_t>(end - begin));
  }

  const kernels::Csr<T>& on_;
  const kernels::Csr<T>& off_;
  LocalIndex ghosts_before_;  // of lower global index than the rank's own rows
  LocalIndex place_ = 0;
};

/// The entries off the diagonal of a row.
struct OffDiagonal {
  double sum = 0, moduli = 0;      // exactly opposite or equal where all have one sign
  double greatest = 0, least = 0;  // of them and 0
  double smallest = std::numeric_limits<double>::infinity();  // modulus of one that is not 0
  GlobalIndex length = 0;

  template <class T>
  void add(const std::array<std::span<const T>, 2>& side) {
    for (const std::span<const T> part : side) {
      for (const T entry : part) {
        const auto value = static_cast<double>(entry);
        length += value != 0 ? 1 : 0;
        sum += value;
        moduli += std::abs(value);
        greatest = std::max(greatest, value);
        least = std::min(least, value);
        if (value != 0) smallest = std::min(smallest, std::abs(value));
      }
    }
  }
  /// The sum of the moduli of those that have the diagonal's sign, and of the others.
  double of_same_sign(double diagonal) const { return (moduli + (diagonal < 0 ? -sum : sum)) / 2; }
  double of_opposite_sign(double diagonal) const { return of_same_sign(diagonal < 0 ? 1 : -1); }
  bool are_even() const { return length > 0 && 2 * smallest >= std::max(greatest, -least); }
};

/// Whether a row is one of stretched elements (ProblemFacts::stretched_share). In bilinear ones of
/// much smaller width than length the couplings along the short side are -1, those to the corners
/// -1/4, and those along the long side 1/2: whether the corners are strong at 0.25 is up to little.
template <class T>
bool is_stretched(const Row<T>& row, const OffDiagonal& off) {
  constexpr double large_same = 0.22, low = 0.2, high = 0.5, many = 0.2;
  constexpr double like_the_largest = 0.9, few = 0.05;
  const bool negative = row.diagonal < 0;
  const double largest = negative ? off.greatest : -off.least;
  const double largest_same = negative ? -off.least : off.greatest;
  if (largest == 0 || largest_same < large_same * largest) return false;
  const double all = off.of_opposite_sign(row.diagonal);
  double between = 0, above = 0;
  row.for_each([&](double value) {
    const double size = negative ? value : -value;
    if (size > low * largest && size < high * largest) between += size;
    if (size >= high * largest && size < like_the_largest * largest) above += size;
  });
  return between >= many * all && above <= few * all;
}

/// Returns the number of the row's entries.
template <class T>
GlobalIndex add_row(const Row<T>& row, RowSums& sums) {
  OffDiagonal off;
  off.add(row.before);
  const double before = off.moduli;
  off.add(row.behind);
  const double size = std::abs(row.diagonal);
  const double sum = std::abs(row.diagonal + off.sum);
  const GlobalIndex length = off.length + (row.diagonal != 0 ? 1 : 0);
  sums.nonzeros += static_cast<double>(length);
  sums.nonpositive += row.diagonal > 0 ? 0 : 1;
  sums.no_diagonal += row.diagonal == 0 ? 1 : 0;
  sums.positive += off.of_same_sign(row.diagonal);
  sums.off_diagonal += off.moduli;
  sums.before += before;
  sums.behind += off.moduli - before;
  sums.zero_sum += sum <= matrix::round_off<T>() * (off.moduli + size) ? 1 : 0;
  sums.relaxed += sum > 0.9 * size ? 1 : 0;
  sums.stretched += is_stretched(row, off) ? 1 : 0;
  sums.even += off.are_even() ? 1 : 0;
  sums.dominant += size * (1 + matrix::round_off<T>()) >= off.moduli ? 1 : 0;
  return length;
}

/// Local. The sums over this rank's rows, the same on any number of threads, and the longest row.
template <class T>
std::pair<RowSums, GlobalIndex> add_rows(const DistMatrix<T>& A) {
  const auto n = static_cast<std::size_t>(A.n_local());
  const std::size_t width =
      1 + static_cast<std::size_t>(A.nnz_local()) / std::max<std::size_t>(n, 1);
  RowNumbers numbers;
  std::atomic<GlobalIndex> longest = 0;
  solve::sum_in_pieces(
      n, width, numbers, [&](std::size_t begin, std::size_t end, std::span<double> into) {
        Rows<T> rows(A);
        RowSums sums;
        GlobalIndex longest_here = 0;
        for (std::size_t i = begin; i < end; ++i) {
          sums.empty += A.row_length(static_cast<LocalIndex>(i)) == 0 ? 1 : 0;
          longest_here = std::max(longest_here, add_row(rows(static_cast<LocalIndex>(i)), sums));
        }
        const auto mine = std::bit_cast<RowNumbers>(sums);
        std::copy(mine.begin(), mine.end(), into.begin());
        GlobalIndex others = longest;
        while (others < longest_here && !longest.compare_exchange_weak(others, longest_here)) {
        }
      });
  return {std::bit_cast<RowSums>(numbers), longest};
}

template <class T>
double sum_of_squares(std::span<const T> values) {
  double total = 0;
  solve::sum_in_pieces(values.size(), 1, std::span(&total, 1),
                       [&](std::size_t begin, std::size_t end, std::span<double> into) {
                         double sum = 0;
                         for (std::size_t k = begin; k < end; ++k) {
                           sum += static_cast<double>(values[k]) * static_cast<double>(values[k]);
                         }
                         into[0] = sum;
                       });
  return total;
}

/// A random vector and what the matrix and its transpose make of it.
template <class T>
struct Products {
  std::vector<T> x, direct, transposed;

  explicit Products(const DistMatrix<T>& A)
      : x(static_cast<std::size_t>(A.n_local())), direct(x.size()), transposed(x.size()) {
    const auto first = static_cast<std::uint64_t>(A.rows().begin());
    for (std::size_t i = 0; i < x.size(); ++i) {
      // Both signs, so that the square of a product is on the average that of the row's entries.
      const double size = 0.5 + hash_uniform(first + i, 23);
      x[i] = static_cast<T>(hash_uniform(first + i, 24) < 0.5 ? -size : size);
    }
  }
};

/// Collective. An exchange forwards, one reversed and an agreement. Leaves what it adds up to be
/// added up over the ranks.
template <class T>
void compare_with_transpose(const DistMatrix<T>& A, Sums& sums) {
  Products<T> products = mpi::collectively(A.comm(), [&] { return Products<T>(A); });
  matrix::multiply<T>(A, products.x, products.direct);
  matrix::multiply_transposed<T>(A, products.x, products.transposed);
  for (std::size_t i = 0; i < products.x.size(); ++i) {
    products.direct[i] -= products.transposed[i];
  }
  sums.difference = sum_of_squares<T>(products.direct);
  sums.random_square = sum_of_squares<T>(products.x);
  sums.squares = sum_of_squares<T>(A.on().vals) + sum_of_squares<T>(A.off().vals);
}

ProblemFacts facts_from(const Sums& sums, GlobalIndex n_rows, GlobalIndex longest, bool symmetric) {
  const RowSums& rows = sums.rows;
  ProblemFacts facts;
  facts.rows = n_rows;
  facts.longest_row = longest;
  facts.nonzeros = static_cast<GlobalIndex>(rows.nonzeros);
  facts.symmetric = symmetric;
  facts.nonpositive_diagonals = static_cast<GlobalIndex>(rows.nonpositive);
  facts.empty_rows = static_cast<GlobalIndex>(rows.empty);
  facts.zero_diagonals = static_cast<GlobalIndex>(rows.no_diagonal);
  const auto n = static_cast<double>(std::max<GlobalIndex>(n_rows, 1));
  if (!symmetric) {
    const double random_mean = sums.random_square > 0 ? sums.random_square / n : 1;
    facts.asymmetry = std::sqrt(sums.difference / random_mean / sums.squares) / 2;
  }
  if (rows.off_diagonal > 0) {
    facts.positive_share = rows.positive / rows.off_diagonal;
    facts.triangular_share = std::max(rows.before, rows.behind) / rows.off_diagonal;
  }
  facts.stretched_share = rows.stretched / n;
  facts.even_share = rows.even / n;
  facts.relaxed_share = rows.relaxed / n;
  facts.zero_sum_share = rows.zero_sum / n;
  facts.dominant_share = rows.dominant / n;
  facts.mean_row = rows.nonzeros / n;
  facts.unknowns = whole_block_unknowns(sums.blocks);
  facts.dense_blocks = dense_block_rows(sums.blocks);
  return facts;
}

}  // namespace

bool ProblemFacts::has_signs_of_m_matrix() const {
  return nonpositive_diagonals == 0 && positive_share <= 1e-12;
}

template <class T>
ProblemFacts problem_facts(const DistMatrix<T>& A, std::optional<bool> known_symmetric) {
  if (!(A.rows() == A.cols())) {
    throw Error(ErrorCode::dimension_mismatch,
                "problem facts: the matrix is not square: " + std::to_string(A.rows().n_global()) +
                    " x " + std::to_string(A.cols().n_global()));
  }
  const bool symmetric = known_symmetric ? *known_symmetric : matrix::is_symmetric(A);
  Sums sums;
  if (!symmetric) compare_with_transpose(A, sums);
  GlobalIndex longest = 0;
  const std::optional<Error> error = mpi::caught([&] {
    std::tie(sums.rows, longest) = add_rows(A);
    sums.blocks = survey_blocks(A);
  });
  sums.failed = error ? 1 : 0;
  auto numbers = std::bit_cast<std::array<double, sizeof(Sums) / sizeof(double)>>(sums);
  mpi::sum_in_place(A.comm(), std::span<double>(numbers));
  sums = std::bit_cast<Sums>(numbers);
  if (sums.failed > 0) mpi::agree(A.comm(), error);
  return facts_from(sums, A.rows().n_global(), mpi::max(A.comm(), longest), symmetric);
}

template ProblemFacts problem_facts(const DistMatrix<double>&, std::optional<bool>);
template ProblemFacts problem_facts(const DistMatrix<float>&, std::optional<bool>);

}  // namespace nodewise::advise
