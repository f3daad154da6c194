// Checks that a collective function fails in the same way on every rank.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::test {

/// Local. The Error that `work` throws, if any.
template <class Work>
std::optional<Error> error_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// Collective. Expects `work` to throw the Error of the same code and text on every rank, and
/// returns the text.
template <class Work>
std::string expect_same_error(const mpi::Comm& comm, ErrorCode code, Work&& work) {
  const std::optional<Error> error = error_of(std::forward<Work>(work));
  EXPECT_TRUE(error.has_value()) << "no error on rank " << comm.rank();
  const std::string text = error ? error->what() : "";
  if (error) {
    EXPECT_EQ(error->code(), code) << text;
  }
  const auto print = static_cast<std::int64_t>(std::hash<std::string>{}(text) >> 1);
  EXPECT_EQ(mpi::min(comm, print), mpi::max(comm, print)) << text;
  return text;
}

}  // namespace nodewise::test
