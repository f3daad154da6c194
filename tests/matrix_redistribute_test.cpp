// Rows that move to other ranks, against dense references that every rank makes for itself.
#include <numeric>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/redistribute.hpp"

#include "collective_error.hpp"
#include "dist_matrix_support.hpp"
#include "mpi_counter.hpp"
#include "support.hpp"

namespace nodewise::matrix {
namespace matrix_redistribute_test {

using comm::RowMove;
using test::expect_equal;
using test::expect_same_error;
using test::layouts_of;
using test::RandomMatrix;
using test::test_comm;
using test::Whole;
using testing::HasSubstr;

/// Collective. The new number of every row, on every rank, counted from the first.
std::vector<GlobalIndex> numbers_of_all(const RowMove& move) {
  std::vector<GlobalIndex> mine;
  for (LocalIndex i = 0; i < move.from().n_local(); ++i) {
    mine.push_back(move.number(i) - move.from().first());
  }
  return mpi::concatenate_all<GlobalIndex>(move.from().comm(), mine);
}

template <class T>
Whole<T> permuted(const Whole<T>& A, const std::vector<GlobalIndex>& rows,
                  const std::vector<GlobalIndex>& columns) {
  Whole<T> result = A;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const auto [from_i, from_j] = std::pair{static_cast<int>(i), static_cast<int>(j)};
      result.values(rows[i], columns[j]) = A.values(from_i, from_j);
      result.pattern(rows[i], columns[j]) = A.pattern(from_i, from_j);
    }
  }
  return result;
}

std::vector<GlobalIndex> unchanged(GlobalIndex n) {
  std::vector<GlobalIndex> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Owners that look random, and leave some ranks without rows.
std::vector<int> scattered_owners(const Layout& rows, std::uint64_t seed) {
  std::vector<int> owners;
  const auto n_ranks = static_cast<std::uint64_t>(rows.comm().size());
  for (GlobalIndex i = rows.begin(); i < rows.end(); ++i) {
    const std::uint64_t drawn = hash64(static_cast<std::uint64_t>(i), seed) % n_ranks;
    owners.push_back(static_cast<int>(drawn % 3 == 2 ? 0 : drawn));
  }
  return owners;
}

/// Calls f(comm, route) for every placement of the ranks and every route.
template <class F>
void for_each_placement(const F& f) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    for (const comm::Route route : comm::RouteMethod::family()) {
      SCOPED_TRACE(testing::Message() << map.name << ", " << route.name());
      f(comm, route);
    }
  }
}

/// Collective. Expects that entries come where their numbers say, and come back as they were.
void expect_moves_vectors(const RowMove& move, int width) {
  std::vector<double> x, y(static_cast<std::size_t>(move.to().n_local() * width));
  for (LocalIndex i = 0; i < move.from().n_local(); ++i) {
    for (int k = 0; k < width; ++k) {
      x.push_back(static_cast<double>(move.number(i) * width + k));
    }
  }
  move.forward<double>(x, y, width);
  for (LocalIndex i = 0; i < move.to().n_local(); ++i) {
    for (int k = 0; k < width; ++k) {
      EXPECT_EQ(y[static_cast<std::size_t>(i * width + k)],
                static_cast<double>(move.to().to_global(i) * width + k));
    }
  }
  std::vector<double> back(x.size(), -1);
  move.backward<double>(y, back, width);
  EXPECT_EQ(back, x);
}

template <class T>
class Redistribute : public testing::Test {};
using Values = testing::Types<double, float>;
TYPED_TEST_SUITE(Redistribute, Values);

TYPED_TEST(Redistribute, FromAnyLayoutToAnyOther) {
  const auto layouts = layouts_of(test_comm(), 23);
  const auto others = layouts_of(test_comm(), 14);
  for (std::size_t k = 0; k < layouts.size() * layouts.size(); ++k) {
    const Layout& from = layouts[k % layouts.size()];
    const Layout& to = layouts[k / layouts.size()];
    const RandomMatrix<TypeParam> A(from, from, 0.2, k);
    const RowMove move(from, to);
    EXPECT_TRUE(move.keeps_numbers());
    expect_moves_vectors(move, 1);
    const DistMatrix<TypeParam> moved = redistribute(A.dist, move);
    EXPECT_TRUE(moved.rows() == to && moved.cols() == to);
    expect_equal(moved, A.whole);
    const RandomMatrix<TypeParam> P(others[k % others.size()], from, 0.3, k + 50);
    expect_equal(with_moved_columns(P.dist, move), P.whole);
    const RandomMatrix<TypeParam> R(from, others[k % others.size()], 0.3, k + 80);
    expect_equal(with_moved_rows(R.dist, move), R.whole);
  }
}

TYPED_TEST(Redistribute, ToAnyOwners) {
  const auto layouts = layouts_of(test_comm(), 31);
  for (std::size_t k = 0; k < layouts.size(); ++k) {
    const Layout& from = layouts[k];
    const RowMove move = RowMove::to_owners(from, scattered_owners(from, k));
    expect_moves_vectors(move, 1);
    expect_moves_vectors(move, 3);
    const std::vector<GlobalIndex> numbers = numbers_of_all(move);
    const RandomMatrix<TypeParam> A(from, from, 0.2, k);
    expect_equal(redistribute(A.dist, move), permuted(A.whole, numbers, numbers));
    const Layout rows = layouts_of(test_comm(), 9)[k % 5];
    const RandomMatrix<TypeParam> P(rows, from, 0.3, k + 50);
    expect_equal(with_moved_columns(P.dist, move), permuted(P.whole, unchanged(9), numbers));
    const RandomMatrix<TypeParam> R(from, rows, 0.3, k + 80);
    expect_equal(with_moved_rows(R.dist, move), permuted(R.whole, numbers, unchanged(9)));
  }
}

TEST(RedistributeByRoute, BringsTheSame) {
  for_each_placement([](const auto& comm, const comm::Route& route) {
    const Layout from = test::random_layout(comm, 27, 3);
    const RandomMatrix<double> A(from, from, 0.2, 5);
    for (const RowMove& move : {RowMove(from, test::random_layout(comm, 27, 9), route),
                                RowMove::to_owners(from, scattered_owners(from, 7), route)}) {
      expect_moves_vectors(move, 2);
      const std::vector<GlobalIndex> numbers = numbers_of_all(move);
      expect_equal(redistribute(A.dist, move), permuted(A.whole, numbers, numbers));
    }
  });
}

TEST(RedistributeByRoute, GoesOverEveryTransport) {
  for (const comm::Transport transport : comm::TransportMethod::family()) {
    SCOPED_TRACE(transport.name());
    const Layout from = Layout::uniform(test_comm(), 40);
    try {
      comm::require_available(*test_comm(), transport);
    } catch (const Error&) {
      continue;  // this MPI library lacks it
    }
    const RowMove move =
        RowMove::to_owners(from, scattered_owners(from, 11), comm::Route("direct"), transport);
    expect_moves_vectors(move, 1);
    const RandomMatrix<double> A(from, from, 0.2, 5);
    const std::vector<GlobalIndex> numbers = numbers_of_all(move);
    expect_equal(redistribute(A.dist, move), permuted(A.whole, numbers, numbers));
  }
}

// Indices beyond 2^32 are ordinary.
TEST(RowMove, CountsFromAFirstRowFarAway) {
  const GlobalIndex far = GlobalIndex{1} << 40;
  const auto shifted = [&](const Layout& layout) {
    std::vector<GlobalIndex> starts(layout.starts().begin(), layout.starts().end());
    for (GlobalIndex& start : starts) start += far;
    return Layout(layout.shared_comm(), starts);
  };
  const Layout from = shifted(Layout::uniform(test_comm(), 19));
  const RowMove move = RowMove::to_owners(from, scattered_owners(from, 2));
  EXPECT_EQ(move.to().first(), far);
  expect_moves_vectors(move, 1);
  const RandomMatrix<double> A(from, from, 0.3, 1);
  const std::vector<GlobalIndex> numbers = numbers_of_all(move);
  expect_equal(redistribute(A.dist, move), permuted(A.whole, numbers, numbers));
  const RowMove back(from, shifted(test::random_layout(test_comm(), 19, 4)));
  expect_equal(redistribute(A.dist, back), A.whole);
}

// Layouts say on every rank what goes where: nobody has to be asked.
TEST(RowMove, BetweenLayoutsSendsNothingToPlan) {
  const auto comm = test_comm();
  const Layout from = Layout::uniform(comm, 60);
  std::vector<GlobalIndex> starts(static_cast<std::size_t>(comm->size()) + 1, 60);
  starts[0] = 0;
  const Layout to(comm, starts);  // all on rank 0
  const std::vector<int> nodes(static_cast<std::size_t>(comm->size()), 0);
  std::optional<RowMove> planned;
  const test::MpiCalls calls = test::counted(nodes, [&] { planned.emplace(from, to); });
  EXPECT_EQ(calls.messages(), 0);
  EXPECT_EQ(calls.collectives, 1);  // the agreement
  const RowMove& move = *planned;
  const comm::Traffic sent = comm::traffic(move.exchange().plan(), comm->topology(), comm->rank());
  EXPECT_EQ(sent.messages_on_node + sent.messages_off_node, comm->rank() == 0 ? 0 : 1);
  expect_moves_vectors(move, 1);
}

TEST(RowMove, RefusesOnEveryRank) {
  const auto comm = test_comm();
  const Layout from = Layout::uniform(comm, 12);
  expect_same_error(*comm, ErrorCode::dimension_mismatch,
                    [&] { RowMove(from, Layout::uniform(comm, 13)); });
  std::vector<int> owners(static_cast<std::size_t>(from.n_local()), 0);
  if (comm->rank() == comm->size() - 1 && !owners.empty()) owners.back() = comm->size();
  const std::string text = expect_same_error(*comm, ErrorCode::invalid_argument,
                                             [&] { RowMove::to_owners(from, owners); });
  EXPECT_NE(text.find("row 11 is to go to rank"), std::string::npos) << text;
  owners.assign(owners.size() + (comm->is_root() ? 1U : 0U), 0);
  expect_same_error(*comm, ErrorCode::dimension_mismatch,
                    [&] { RowMove::to_owners(from, owners); });
  const RandomMatrix<double> A(from, from, 0.3, 1);
  const Layout other = Layout::uniform(comm, 11);
  expect_same_error(*comm, ErrorCode::dimension_mismatch,
                    [&] { redistribute(A.dist, RowMove(other, other)); });
}

// A permutation by hand, and numbers that are none.
TEST(RowMove, BringsRowsToTheirNumbers) {
  const auto comm = test_comm();
  const comm::Layout from = comm::Layout::from_local_size(comm, comm->rank() == 0 ? 13 : 2);
  const comm::Layout to = comm::Layout::uniform(comm, from.n_global());
  const GlobalIndex n = from.n_global();
  std::vector<GlobalIndex> numbers;
  std::vector<double> x;
  for (GlobalIndex i = from.begin(); i < from.end(); ++i) {
    numbers.push_back(n - 1 - i);
    x.insert(x.end(), {double(i), double(i) + 0.5});
  }
  const auto move = comm::RowMove::to_numbers(from, to, numbers);
  EXPECT_FALSE(move.keeps_numbers());
  std::vector<double> y(2 * static_cast<std::size_t>(to.n_local())), again(x.size());
  move.forward<double>(x, y, 2);
  for (GlobalIndex i = to.begin(); i < to.end(); ++i) {
    const auto at = 2 * static_cast<std::size_t>(i - to.begin());
    EXPECT_EQ(y[at], double(n - 1 - i));
    EXPECT_EQ(y[at + 1], double(n - 1 - i) + 0.5);
  }
  move.backward<double>(y, again, 2);
  EXPECT_EQ(again, x);
  const auto refusal = [&](ErrorCode code, const comm::Layout& wanted,
                           const std::vector<GlobalIndex>& bad) {
    return expect_same_error(*comm, code, [&] { comm::RowMove::to_numbers(from, wanted, bad); });
  };
  std::vector<GlobalIndex> bad = numbers;
  if (comm->is_root()) bad[1] = bad[0];
  EXPECT_THAT(refusal(ErrorCode::invalid_argument, to, bad), HasSubstr("same number"));
  if (comm->is_root()) bad[1] = n;
  EXPECT_THAT(refusal(ErrorCode::invalid_argument, to, bad), HasSubstr("no number of a row"));
  if (comm->is_root()) bad.pop_back();
  EXPECT_THAT(refusal(ErrorCode::dimension_mismatch, to, bad), HasSubstr("numbers for 13 rows"));
  EXPECT_THAT(refusal(ErrorCode::dimension_mismatch, comm::Layout::uniform(comm, n + 1), numbers),
              HasSubstr("layouts differ"));
}

}  // namespace matrix_redistribute_test
}  // namespace nodewise::matrix
