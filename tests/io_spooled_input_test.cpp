// What one rank reads from a pipe is there for all.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/io/spooled_input.hpp"

#include "collective_error.hpp"
#include "support.hpp"

namespace nodewise::test {
namespace io_spooled_input_test {

/// The end of a pipe with this text, which fits into it.
int pipe_with(const std::string& text) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe(ends), 0);
  EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  return ends[0];
}

std::string temporary_folder() {
  return std::filesystem::temp_directory_path().string();
}

TEST(SpooledInput, IsAFileForAllUntilItGoes) {
  const mpi::Comm& comm = *test_comm();
  const std::string text = "some text\nin two lines\n";
  const int end = pipe_with(text);
  auto spooled = std::make_unique<io::SpooledInput>(comm, end, temporary_folder(), "the pipe");
  std::ifstream file(spooled->path());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
  const std::string path = spooled->path();
  mpi::min(comm, 0);  // all have read
  spooled.reset();
  mpi::min(comm, 0);
  EXPECT_FALSE(std::filesystem::exists(path));
  ::close(end);
}

TEST(SpooledInput, FailsOnAllRanks) {
  const mpi::Comm& comm = *test_comm();
  const auto spool = [&](int descriptor, const std::string& folder) {
    return expect_same_error(comm, ErrorCode::file_io, [&] {
      const io::SpooledInput spooled(comm, descriptor, folder, "the pipe");
    });
  };
  EXPECT_THAT(spool(-1, temporary_folder()), testing::StartsWith("the pipe: "));
  EXPECT_THAT(spool(0, "/no/such/folder"), testing::StartsWith("the pipe: "));
}

}  // namespace io_spooled_input_test
}  // namespace nodewise::test
