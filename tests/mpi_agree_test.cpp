// An error on some ranks becomes the same error on all.
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/mpi/agree.hpp"

#include "support.hpp"

namespace nodewise::test {
namespace mpi_agree_test {

/// Collective. The error that agree() throws on this rank when each rank brings bring(rank).
template <class Bring>
std::optional<Error> agreed(Bring bring) {
  const std::optional<Error> local = bring(test_comm()->rank());
  return mpi::caught([&] { mpi::agree(*test_comm(), local); });
}

void expect(const std::optional<Error>& error, ErrorCode code, const std::string& text) {
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), code);
  EXPECT_EQ(error->what(), text);
}

TEST(Agree, NobodyFails) {
  EXPECT_FALSE(agreed([](int) { return std::optional<Error>(); }).has_value());
}

TEST(Agree, AnyOneRankFails) {
  for (int bad = 0; bad < test_comm()->size(); ++bad) {
    const auto error = agreed([bad](int rank) {
      return rank == bad ? std::optional(Error(ErrorCode::file_format, "line 7")) : std::nullopt;
    });
    // On one rank alone "every rank fails with the same text".
    const std::string where = test_comm()->size() == 1 ? "" : "rank " + std::to_string(bad) + ": ";
    expect(error, ErrorCode::file_format, where + "line 7");
  }
}

TEST(Agree, AllRanksFailAlike) {
  const auto error =
      agreed([](int) { return std::optional(Error(ErrorCode::file_not_found, "no such file")); });
  expect(error, ErrorCode::file_not_found, "no such file");
}

TEST(Agree, AllRanksFailDifferently) {
  const auto error = agreed([](int rank) {
    return std::optional(Error(rank == 0 ? ErrorCode::file_io : ErrorCode::internal,
                               "cause " + std::to_string(rank)));
  });
  const std::string where = test_comm()->size() == 1 ? "" : "rank 0: ";
  expect(error, ErrorCode::file_io, where + "cause 0");
}

TEST(Agree, TheLowestFailingRankSpeaks) {
  const int p = test_comm()->size();
  const auto error = agreed([](int rank) {
    return rank > 0 ? std::optional(Error(ErrorCode::mpi, "at " + std::to_string(rank)))
                    : std::nullopt;
  });
  EXPECT_EQ(error.has_value(), p > 1);
  if (p > 1) expect(error, ErrorCode::mpi, "rank 1: at 1");
}

TEST(Agree, LongAndEmptyTexts) {
  const std::string text(50000, 'y');
  expect(agreed([&](int) { return std::optional(Error(ErrorCode::internal, text)); }),
         ErrorCode::internal, text);
  expect(agreed([&](int) { return std::optional(Error(ErrorCode::internal, "")); }),
         ErrorCode::internal, "");
}

TEST(Agree, SumsOfManyNumbersComeWithIt) {
  const mpi::Comm& comm = *test_comm();
  std::vector<double> mine;
  for (int k = 0; k < 20; ++k) mine.push_back(comm.rank() + 0.25 * k);
  std::vector<double> sums = mine;
  mpi::agree_on_sums(comm, std::nullopt, std::span(sums));
  const int p = comm.size();
  for (int k = 0; k < 20; ++k) {
    EXPECT_EQ(sums[static_cast<std::size_t>(k)], p * (p - 1) / 2 + 0.25 * k * p);
  }
  for (int bad = 0; bad < p; ++bad) {
    sums = mine;
    const std::optional<Error> local =
        comm.rank() == bad ? std::optional(Error(ErrorCode::internal, "no")) : std::nullopt;
    const auto error = mpi::caught([&] { mpi::agree_on_sums(comm, local, std::span(sums)); });
    expect(error, ErrorCode::internal, p == 1 ? "no" : "rank " + std::to_string(bad) + ": no");
    EXPECT_EQ(sums, mine);
  }
}

TEST(Collectively, ReturnsEachRanksOwnResult) {
  const mpi::Comm& comm = *test_comm();
  EXPECT_EQ(mpi::collectively(comm, [&] { return comm.rank() * 2; }), comm.rank() * 2);
  int side = 0;
  mpi::collectively(comm, [&] { side = 1; });
  EXPECT_EQ(side, 1);
}

TEST(Collectively, OtherExceptionsBecomeErrors) {
  const mpi::Comm& comm = *test_comm();
  const auto code_of = [&](auto thrower) {
    const int last = comm.size() - 1;
    const auto error = mpi::caught([&] {
      mpi::collectively(comm, [&] {
        if (comm.rank() == last) thrower();
      });
    });
    return error ? error->code() : ErrorCode{};
  };
  EXPECT_EQ(code_of([] { throw std::bad_alloc(); }), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of([] { throw std::length_error("vector"); }), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of([] { throw std::runtime_error("x"); }), ErrorCode::internal);
  EXPECT_EQ(code_of([] { throw Error(ErrorCode::index_overflow, "x"); }),
            ErrorCode::index_overflow);
}

// After an error the communicator is as good as before: no message is left over.
TEST(Collectively, TheCommunicatorSurvives) {
  const mpi::Comm& comm = *test_comm();
  for (int round = 0; round < 20; ++round) {
    const auto error = mpi::caught([&] {
      mpi::collectively(comm, [&] {
        if (comm.rank() == round % comm.size()) throw Error(ErrorCode::internal, "round");
      });
    });
    EXPECT_TRUE(error.has_value());
    EXPECT_EQ(mpi::sum(comm, 1), comm.size());
  }
}

}  // namespace mpi_agree_test
}  // namespace nodewise::test
