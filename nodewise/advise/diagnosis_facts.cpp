// Gathers what a diagnosis starts from.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "nodewise/advise/block_survey.hpp"
#include "nodewise/advise/diagnosis.hpp"
#include "nodewise/amg/relax/row_scales.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/base/scale.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/sums_in_pieces.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::advise {

namespace {

using matrix::DistMatrix;

constexpr double large_positive = 0.5;

/// Counts of a level, to be added up over the ranks.
struct LevelCounts {
  double near_zero_diagonals = 0, negative_diagonals = 0, positive_rows = 0;
  double one_signed_rows = 0;

  friend LevelCounts operator+(const LevelCounts& a, const LevelCounts& b) {
    return {a.near_zero_diagonals + b.near_zero_diagonals,
            a.negative_diagonals + b.negative_diagonals, a.positive_rows + b.positive_rows,
            a.one_signed_rows + b.one_signed_rows};
  }
};

template <class T>
LevelCounts count_rows(const DistMatrix<T>& A, LocalIndex begin, LocalIndex end) {
  LevelCounts counts;
  for (LocalIndex i = begin; i < end; ++i) {
    double diagonal = 0, others = 0, most_negative = 0, most_positive = 0;
    const auto look = [&](double value) {
      others += std::abs(value);
      most_negative = std::max(most_negative, -value);
      most_positive = std::max(most_positive, value);
    };
    for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      const auto value = static_cast<double>(A.on().vals[p]);
      A.on().cols[p] == i ? void(diagonal = value) : look(value);
    }
    for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
      look(static_cast<double>(A.off().vals[static_cast<std::size_t>(k)]));
    }
    if (diagonal < 0) std::swap(most_negative, most_positive);
    counts.near_zero_diagonals +=
        others > 0 && std::abs(diagonal) < near_zero_diagonal * others ? 1 : 0;
    counts.negative_diagonals += diagonal < 0 ? 1 : 0;
    const double largest = std::max(most_negative, most_positive);
    counts.positive_rows += largest > 0 && most_positive >= large_positive * largest ? 1 : 0;
    counts.one_signed_rows += largest > 0 && most_negative < large_positive * largest ? 1 : 0;
  }
  return counts;
}

/// The same for all rows of this rank.
template <class T>
LevelCounts count_rows(const DistMatrix<T>& A) {
  const std::span<const Offset> row_ptr = A.on().row_ptr;
  const int parts = parallel::parts_of(static_cast<std::size_t>(A.nnz_local()) + row_ptr.size());
  std::array<LevelCounts, parallel::max_threads> of_part;
  parallel::run(parts, [&](int part) {
    of_part[static_cast<std::size_t>(part)] = count_rows(
        A, parallel::row_part(row_ptr, parts, part), parallel::row_part(row_ptr, parts, part + 1));
  });
  return std::accumulate(of_part.begin(), of_part.begin() + parts, LevelCounts{});
}

/// Numbers of all levels, and of the blocks of the finest, in one list.
std::vector<double> pack(std::span<const LevelCounts> levels, const BlockSums& blocks) {
  std::vector<double> numbers;
  for (const LevelCounts& c : levels) {
    numbers.insert(numbers.end(), {c.near_zero_diagonals, c.negative_diagonals, c.positive_rows,
                                   c.one_signed_rows});
  }
  for (const BlockCounts& b : blocks) {
    numbers.insert(numbers.end(), {b.entries, b.places, b.rows, b.translations, b.split});
  }
  return numbers;
}

SystemFacts unpack(std::span<const double> numbers, std::size_t n_levels) {
  SystemFacts facts;
  const double* next = numbers.data();
  const auto count = [&] { return static_cast<GlobalIndex>(*next++); };
  for (std::size_t l = 0; l < n_levels; ++l) {
    LevelFacts& level = facts.levels.emplace_back();
    level.near_zero_diagonals = count();
    level.negative_diagonals = count();
    level.positive_rows = count();
    level.one_signed_rows = count();
  }
  BlockSums blocks;
  for (BlockCounts& b : blocks) {
    for (double* number : {&b.entries, &b.places, &b.rows, &b.translations, &b.split}) {
      *number = *next++;
    }
  }
  facts.found_unknowns = block_unknowns(blocks);
  return facts;
}

template <class T>
using LevelMatrix = std::shared_ptr<const DistMatrix<T>>;

/// Counts the rows with nearly no diagonal whose couplings are not too large for it.
template <class T>
GlobalIndex count_small_rows(const DistMatrix<T>& A, const amg::relax::RowScales& scales) {
  GlobalIndex count = 0;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const double own = scales.own[static_cast<std::size_t>(i)];
    bool is_small = count_rows(A, i, i + 1).near_zero_diagonals > 0;
    const auto look = [&](const kernels::Csr<T>& M, const Array<double>& of_columns) {
      for (Offset k = M.begin(i); k < M.end(i); ++k) {
        const auto p = static_cast<std::size_t>(k);
        const double other = of_columns[static_cast<std::size_t>(M.cols[p])];
        is_small = is_small && std::abs(static_cast<double>(M.vals[p])) <=
                                   amg::relax::definite_margin * own * other;
      }
    };
    look(A.on(), scales.own);
    look(A.off(), scales.ghosts);
    count += is_small ? 1 : 0;
  }
  return count;
}

/// Collective. Counts small rows on the levels that have rows with nearly no diagonal, which few
/// matrices have: one exchange for each such level, and a sum.
template <class T>
void add_small_rows(const std::function<LevelMatrix<T>(std::size_t)>& matrix_of,
                    const mpi::Comm& comm, SystemFacts& facts) {
  std::vector<std::int64_t> counts;
  for (std::size_t l = 0; l < facts.levels.size(); ++l) {
    if (facts.levels[l].near_zero_diagonals == 0) continue;
    const LevelMatrix<T> A = matrix_of(l);
    const DistMatrix<T>* const one = A.get();
    const auto scales = amg::relax::row_scales<T>(comm, std::span(&one, 1));
    counts.push_back(count_small_rows(*A, scales.front()));
  }
  if (counts.empty()) return;
  mpi::sum_in_place(comm, std::span<std::int64_t>(counts));
  auto count = counts.begin();
  for (LevelFacts& level : facts.levels) {
    if (level.near_zero_diagonals > 0) level.small_rows = *count++;
  }
}

/// `matrix_of(l)` may make the matrix of a level for this: one at a time.
template <class T>
SystemFacts facts_of_levels(std::size_t n_levels,
                            const std::function<LevelMatrix<T>(std::size_t)>& matrix_of) {
  const LevelMatrix<T> finest = matrix_of(0);
  const mpi::Comm& comm = finest->comm();
  std::vector<LevelFacts> sizes;
  std::vector<double> numbers = mpi::collectively(comm, [&] {
    std::vector<LevelCounts> counts;
    for (std::size_t l = 0; l < n_levels; ++l) {
      const LevelMatrix<T> A = matrix_of(l);
      counts.push_back(count_rows(*A));
      sizes.push_back({.rows = A->rows().n_global(), .nonzeros = A->nnz_global()});
    }
    return pack(counts, survey_blocks(*finest));
  });
  mpi::sum_in_place(comm, std::span<double>(numbers));
  SystemFacts facts = unpack(numbers, n_levels);
  for (std::size_t l = 0; l < n_levels; ++l) {
    facts.levels[l].rows = sizes[l].rows;
    facts.levels[l].nonzeros = sizes[l].nonzeros;
  }
  add_small_rows<T>(matrix_of, comm, facts);
  return facts;
}

/// Powers of two that bring the matrix, the given vectors and the right-hand sides near one, since
/// squares are added up.
struct Scales {
  double matrix = 1;
  std::vector<double> vectors, rhs;
};

/// Collective. One allreduce.
template <class T>
Scales find_scales(const DistMatrix<T>& A, const amg::NearNullSpace<T>& given, std::span<const T> b,
                   std::size_t n_rhs) {
  const auto n_given = static_cast<std::size_t>(given.n_vectors);
  const auto n = static_cast<std::size_t>(A.n_local());
  std::vector<double> largest(1 + n_given + n_rhs);
  const auto raise = [&](std::size_t at, T value) {
    largest[at] = std::max(largest[at], std::abs(static_cast<double>(value)));
  };
  largest[0] = std::max(solve::max_abs<T>(A.on().vals), solve::max_abs<T>(A.off().vals));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n_given; ++k) raise(1 + k, given.row(i)[k]);
    for (std::size_t c = 0; c < n_rhs; ++c) raise(1 + n_given + c, b[i * n_rhs + c]);
  }
  mpi::max_in_place(A.comm(), std::span<double>(largest));
  std::transform(largest.begin(), largest.end(), largest.begin(), scale_of);
  const auto first_rhs = largest.begin() + static_cast<std::ptrdiff_t>(1 + n_given);
  return {largest[0], {largest.begin() + 1, first_rhs}, {first_rhs, largest.end()}};
}

/// The constant vector and the given ones, scaled, side by side, and their ghosts.
template <class T>
struct Vectors {
  int width = 1;
  std::vector<double> own, ghosts;

  Vectors(const DistMatrix<T>& A, const amg::NearNullSpace<T>& given,
          std::span<const double> scales)
      : width(1 + given.n_vectors),
        own(static_cast<std::size_t>(A.n_local()) * static_cast<std::size_t>(width), 1.0),
        ghosts(static_cast<std::size_t>(A.n_ghosts()) * static_cast<std::size_t>(width), 1.0) {
    const auto w = static_cast<std::size_t>(width);
    for (std::size_t i = 0; i < own.size() / w; ++i) {
      for (std::size_t k = 1; k < w; ++k) {
        own[i * w + k] = static_cast<double>(given.row(i)[k - 1]) * scales[k - 1];
      }
    }
  }
};

/// Sums over the rows, for vectors v and right-hand sides b, in one array.
struct NullVectorSums {
  std::size_t n_vectors, n_rhs;
  std::span<double> numbers;

  static std::size_t count(std::size_t n_vectors, std::size_t n_rhs) {
    return 3 * n_vectors + n_vectors * n_rhs + n_rhs;
  }
  double& product(std::size_t k) { return numbers[3 * k]; }          // |A v|^2
  double& moduli(std::size_t k) { return numbers[3 * k + 1]; }       // | |A| |v| |^2
  double& square(std::size_t k) { return numbers[3 * k + 2]; }       // |v|^2
  double& rhs(std::size_t c) { return numbers[3 * n_vectors + c]; }  // |b|^2
  double& with_rhs(std::size_t k, std::size_t c) {
    return numbers[3 * n_vectors + n_rhs + k * n_rhs + c];
  }
};

/// Adds those over the rows from `begin` to `end`.
template <class T>
void add_rows(const DistMatrix<T>& A, const Vectors<T>& v, std::span<const T> b,
              const Scales& scales, std::size_t begin, std::size_t end, NullVectorSums sums) {
  const auto w = static_cast<std::size_t>(v.width);
  std::vector<double> product(w), moduli(w), right(sums.n_rhs);
  const auto add = [&](const kernels::Csr<T>& part, std::size_t i, std::span<const double> x) {
    const auto row = static_cast<LocalIndex>(i);
    for (Offset e = part.begin(row); e < part.end(row); ++e) {
      const double value =
          static_cast<double>(part.vals[static_cast<std::size_t>(e)]) * scales.matrix;
      const auto col = static_cast<std::size_t>(part.cols[static_cast<std::size_t>(e)]);
      for (std::size_t k = 0; k < w; ++k) {
        const double term = value * x[col * w + k];
        product[k] += term;
        moduli[k] += std::abs(term);
      }
    }
  };
  for (std::size_t i = begin; i < end; ++i) {
    std::fill(product.begin(), product.end(), 0.0);
    std::fill(moduli.begin(), moduli.end(), 0.0);
    add(A.on(), i, v.own);
    add(A.off(), i, v.ghosts);
    for (std::size_t c = 0; c < sums.n_rhs; ++c) {
      right[c] = static_cast<double>(b[i * sums.n_rhs + c]) * scales.rhs[c];
      sums.rhs(c) += right[c] * right[c];
    }
    for (std::size_t k = 0; k < w; ++k) {
      const double own = v.own[i * w + k];
      sums.product(k) += product[k] * product[k];
      sums.moduli(k) += moduli[k] * moduli[k];
      sums.square(k) += own * own;
      for (std::size_t c = 0; c < sums.n_rhs; ++c) {
        sums.with_rhs(k, c) += own * right[c];
      }
    }
  }
}

template <class T>
std::vector<double> sums_of_rows(const DistMatrix<T>& A, const Vectors<T>& v, std::span<const T> b,
                                 const Scales& scales) {
  const std::size_t n_rhs = scales.rhs.size();
  const auto w = static_cast<std::size_t>(v.width);
  std::vector<double> numbers(NullVectorSums::count(w, n_rhs));
  const auto n = static_cast<std::size_t>(A.n_local());
  const std::size_t entries_a_row = static_cast<std::size_t>(A.nnz_local()) / (n + 1) + 1;
  solve::sum_in_pieces(n, entries_a_row * w, std::span<double>(numbers),
                       [&](std::size_t begin, std::size_t end, std::span<double> sums) {
                         add_rows(A, v, b, scales, begin, end, {w, n_rhs, sums});
                       });
  return numbers;
}

}  // namespace

template <class T>
SystemFacts hierarchy_facts(const amg::Hierarchy<T>& hierarchy) {
  SystemFacts facts = facts_of_levels<T>(hierarchy.levels().size(),
                                         [&](std::size_t l) { return hierarchy.matrix(l); });
  facts.coarse_solver = hierarchy.levels().back().coarse_solver;
  return facts;
}

template <class T>
SystemFacts matrix_facts(const std::shared_ptr<const DistMatrix<T>>& A) {
  return facts_of_levels<T>(1, [&](std::size_t) { return A; });
}

template <class T>
std::vector<NullVectorFacts> null_vector_facts(const DistMatrix<T>& A,
                                               const amg::NearNullSpace<T>& given,
                                               std::span<const T> b, int n_rhs) {
  const auto columns = static_cast<std::size_t>(n_rhs);
  const Scales scales = find_scales(A, given, b, columns);
  Vectors<T> v = mpi::collectively(A.comm(), [&] { return Vectors<T>(A, given, scales.vectors); });
  if (given.n_vectors > 0) {
    A.exchange().forward(std::span<const double>(v.own), std::span<double>(v.ghosts), v.width);
  }
  std::vector<double> sums =
      mpi::collectively(A.comm(), [&] { return sums_of_rows(A, v, b, scales); });
  mpi::sum_in_place(A.comm(), std::span<double>(sums));
  NullVectorSums s{static_cast<std::size_t>(v.width), columns, sums};
  std::vector<NullVectorFacts> facts;
  for (std::size_t k = 0; k < s.n_vectors; ++k) {
    NullVectorFacts fact{.vector = static_cast<int>(k) - 1};
    if (s.moduli(k) > 0) {
      fact.smallness = std::sqrt(s.product(k) / s.moduli(k));
    } else if (s.square(k) > 0) {
      fact.smallness = 0;  // every entry that it meets is zero
    }
    for (std::size_t c = 0; c < columns; ++c) {
      const double sizes = s.square(k) * s.rhs(c);
      if (!(sizes > 0)) continue;
      fact.part_of_rhs = std::max(fact.part_of_rhs, std::abs(s.with_rhs(k, c)) / std::sqrt(sizes));
    }
    facts.push_back(fact);
  }
  return facts;
}

template <class T>
std::vector<Finding> diagnose(const amg::Hierarchy<T>& hierarchy, const amg::Options& options) {
  return findings(hierarchy_facts(hierarchy), options);
}

#define NODEWISE_INSTANTIATE(T)                                                     \
  template SystemFacts hierarchy_facts(const amg::Hierarchy<T>&);                   \
  template SystemFacts matrix_facts(const std::shared_ptr<const DistMatrix<T>>&);   \
  template std::vector<NullVectorFacts> null_vector_facts(                          \
      const DistMatrix<T>&, const amg::NearNullSpace<T>&, std::span<const T>, int); \
  template std::vector<Finding> diagnose(const amg::Hierarchy<T>&, const amg::Options&);
NODEWISE_INSTANTIATE(double)
NODEWISE_INSTANTIATE(float)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::advise
