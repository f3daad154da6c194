// Assembly: rows made in place, and entries set and added from any rank.
#include <cstdint>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/matrix/assemble.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/row_arrays.hpp"

#include "collective_error.hpp"
#include "dist_matrix_support.hpp"
#include "support.hpp"

namespace nodewise::matrix {
namespace matrix_assemble_test {

using test::expect_equal;
using test::expect_invariants;
using test::expect_same_error;
using test::layouts_of;
using test::test_comm;
using test::Whole;

template <class T>
class Assembly : public testing::Test {};
using Values = testing::Types<double, float>;
TYPED_TEST_SUITE(Assembly, Values);

template <class T>
Whole<T> zero(GlobalIndex rows, GlobalIndex cols) {
  return {test::Dense<T>(rows, cols), test::Dense<int>(rows, cols)};
}

// What rank r puts where in a random assembly; every rank can compute it for all ranks.
struct Put {
  bool set;
  GlobalIndex row, col;
  int value;
};

std::vector<Put> puts_of(int rank, GlobalIndex rows, GlobalIndex cols, std::uint64_t seed) {
  std::vector<Put> puts;
  const auto r = static_cast<std::uint64_t>(rank);
  for (std::uint64_t k = 0; k < hash64(r, seed) % 120; ++k) {
    const std::uint64_t h = hash64(1000 * r + k, seed + 1);
    puts.push_back({h % 3 == 0, static_cast<GlobalIndex>(hash64(h, 1) % rows),
                    static_cast<GlobalIndex>(hash64(h, 2) % cols),
                    static_cast<int>(hash64(h, 3) % 9) - 4});
  }
  return puts;
}

TYPED_TEST(Assembly, RandomSetsAndAddsFromAllRanks) {
  using T = TypeParam;
  const auto comm = test_comm();
  constexpr GlobalIndex n = 13;
  constexpr GlobalIndex m = 9;
  std::uint64_t seed = 0;
  for (const Layout& rows : layouts_of(comm, n)) {
    for (const Layout& cols : layouts_of(comm, m)) {
      ++seed;
      Assembler<T> assembler(rows, cols);
      Whole<T> whole = zero<T>(n, m);
      GlobalIndex elsewhere = 0;
      GlobalIndex adds = 0;
      for (int r = 0; r < comm->size(); ++r) {
        for (const Put& put : puts_of(r, n, m, seed)) {
          elsewhere += rows.owner(put.row) != r ? 1 : 0;
          adds += put.set ? 0 : 1;
          if (put.set) {
            whole.values(put.row, put.col) = static_cast<T>(put.value);
            whole.pattern(put.row, put.col) = 1;
          }
        }
      }
      const GlobalIndex places_set = whole.pattern.sum();
      for (int r = 0; r < comm->size(); ++r) {
        for (const Put& put : puts_of(r, n, m, seed)) {
          if (put.set) continue;
          whole.values(put.row, put.col) += static_cast<T>(put.value);
          whole.pattern(put.row, put.col) = 1;
        }
      }
      for (const Put& put : puts_of(comm->rank(), n, m, seed)) {
        if (put.set) {
          assembler.set(put.row, put.col, static_cast<T>(put.value));
        } else {
          assembler.add(put.row, put.col, static_cast<T>(put.value));
        }
      }
      typename Assembler<T>::Statistics statistics;
      const DistMatrix<T> A = assembler.finish(&statistics);
      expect_equal(A, whole);
      EXPECT_EQ(statistics.sent_elsewhere, elsewhere);
      // Every add that did not make a new place was added to one.
      EXPECT_EQ(statistics.duplicates, adds - (whole.pattern.sum() - places_set));
    }
  }
}

TYPED_TEST(Assembly, HighestRankWinsAndItsLastValueStands) {
  const auto comm = test_comm();
  for (const Layout& layout : layouts_of(comm, 5)) {
    Assembler<TypeParam> assembler(layout, layout);
    const int rank = comm->rank();
    for (GlobalIndex i = 0; i < 5; ++i) {
      assembler.set(i, 4 - i, TypeParam{-1});
      if (rank >= i) assembler.set(i, i, static_cast<TypeParam>(100 * i + rank));
      assembler.set(i, 4 - i, static_cast<TypeParam>(rank + 1));
    }
    typename Assembler<TypeParam>::Statistics statistics{7, 7};
    const auto A = assembler.finish(&statistics);
    expect_invariants(A);
    EXPECT_EQ(statistics.duplicates, 0);  // overwritten, not added
    const int last = comm->size() - 1;
    test::for_each_entry(A, [&](GlobalIndex i, GlobalIndex j, TypeParam value) {
      if (i == j && i != 2 && last >= i) {
        EXPECT_EQ(value, static_cast<TypeParam>(100 * i + last));
      } else if (i + j == 4) {
        EXPECT_EQ(value, static_cast<TypeParam>(last + 1));
      } else {
        ADD_FAILURE() << "entry at " << i << ", " << j;
      }
    });
  }
}

TYPED_TEST(Assembly, SetTakesEffectBeforeAddWhateverTheOrder) {
  const auto comm = test_comm();
  const Layout layout = Layout::uniform(comm, 3);
  Assembler<TypeParam> assembler(layout, layout);
  assembler.add(2, 0, TypeParam{1});  // from all ranks
  if (comm->is_root()) assembler.set(2, 0, TypeParam{10});
  assembler.add(2, 0, TypeParam{2});
  typename Assembler<TypeParam>::Statistics statistics;
  const auto A = assembler.finish(&statistics);
  EXPECT_EQ(A.nnz_global(), 1);
  test::for_each_entry(A, [&](GlobalIndex, GlobalIndex, TypeParam value) {
    EXPECT_EQ(value, static_cast<TypeParam>(10 + 3 * comm->size()));
  });
  EXPECT_EQ(statistics.duplicates, 2 * comm->size());
}

TYPED_TEST(Assembly, EmptyAfterwardsAndUsableAgain) {
  const auto comm = test_comm();
  const Layout layout = Layout::uniform(comm, 6);
  Assembler<TypeParam> assembler(layout, layout);
  EXPECT_EQ(assembler.finish().nnz_global(), 0);
  assembler.reserve(10);
  assembler.add(3, 3, TypeParam{1});
  EXPECT_EQ(assembler.finish().nnz_global(), 1);
  assembler.set(5, 1, TypeParam{2});
  const auto A = assembler.finish();
  EXPECT_EQ(A.nnz_global(), 1);
  test::for_each_entry(A, [](GlobalIndex i, GlobalIndex j, TypeParam value) {
    EXPECT_EQ(i, 5);
    EXPECT_EQ(j, 1);
    EXPECT_EQ(value, 2);
  });
}

// The rows of one rank, given by all the others; an explicit zero is an entry.
TYPED_TEST(Assembly, AllRowsOnOneRank) {
  const auto comm = test_comm();
  for (const std::size_t kind : {1, 3}) {
    const Layout rows = layouts_of(comm, 4)[kind];
    const Layout cols = Layout::uniform(comm, comm->size());
    Assembler<TypeParam> assembler(rows, cols);
    for (GlobalIndex i = 0; i < 4; ++i) assembler.add(i, comm->rank(), TypeParam{0});
    typename Assembler<TypeParam>::Statistics statistics;
    const auto A = assembler.finish(&statistics);
    Whole<TypeParam> whole = zero<TypeParam>(4, comm->size());
    whole.pattern.fill(1);
    expect_equal(A, whole);
    EXPECT_EQ(statistics.sent_elsewhere, 4 * (comm->size() - 1));
    EXPECT_EQ(statistics.duplicates, 0);
  }
}

TYPED_TEST(Assembly, MoreRanksThanRowsAndNoRowsAtAll) {
  const auto comm = test_comm();
  for (const GlobalIndex n : {0, 1, 2}) {
    for (const Layout& layout : layouts_of(comm, n)) {
      Assembler<TypeParam> assembler(layout, layout);
      for (GlobalIndex i = 0; i < n; ++i) assembler.add(i, n - 1 - i, TypeParam{1});
      const auto A = assembler.finish();
      expect_invariants(A);
      EXPECT_EQ(A.nnz_global(), n);
      test::for_each_entry(A, [&](GlobalIndex, GlobalIndex, TypeParam value) {
        EXPECT_EQ(value, static_cast<TypeParam>(comm->size()));
      });
    }
  }
}

TYPED_TEST(Assembly, IndicesOutsideAreRefusedByFinish) {
  const auto comm = test_comm();
  std::vector<GlobalIndex> starts(static_cast<std::size_t>(comm->size()) + 1, 13);
  starts.front() = 10;
  const Layout rows(comm, starts);
  const Layout cols = Layout::uniform(comm, 5);
  Assembler<TypeParam> assembler(rows, cols);
  const auto refused = [&](GlobalIndex i, GlobalIndex j) {
    for (const bool set : {false, true}) {
      set ? assembler.set(i, j, TypeParam{1}) : assembler.add(i, j, TypeParam{1});
      const auto text = expect_same_error(*comm, ErrorCode::invalid_argument,
                                          [&] { static_cast<void>(assembler.finish()); });
      EXPECT_NE(text.find(std::to_string(i)), std::string::npos) << text;
    }
  };
  refused(9, 0);
  refused(13, 0);
  refused(-1, 0);
  refused(10, 5);
  refused(10, -1);
  refused(12, GlobalIndex{1} << 40);
  EXPECT_EQ(assembler.finish().nnz_global(), 0);  // nothing of it was kept
}

TEST(MatrixFromRows, BadColumnsOnOneRankFailOnAll) {
  const auto comm = test_comm();
  const Layout layout = Layout::uniform(comm, 2 * comm->size());
  const GlobalIndex n = layout.n_global();
  for (const GlobalIndex column : {GlobalIndex{-1}, n, GlobalIndex{1} << 50}) {
    const auto text = expect_same_error(*comm, ErrorCode::invalid_argument, [&] {
      matrix_from_rows<double>(
          layout, layout, [&](GlobalIndex i, auto&& emit) { emit(i == n - 1 ? column : i, 1.0); });
    });
    EXPECT_NE(text.find("row " + std::to_string(n - 1)), std::string::npos) << text;
    EXPECT_NE(text.find(std::to_string(column)), std::string::npos) << text;
  }
}

TEST(Assembler, BadIndicesOnOneRankFailOnAllInFinish) {
  const auto comm = test_comm();
  const Layout layout = Layout::uniform(comm, 2 * comm->size());
  const GlobalIndex n = layout.n_global();
  const bool is_last = comm->rank() == comm->size() - 1;
  const std::string range = " is outside [0, " + std::to_string(n) + ")";
  Assembler<double> assembler(layout, layout);
  const auto finish = [&] {
    return expect_same_error(*comm, ErrorCode::invalid_argument, [&] { assembler.finish(); });
  };
  if (is_last) assembler.add(n, 0, 1.0);
  if (is_last) assembler.set(0, n, 1.0);  // the first mistake is the one that is told
  assembler.add(0, 0, 1.0);
  EXPECT_THAT(finish(),
              testing::HasSubstr("row " + std::to_string(n) + ", counted from 0," + range));
  if (is_last) assembler.set(1, -1, 1.0);
  EXPECT_THAT(finish(), testing::HasSubstr("row 1, counted from 0: column -1" + range));
  // What was gathered before a failure is gone with it.
  EXPECT_EQ(assembler.finish().nnz_global(), 0);
}

TEST(MatrixFromRows, AnExceptionOfTheCallersFailsOnAll) {
  const auto comm = test_comm();
  const Layout layout = Layout::uniform(comm, comm->size());
  expect_same_error(*comm, ErrorCode::out_of_memory, [&] {
    matrix_from_rows<double>(layout, layout, [&](GlobalIndex i, auto&&) {
      if (i == 0) throw std::bad_alloc();
    });
  });
}

TEST(MatrixFromRows, RepeatedColumnsAddUp) {
  const auto comm = test_comm();
  for (const Layout& layout : layouts_of(comm, 6)) {
    const auto A = matrix_from_rows<double>(layout, layout, [](GlobalIndex i, auto&& emit) {
      for (int k = 0; k < 30; ++k) emit((i + k) % 6, 1.0);
    });
    Whole<double> whole = zero<double>(6, 6);
    whole.values.fill(5);
    whole.pattern.fill(1);
    expect_equal(A, whole);
  }
}

// Rows of seven entries from i on, the last of which repeats the first, shuffled, in arrays.
struct Arrays {
  explicit Arrays(const Layout& layout) {
    for (GlobalIndex i = layout.begin(); i < layout.end(); ++i) {
      for (const int k : {4, 0, 2, 5, 1, 3, 0}) {
        cols.push_back(static_cast<std::int32_t>((i + k) % layout.n_global()));
        vals.push_back(static_cast<float>(i + k));
      }
      ends.push_back(static_cast<std::int32_t>(cols.size()));
    }
  }
  RowArrays<std::int32_t, float> view() const { return {ends, cols, vals}; }

  std::vector<std::int32_t> ends{0}, cols;
  std::vector<float> vals;
};

TEST(MatrixFromArrays, IsTheMatrixFromTheSameRows) {
  const auto comm = test_comm();
  const GlobalIndex n = 9;
  for (const Layout& layout : layouts_of(comm, n)) {
    Whole<double> whole = zero<double>(n, n);
    for (GlobalIndex i = 0; i < n; ++i) {
      for (const int k : {0, 0, 1, 2, 3, 4, 5}) {
        whole.values(i, (i + k) % n) += static_cast<double>(i + k);
        whole.pattern(i, (i + k) % n) = 1;
      }
    }
    const Arrays rows(layout);
    const auto A = matrix_from_arrays(layout, layout, rows.view());
    expect_invariants(A);
    expect_equal(A, whole);
  }
}

// Many rows, of which every third is empty: they are looked at some at a time. Where one row does
// not ascend, or has a column twice, it has to be seen wherever it lies.
TEST(MatrixFromArrays, SeesTheOneRowThatDoesNotAscend) {
  const auto comm = test_comm();
  const GlobalIndex n = 700;
  for (const Layout& layout :
       {Layout::uniform(comm, n), Layout::from_local_size(comm, comm->is_root() ? n : 0)}) {
    for (const GlobalIndex odd : {-1, 1, 256, 257, 511, 698}) {
      for (const std::int64_t step : {-1, 0}) {
        const auto length = [](GlobalIndex i) { return i % 3 == 0 ? 0 : i % 5 + 2; };
        const auto column = [&](GlobalIndex i, GlobalIndex k) {
          return (i == odd ? k * step + 9 : k) + i % 400;
        };
        std::vector<std::int64_t> ends{0}, cols;
        std::vector<double> vals;
        for (GlobalIndex i = layout.begin(); i < layout.end(); ++i) {
          for (GlobalIndex k = 0; k < length(i); ++k) {
            cols.push_back(column(i, k));
            vals.push_back(static_cast<double>(i + k));
          }
          ends.push_back(static_cast<std::int64_t>(cols.size()));
        }
        const auto A =
            matrix_from_arrays(layout, layout, RowArrays<std::int64_t, double>{ends, cols, vals});
        const auto B = matrix_from_rows<double>(layout, layout, [&](GlobalIndex i, auto&& emit) {
          for (GlobalIndex k = 0; k < length(i); ++k) {
            emit(column(i, k), static_cast<double>(i + k));
          }
        });
        expect_invariants(A);
        EXPECT_EQ(A.on().row_ptr, B.on().row_ptr);
        EXPECT_EQ(A.on().cols, B.on().cols);
        EXPECT_EQ(A.on().vals, B.on().vals);
        EXPECT_EQ(A.off().vals, B.off().vals);
      }
    }
  }
}

TEST(MatrixFromArrays, BadColumnsOnOneRankFailOnAll) {
  const auto comm = test_comm();
  for (const Layout& layout : layouts_of(comm, 8)) {
    for (const std::int32_t column : {-1, 8, std::numeric_limits<std::int32_t>::min()}) {
      Arrays rows(layout);
      if (layout.owns(7)) rows.cols.back() = column;
      const auto text = expect_same_error(*comm, ErrorCode::invalid_argument,
                                          [&] { matrix_from_arrays(layout, layout, rows.view()); });
      EXPECT_THAT(text, testing::HasSubstr("row 7"));
      EXPECT_THAT(text, testing::HasSubstr("column " + std::to_string(column)));
    }
  }
}

// Emit is the caller's view when it needs a fixed type: a function that is no template.
TEST(MatrixFromRows, TakesAFunctionOfFixedType) {
  const auto comm = test_comm();
  const Layout layout = Layout::uniform(comm, 4);
  const std::function<void(GlobalIndex, const Emit<float>&)> row =
      [](GlobalIndex i, const Emit<float>& emit) { emit(3 - i, 2.0F); };
  const auto A = matrix_from_rows<float>(layout, layout, row);
  EXPECT_EQ(A.nnz_global(), 4);
  expect_invariants(A);
}

}  // namespace matrix_assemble_test
}  // namespace nodewise::matrix
