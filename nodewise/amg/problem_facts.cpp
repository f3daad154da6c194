#include "nodewise/amg/problem_facts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg {

namespace {

using matrix::DistMatrix;

constexpr std::array<int, 4> candidates = {2, 3, 4, 6};
/// Points that a rank looks at for each of them.
constexpr GlobalIndex most_points = 4096;
constexpr double least_fill = 0.6;
constexpr double least_translations = 0.5;

template <class T>
double round_off() {
  return std::is_same_v<T, float> ? 1e-5 : 1e-10;
}

/// Local. visit(global column, value) for every entry of row i that is not zero.
template <class T, class Visit>
void for_each_in_row(const DistMatrix<T>& A, LocalIndex i, Visit&& visit) {
  for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    if (A.on().vals[p] != T{}) {
      visit(A.cols().to_global(A.on().cols[p]), static_cast<double>(A.on().vals[p]));
    }
  }
  for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    if (A.off().vals[p] != T{}) {
      visit(A.ghosts()[static_cast<std::size_t>(A.off().cols[p])],
            static_cast<double>(A.off().vals[p]));
    }
  }
}

/// What is added up over the ranks. Counts are exact up to 2^53.
struct Sums {
  double nonzeros = 0, nonpositive = 0, positive = 0, off_diagonal = 0, zero_sum = 0, dominant = 0;
  double squares = 0;          // of all entries
  double difference = 0;       // of the entries of (A - A^T) x
  double random_square = 0;    // of those of x
  double unequal_pattern = 0;  // rows
  double unequal_values = 0;   // rows
  struct Blocks {
    double entries = 0, places = 0, rows = 0, translations = 0, split = 0;
  };
  std::array<Blocks, candidates.size()> blocks;
};

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
  sums.dominant += std::abs(diagonal) * (1 + round_off<T>()) >= off ? 1 : 0;
}

/// Looks at points of k rows, counted from the first global row.
template <class T>
class BlockSurvey {
 public:
  BlockSurvey(const DistMatrix<T>& A, int k, Sums::Blocks& sums)
      : A_(A), k_(k), sums_(sums), of_unknown_(static_cast<std::size_t>(k)) {
    const GlobalIndex first = A.rows().begin() - A.rows().first();
    const GlobalIndex last = A.rows().end() - A.rows().first();
    sums_.split += first % k == 0 && last % k == 0 ? 0 : 1;
    const GlobalIndex begin = (first + k - 1) / k;
    const GlobalIndex end = last / k;
    const GlobalIndex stride = std::max<GlobalIndex>(1, (end - begin) / most_points);
    for (GlobalIndex point = begin; point < end; point += stride) {
      add_point(static_cast<LocalIndex>(point * k - first));
    }
  }

 private:
  void add_point(LocalIndex first_row) {
    block_columns_.clear();
    for (LocalIndex i = first_row; i < first_row + k_; ++i) add_row(i);
    sums_.entries += static_cast<double>(block_columns_.size());
    std::sort(block_columns_.begin(), block_columns_.end());
    const auto distinct =
        std::unique(block_columns_.begin(), block_columns_.end()) - block_columns_.begin();
    sums_.places += static_cast<double>(distinct * k_ * k_);
  }

  void add_row(LocalIndex i) {
    std::fill(of_unknown_.begin(), of_unknown_.end(), 0.0);
    double scale = 0;
    const std::size_t before = block_columns_.size();
    for_each_in_row(A_, i, [&](GlobalIndex col, double value) {
      const GlobalIndex column = col - A_.cols().first();
      block_columns_.push_back(column / k_);
      of_unknown_[static_cast<std::size_t>(column % k_)] += value;
      scale += std::abs(value);
    });
    if (block_columns_.size() <= before + 1) {  // a clamped unknown
      block_columns_.resize(before);
      return;
    }
    sums_.rows += 1;
    // Sums of blocks are of larger terms that cancel: assembled values are less exact than rows.
    const bool vanish = std::all_of(of_unknown_.begin(), of_unknown_.end(), [&](double sum) {
      return std::abs(sum) <= 100 * round_off<T>() * scale;
    });
    sums_.translations += vanish ? 1 : 0;
  }

  const DistMatrix<T>& A_;
  int k_;
  Sums::Blocks& sums_;
  std::vector<double> of_unknown_;
  std::vector<GlobalIndex> block_columns_;
};

/// The number of unknowns that explains the matrix best; 1 where none does.
int block_unknowns(const Sums& sums) {
  int found = 1;
  double most = least_translations;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const Sums::Blocks& blocks = sums.blocks[c];
    if (blocks.rows == 0 || blocks.split > 0) continue;
    const double translations = blocks.translations / blocks.rows;
    if (blocks.entries < least_fill * blocks.places || translations < most) continue;
    most = translations;  // the largest of equals: six unknowns vanish by threes, too
    found = candidates[c];
  }
  return found;
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
  if (sums.off_diagonal > 0) facts.positive_share = sums.positive / sums.off_diagonal;
  facts.zero_sum_share = sums.zero_sum / n;
  facts.dominant_share = sums.dominant / n;
  facts.mean_row = sums.nonzeros / n;
  facts.unknowns = block_unknowns(sums);
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
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      if (A.rows().n_global() % candidates[c] == 0) {
        BlockSurvey<T>(A, candidates[c], sums.blocks[c]);
      }
    }
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
