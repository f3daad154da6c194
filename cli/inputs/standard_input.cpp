#include "cli/inputs/standard_input.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "nodewise/io/replacement.hpp"

#include "cli/agreed.hpp"
#include "cli/exit_code.hpp"

namespace nodewise::cli {

namespace {

[[noreturn]] void fail(const char* cause) {
  throw Failure(ExitCode::input_file, fmt::format("standard input: {}", cause));
}

void write_all(int descriptor, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t put = ::write(descriptor, bytes, count);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0)
      fail(fmt::format("no room for it in {}: {}", std::filesystem::temp_directory_path().string(),
                       std::strerror(errno))
               .c_str());
    bytes += put;
    count -= static_cast<std::size_t>(put);
  }
}

/// Until its end.
void copy_standard_input(int descriptor) {
  std::vector<char> piece(std::size_t{1} << 20);
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got == 0) return;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(std::strerror(errno));
    write_all(descriptor, piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

SpooledInput::SpooledInput(const mpi::Comm& comm) {
  if (comm.topology().n_nodes() > 1) {
    throw Failure(
        ExitCode::usage,
        "the ranks are on several nodes: give the matrix as a file that all can read, not "
        "as standard input");
  }
  on_root(comm, [&] { spool(); });
  path_ = mpi::broadcast(comm, path_, 0);
}

void SpooledInput::spool() {
  std::string name = (std::filesystem::temp_directory_path() / "nodewise-input-XXXXXX").string();
  const int descriptor = ::mkstemp(name.data());
  if (descriptor < 0) fail(std::strerror(errno));
  path_ = name;
  is_owner_ = true;
  io::remember_unfinished(path_);
  try {
    copy_standard_input(descriptor);
  } catch (...) {
    ::close(descriptor);
    remove();
    throw;
  }
  ::close(descriptor);
}

SpooledInput::~SpooledInput() {
  remove();
}

void SpooledInput::remove() {
  if (!is_owner_) return;
  ::unlink(path_.c_str());
  io::forget_unfinished(path_);
  is_owner_ = false;
}

}  // namespace nodewise::cli
