// Plain references for aggregation: every rank does it for the whole problem.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nodewise/amg/near_null_space.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"

namespace nodewise::test {

/// Layouts of the rows of n points with `unknowns` rows each.
inline std::vector<matrix::Layout> layouts_of_points(GlobalIndex n, int unknowns) {
  std::vector<matrix::Layout> layouts;
  for (const matrix::Layout& points : layouts_of(test_comm(), n)) {
    std::vector<GlobalIndex> starts(points.starts().begin(), points.starts().end());
    for (GlobalIndex& start : starts) start *= unknowns;
    layouts.emplace_back(test_comm(), starts);
  }
  return layouts;
}

/// Two of them, for what takes long: even, and random with empty ranks.
inline std::vector<matrix::Layout> two_layouts_of_points(GlobalIndex n, int unknowns) {
  const std::vector<matrix::Layout> all = layouts_of_points(n, unknowns);
  return {all[0], all[2]};
}

/// Collective. All rows of all vectors, on every rank.
template <class T>
DenseMatrix gathered_vectors(const mpi::Comm& comm, const amg::NearNullSpace<T>& vectors) {
  const DenseMatrix all = gathered(comm, vectors.values);
  DenseMatrix whole(all.rows() / vectors.n_vectors, vectors.n_vectors);
  std::copy(all.data(), all.data() + all.size(), whole.data());
  return whole;
}

/// Collective. Every rank's numbers, one rank after the other.
template <class T>
std::vector<int> gathered_numbers(const mpi::Comm& comm, const std::vector<T>& part) {
  const std::vector<std::int32_t> mine(part.begin(), part.end());
  const auto all = mpi::concatenate_all(comm, std::span<const std::int32_t>(mine));
  return {all.begin(), all.end()};
}

/// Graphs to aggregate: grids, a random one, one with isolated points, single points, and nothing
/// but isolated ones.
inline std::vector<std::pair<std::string, DenseMatrix>> graphs() {
  DenseMatrix isolated = model("laplace5", 7);
  for (const GlobalIndex i : {0, 8, 24, 25, 48}) {
    for (GlobalIndex j = 0; j < 49; ++j) {
      if (j != i) isolated(i, j) = isolated(j, i) = 0;
    }
  }
  DenseMatrix diagonal(5, 5);
  for (GlobalIndex i = 0; i < 5; ++i) diagonal(i, i) = 1.0 + double(i);
  return {{"laplace5", model("laplace5", 8)},
          {"rotated_fe", model("rotated_fe", 7)},
          {"laplace27", model("laplace27", 4)},
          {"random", random_symmetric(50, 0.07, 0.3, 2)},
          {"isolated points", isolated},
          {"one point", random_symmetric(1, 1, 0, 1)},
          {"two points", random_symmetric(2, 1, 0, 1)},
          {"diagonal", diagonal}};
}

inline Dense<int> reference_strength(const DenseMatrix& A, double threshold) {
  Dense<int> marks(A.rows(), A.cols());
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      marks(i, j) =
          i != j && A(i, j) * A(i, j) > threshold * threshold * std::abs(A(i, i) * A(j, j)) ? 1 : 0;
    }
  }
  return marks;
}

/// How many connections apart two points are; a number larger than that of the points where they
/// are not connected.
inline Dense<int> distances(const Dense<int>& marks) {
  const auto n = marks.rows();
  Dense<int> d(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) d(i, j) = i == j ? 0 : marks(i, j) ? 1 : int(n) + 1;
  }
  for (GlobalIndex k = 0; k < n; ++k) {
    for (GlobalIndex i = 0; i < n; ++i) {
      for (GlobalIndex j = 0; j < n; ++j) d(i, j) = std::min(d(i, j), d(i, k) + d(k, j));
    }
  }
  return d;
}

inline bool is_isolated(const Dense<int>& marks, GlobalIndex i) {
  return marks.rows_from(i, 1).sum() == 0;
}

/// The greedy set by falling weight, which is the one that rounds of local maxima find.
inline std::vector<int> reference_independent_set(const Dense<int>& marks, int distance, int seed) {
  const Dense<int> d = distances(marks);
  std::vector<std::pair<std::uint64_t, GlobalIndex>> order;
  for (GlobalIndex i = 0; i < marks.rows(); ++i) {
    order.emplace_back(hash64(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(seed)) << 2,
                       i);
  }
  std::sort(order.rbegin(), order.rend());
  std::vector<int> set(static_cast<std::size_t>(marks.rows()), 0);
  for (const auto& [weight, i] : order) {
    bool free = !is_isolated(marks, i);
    for (GlobalIndex j = 0; j < marks.rows(); ++j) {
      free = free && !(set[static_cast<std::size_t>(j)] && d(i, j) <= distance);
    }
    if (free) set[static_cast<std::size_t>(i)] = 1;
  }
  return set;
}

inline void expect_maximal_and_independent(const Dense<int>& marks, const std::vector<int>& set,
                                           int distance, const std::string& what) {
  const Dense<int> d = distances(marks);
  for (GlobalIndex i = 0; i < marks.rows(); ++i) {
    int near = 0;  // points of the set in reach, itself included
    for (GlobalIndex j = 0; j < marks.rows(); ++j) {
      near += set[static_cast<std::size_t>(j)] && d(i, j) <= distance ? 1 : 0;
    }
    if (set[static_cast<std::size_t>(i)]) {
      EXPECT_EQ(near, 1) << what << ", point " << i;
    } else {
      EXPECT_EQ(near > 0, !is_isolated(marks, i)) << what << ", point " << i;
    }
  }
}

/// One round in which points join the aggregate they are most connected to.
inline void reference_join(const DenseMatrix& A, const Dense<int>& marks,
                           std::vector<int>& of_point) {
  const std::vector<int> before = of_point;
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    if (before[static_cast<std::size_t>(i)] >= 0) continue;
    std::map<int, double> connections;  // ascending, so that the first of equals is the lowest
    for (GlobalIndex j = 0; j < A.rows(); ++j) {
      const int other = before[static_cast<std::size_t>(j)];
      if (marks(i, j) && other >= 0) connections[other] += std::abs(A(i, j));
    }
    double most = 0;
    for (const auto& [aggregate, connection] : connections) {
      const double grade = std::round(64 * std::log2(connection));
      if (of_point[static_cast<std::size_t>(i)] >= 0 && grade <= most) continue;
      of_point[static_cast<std::size_t>(i)] = aggregate;
      most = grade;
    }
  }
}

inline std::vector<int> reference_aggregates(const DenseMatrix& A, const Dense<int>& marks,
                                             const std::vector<int>& roots, int distance) {
  std::vector<int> of_point(roots.size(), -1);
  int next = 0;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (roots[i]) of_point[i] = next++;
  }
  for (int round = 0; round < distance; ++round) reference_join(A, marks, of_point);
  return of_point;
}

/// Points in no aggregate join that of the first neighbour that is in one.
inline void reference_join_first(const Dense<int>& marks, std::vector<int>& of_point) {
  const std::vector<int> before = of_point;
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (std::size_t j = 0; of_point[i] < 0 && j < before.size(); ++j) {
      if (j != i && marks(static_cast<GlobalIndex>(i), static_cast<GlobalIndex>(j)) != 0) {
        of_point[i] = before[j];
      }
    }
  }
}

/// Each rank's part by itself; `marks` of all points say which are isolated.
inline std::vector<int> reference_standard(const DenseMatrix& A, const Dense<int>& marks,
                                           const matrix::Layout& layout, bool joins_first = false) {
  const auto n = A.rows();
  Dense<int> own = marks;
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) {
      if (layout.owner(layout.first() + i) != layout.owner(layout.first() + j)) own(i, j) = 0;
    }
  }
  std::vector<int> of_point(static_cast<std::size_t>(n), -1);
  std::vector<GlobalIndex> roots;
  int next = 0;
  // Ranks number their aggregates after those of the ranks before them.
  for (int rank = 0; rank < layout.comm().size(); ++rank) {
    const GlobalIndex begin = layout.begin(rank) - layout.first();
    const GlobalIndex end = layout.end(rank) - layout.first();
    const auto take = [&](GlobalIndex i) {
      for (GlobalIndex j = 0; j < n; ++j) {
        if ((j == i || own(i, j)) && of_point[static_cast<std::size_t>(j)] < 0) {
          of_point[static_cast<std::size_t>(j)] = next;
        }
      }
      roots.push_back(i);
      ++next;
    };
    for (GlobalIndex i = begin; i < end; ++i) {
      bool free = !is_isolated(own, i);
      for (GlobalIndex j = 0; j < n; ++j) {
        free = free && ((j != i && !own(i, j)) || of_point[static_cast<std::size_t>(j)] < 0);
      }
      if (free) take(i);
    }
    std::vector<int> joined = of_point;
    if (joins_first) {
      reference_join_first(own, joined);
    } else {
      reference_join(A, own, joined);
    }
    for (GlobalIndex i = begin; i < end; ++i) {
      of_point[static_cast<std::size_t>(i)] = joined[static_cast<std::size_t>(i)];
    }
    for (GlobalIndex i = begin; i < end; ++i) {
      if (of_point[static_cast<std::size_t>(i)] < 0 && !is_isolated(marks, i)) take(i);
    }
  }
  for (int& aggregate : of_point) {  // numbered by their roots in the end
    if (aggregate < 0) continue;
    const GlobalIndex root = roots[static_cast<std::size_t>(aggregate)];
    aggregate = static_cast<int>(
        std::count_if(roots.begin(), roots.end(), [&](GlobalIndex r) { return r < root; }));
  }
  return of_point;
}

}  // namespace nodewise::test
