// Orders of rows, equal shares, and where all of it puts the rows of a matrix.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/comm/points.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/io/problems/unstructured.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/partition/arrangement.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"
#include "dist_matrix_support.hpp"
#include "io_support.hpp"
#include "partition_support.hpp"
#include "support.hpp"

namespace nodewise::partition {
namespace partition_arrangement_test {

using matrix::DistMatrix;
using test::Entries;
using test::expect_same_error;
using test::is_here;
using test::test_comm;
using testing::HasSubstr;

bool is_here([[maybe_unused]] const ReorderingMethod& method) {
#ifdef NODEWISE_BOOST_GRAPH
  return true;
#else
  return !method.renumbers;
#endif
}

io::GalleryOptions shuffled_mesh(int n) {
  io::GalleryOptions options = {.problem = "unstructured", .n = n};
  options.problem.options<io::problems::UnstructuredOptions>().shuffled = 1000000;
  return options;
}

/// An undirected graph of these couplings.
PointGraph graph_of(LocalIndex n, const std::vector<std::pair<LocalIndex, LocalIndex>>& couplings) {
  std::vector<std::vector<LocalIndex>> neighbours(static_cast<std::size_t>(n));
  for (const auto& [a, b] : couplings) {
    neighbours[static_cast<std::size_t>(a)].push_back(b);
    neighbours[static_cast<std::size_t>(b)].push_back(a);
  }
  PointGraph graph;
  for (auto& of_point : neighbours) {
    std::sort(of_point.begin(), of_point.end());
    graph.neighbours.insert(graph.neighbours.end(), of_point.begin(), of_point.end());
    graph.begins.push_back(static_cast<std::int64_t>(graph.neighbours.size()));
    graph.weights.push_back(1);
  }
  return graph;
}

LocalIndex bandwidth_in(const PointGraph& graph, const std::vector<LocalIndex>& order) {
  std::vector<LocalIndex> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    place[static_cast<std::size_t>(order[k])] = static_cast<LocalIndex>(k);
  }
  LocalIndex farthest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    for (auto e = graph.begins[k]; e < graph.begins[k + 1]; ++e) {
      const auto other = static_cast<std::size_t>(graph.neighbours[static_cast<std::size_t>(e)]);
      farthest = std::max(farthest, std::abs(place[k] - place[other]));
    }
  }
  return farthest;
}

void expect_permutation(std::vector<LocalIndex> order, LocalIndex n) {
  std::sort(order.begin(), order.end());
  std::vector<LocalIndex> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(order, all);
}

TEST(Reordering, OrdersEveryGraph) {
  const PointGraph empty;
  const PointGraph without_couplings = graph_of(5, {});
  const PointGraph chains = graph_of(9, {{8, 0}, {0, 4}, {4, 2}, {7, 1}, {1, 5}});
  for (const ReorderingMethod& method : ReorderingMethod::family()) {
    if (!is_here(method)) continue;
    SCOPED_TRACE(*method.name);
    expect_permutation((*method.order)(empty), 0);
    expect_permutation((*method.order)(without_couplings), 5);
    expect_permutation((*method.order)(chains), 9);
    // Chains from one end to the other, and two points alone.
    if (method.renumbers) EXPECT_EQ(bandwidth_in(chains, (*method.order)(chains)), 1);
  }
}

TEST(Reordering, UndoesWhatShufflesAGrid) {
  constexpr LocalIndex n = 20;
  std::vector<LocalIndex> number(n * n);
  std::iota(number.begin(), number.end(), 0);
  std::sort(number.begin(), number.end(), [](LocalIndex a, LocalIndex b) {
    return hash64(static_cast<std::uint64_t>(a)) < hash64(static_cast<std::uint64_t>(b));
  });
  std::vector<std::pair<LocalIndex, LocalIndex>> couplings;
  for (LocalIndex k = 0; k < n * n; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (k % n + 1 < n) couplings.emplace_back(number[at], number[at + 1]);
    if (k + n < n * n) couplings.emplace_back(number[at], number[at + n]);
  }
  const PointGraph graph = graph_of(n * n, couplings);
  for (const ReorderingMethod& method : ReorderingMethod::family()) {
    if (!is_here(method) || !method.renumbers) continue;
    SCOPED_TRACE(*method.name);
    const std::vector<LocalIndex> order = (*method.order)(graph);
    expect_permutation(order, n * n);
    EXPECT_LE(bandwidth_in(graph, order), n + 1);  // the shortest possible is n
  }
}

TEST(Reordering, IsRefusedWithoutItsLibrary) {
  for (const ReorderingMethod& method : ReorderingMethod::family()) {
    if (is_here(method)) continue;
    try {
      (*method.order)(PointGraph());
      FAIL() << *method.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_THAT(error.what(), HasSubstr("Boost.Graph"));
    }
  }
}

/// The entries of a matrix whose row and column i is row old[i] of another with these entries.
Entries renumbered(const Entries& entries, const std::vector<GlobalIndex>& old) {
  std::vector<GlobalIndex> number(old.size());
  for (std::size_t k = 0; k < old.size(); ++k) {
    number[static_cast<std::size_t>(old[k])] = static_cast<GlobalIndex>(k);
  }
  Entries result;
  for (const auto& [i, j, value] : entries) {
    result.emplace_back(number[static_cast<std::size_t>(i)], number[static_cast<std::size_t>(j)],
                        value);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<GlobalIndex> numbers_of(const comm::Layout& rows) {
  std::vector<GlobalIndex> numbers(static_cast<std::size_t>(rows.n_local()));
  std::iota(numbers.begin(), numbers.end(), rows.begin());
  return numbers;
}

/// That A is the same matrix there, and vectors go there and back.
void expect_same_matrix(const DistMatrix<double>& A, const Arrangement& arrangement) {
  if (!arrangement.moves()) return;
  const std::vector<GlobalIndex> here = numbers_of(A.rows());
  const std::vector<GlobalIndex> there = arrangement.there(std::span<const GlobalIndex>(here));
  const auto old = mpi::concatenate_all<GlobalIndex>(A.comm(), there);
  std::vector<GlobalIndex> sorted(old.begin(), old.end());
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    ASSERT_EQ(sorted[k], static_cast<GlobalIndex>(k)) << "is no permutation";
  }
  EXPECT_EQ(test::gather_entries(arrangement.there(A)),
            renumbered(test::gather_entries(A), {old.begin(), old.end()}));
  std::vector<GlobalIndex> back(here.size());
  arrangement.back(std::span<const GlobalIndex>(there), std::span(back));
  EXPECT_EQ(back, here);
}

/// Calls f(options) for all reorderings beside all partitions and shares.
template <class F>
void for_each_arrangement(const F& f) {
  for (const ReorderingMethod& reorder : ReorderingMethod::family()) {
    for (const PartitionMethod& method : PartitionMethod::family()) {
      for (const Balance balance : {Balance::automatic, Balance::rows, Balance::nonzeros}) {
        if (!is_here(reorder) || !is_here(method)) continue;
        SCOPED_TRACE(*reorder.name + ", " + *method.name + ", " +
                     std::to_string(static_cast<int>(balance)));
        ArrangementOptions options = {{method}, reorder};
        options.division.balance = balance;
        f(options);
      }
    }
  }
}

// A pattern that is not symmetric, ranks without rows, and points of three rows.
TEST(Arrangement, IsTheSameMatrix) {
  const bool is_last = test_comm()->rank() + 1 == test_comm()->size();
  const comm::Layout rows =
      comm::Layout::from_local_size(test_comm(), is_last ? 36 : test_comm()->rank() * 12);
  const test::RandomMatrix<double> A(rows, rows, 0.06, 3);
  for_each_arrangement([&](const ArrangementOptions& options) {
    for (const int unknowns : {1, 3}) {
      const PartitionTask task = {A.dist, test_comm()->topology(), unknowns};
      const Arrangement arrangement(options, task);
      EXPECT_EQ(arrangement.moves(), !options.is_plain());
      expect_same_matrix(A.dist, arrangement);
      if (!arrangement.moves()) continue;
      EXPECT_TRUE(comm::has_whole_points(arrangement.steps().back().to(), unknowns));
    }
  });
}

TEST(Arrangement, OfVirtualRanksIsThatOfRealOnes) {
  const DistMatrix<double> A = io::generate<double>(test_comm(), shuffled_mesh(5));
  const DistMatrix<double> whole = io::generate<double>(test::self_comm(), shuffled_mesh(5));
  for_each_arrangement([&](ArrangementOptions options) {
    if (options.division.partition == "ptscotch") return;  // by what each rank begins with
    const Arrangement real(options, {A, test_comm()->topology(), 1});
    options.division.is_virtual = true;
    const Arrangement wanted(options, {whole, test_comm()->topology(), 1});
    expect_same_matrix(whole, wanted);
    EXPECT_EQ(real.moves(), wanted.moves());
    const comm::Layout& rows = real.moves() ? real.steps().back().to() : A.rows();
    EXPECT_EQ(wanted.virtual_starts(),
              std::vector<GlobalIndex>(rows.starts().begin(), rows.starts().end()));
    if (!real.moves()) return;
    EXPECT_EQ(test::gather_entries(real.there(A)), test::gather_entries(wanted.there(whole)));
    if (!options.reorder->renumbers) return;
    EXPECT_EQ(real.reordering()->bandwidth_before, wanted.reordering()->bandwidth_before);
    EXPECT_EQ(real.reordering()->bandwidth_after, wanted.reordering()->bandwidth_after);
  });
}

GlobalIndex bandwidth_of(const Entries& entries) {
  GlobalIndex farthest = 0;
  for (const auto& [i, j, value] : entries) farthest = std::max(farthest, std::abs(i - j));
  return farthest;
}

TEST(Arrangement, TellsTheBandwidth) {
  const DistMatrix<double> A = io::generate<double>(test_comm(), shuffled_mesh(8));
  for (const ReorderingMethod& method : ReorderingMethod::family()) {
    if (!is_here(method) || !method.renumbers) continue;
    SCOPED_TRACE(*method.name);
    const Arrangement arrangement({{}, method}, {A, test_comm()->topology(), 1});
    const DistMatrix<double> there = arrangement.there(A);
    if (method.of_all_ranks) {
      EXPECT_EQ(arrangement.reordering()->bandwidth_before, bandwidth_of(test::gather_entries(A)));
      EXPECT_EQ(arrangement.reordering()->bandwidth_after,
                bandwidth_of(test::gather_entries(there)));
      EXPECT_LT(arrangement.reordering()->bandwidth_after, 512 / 3);
    } else {
      const auto within = [](const DistMatrix<double>& M) {
        LocalIndex farthest = 0;
        for (LocalIndex i = 0; i < M.n_local(); ++i) {
          for (Offset k = M.on().begin(i); k < M.on().end(i); ++k) {
            const LocalIndex j = M.on().cols[static_cast<std::size_t>(k)];
            farthest = std::max(farthest, std::abs(i - j));
          }
        }
        return GlobalIndex{mpi::max(M.comm(), farthest)};
      };
      EXPECT_EQ(arrangement.reordering()->bandwidth_before, within(A));
      EXPECT_EQ(arrangement.reordering()->bandwidth_after, within(there));
      EXPECT_LT(within(there), within(A));
    }
  }
}

/// Rows of these numbers of entries, from the diagonal on.
DistMatrix<double> with_lengths(const std::vector<GlobalIndex>& lengths) {
  const auto n = static_cast<GlobalIndex>(lengths.size());
  const comm::Layout rows = comm::Layout::uniform(test_comm(), n);
  return matrix::matrix_from_rows<double>(rows, rows, [&](GlobalIndex i, auto&& emit) {
    for (GlobalIndex k = 0; k < lengths[static_cast<std::size_t>(i)]; ++k) emit((i + k) % n, 1.0);
  });
}

std::vector<GlobalIndex> shares_of(const DistMatrix<double>& A, Balance balance, int n_ranks,
                                   bool of_rows) {
  ArrangementOptions options;
  options.division.balance = balance;
  const mpi::Topology ranks(std::vector<int>(static_cast<std::size_t>(n_ranks), 0));
  const Division division = divide(options.division, {A, ranks, 1});
  std::vector<GlobalIndex> shares(static_cast<std::size_t>(n_ranks), 0);
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const auto owner = static_cast<std::size_t>(division.owners[static_cast<std::size_t>(i)]);
    shares[owner] += of_rows ? 1 : A.row_length(i);
  }
  mpi::sum_in_place<GlobalIndex>(A.comm(), shares);
  return shares;
}

TEST(Balance, ByHand) {
  const DistMatrix<double> A = with_lengths({1, 1, 1, 0, 0, 0, 6, 1, 1, 1, 0, 0});
  using Shares = std::vector<GlobalIndex>;
  EXPECT_EQ(shares_of(A, Balance::rows, 3, true), (Shares{4, 4, 4}));
  EXPECT_EQ(shares_of(A, Balance::rows, 3, false), (Shares{3, 7, 2}));
  EXPECT_EQ(shares_of(A, Balance::nonzeros, 3, false), (Shares{3, 6, 3}));
  EXPECT_EQ(shares_of(A, Balance::nonzeros, 3, true), (Shares{6, 1, 5}));
  EXPECT_EQ(shares_of(with_lengths({0, 0, 0, 0}), Balance::nonzeros, 2, true), (Shares{2, 2}));
}

// Empty rows, and one that has an entry in every column.
TEST(Balance, IsWithinOneRowOfEqual) {
  std::vector<GlobalIndex> lengths(400, 0);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (i % 7 != 3) lengths[i] = static_cast<GlobalIndex>(hash64(i) % 12);
  }
  for (const GlobalIndex longest : {11, 400}) {
    if (longest == 400) lengths[123] = 400;
    const DistMatrix<double> A = with_lengths(lengths);
    for (const int n_ranks : {1, 2, 3, 4, 6, 8}) {
      const auto ideal = static_cast<double>(A.nnz_global()) / n_ranks;
      for (const GlobalIndex share : shares_of(A, Balance::nonzeros, n_ranks, false)) {
        EXPECT_NEAR(static_cast<double>(share), ideal, static_cast<double>(longest));
      }
      for (const GlobalIndex share : shares_of(A, Balance::rows, n_ranks, true)) {
        EXPECT_NEAR(static_cast<double>(share), 400.0 / n_ranks, 1);
      }
    }
  }
}

TEST(Balance, WeighsThePointsOfGraphs) {
  std::vector<GlobalIndex> lengths(600, 2);
  std::fill(lengths.begin(), lengths.begin() + 100, 20);
  const DistMatrix<double> A = with_lengths(lengths);
  const mpi::Topology ranks(std::vector<int>{0, 0, 1, 1});
  for (const PartitionMethod& method : PartitionMethod::family()) {
    if (!is_here(method) || !method.makes_graph) continue;
    SCOPED_TRACE(*method.name);
    for (const Balance balance : {Balance::rows, Balance::automatic}) {
      DivisionOptions options = {method};
      options.balance = balance;
      const Division division = divide(options, {A, ranks, 1});
      std::vector<GlobalIndex> shares(4, 0);
      for (LocalIndex i = 0; i < A.n_local(); ++i) {
        const auto owner = static_cast<std::size_t>(division.owners[static_cast<std::size_t>(i)]);
        shares[owner] += balance == Balance::rows ? 1 : A.row_length(i);
      }
      mpi::sum_in_place<GlobalIndex>(A.comm(), shares);
      const double ideal = balance == Balance::rows ? 150 : 750;
      for (const GlobalIndex share : shares)
        EXPECT_NEAR(static_cast<double>(share), ideal, 0.15 * ideal);
    }
  }
}

TEST(Arrangement, IsRefusedOnEveryRank) {
  const comm::Layout rows = comm::Layout::uniform(test_comm(), 10);
  const test::RandomMatrix<double> A(rows, comm::Layout::uniform(test_comm(), 11), 0.3, 1);
  const test::RandomMatrix<double> square(rows, rows, 0.3, 1);
  for (const ReorderingMethod& method : ReorderingMethod::family()) {
    if (!method.renumbers) continue;
    const auto refused = [&](ErrorCode code, const DistMatrix<double>& M, int unknowns) {
      expect_same_error(*test_comm(), code, [&] {
        Arrangement({{}, method}, {M, test_comm()->topology(), unknowns});
      });
    };
    refused(ErrorCode::dimension_mismatch, A.dist, 1);
    refused(ErrorCode::invalid_argument, square.dist, 3);
  }
}

}  // namespace partition_arrangement_test
}  // namespace nodewise::partition
