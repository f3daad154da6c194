#include "nodewise/io/spooled_input.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "nodewise/io/collective.hpp"
#include "nodewise/io/replacement.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

[[noreturn]] void fail_spooling(const std::string& cause) {
  throw Error(ErrorCode::file_io, cause);
}

void write_whole_piece(int descriptor, const char* bytes, std::size_t count,
                       const std::string& folder) {
  while (count > 0) {
    const ssize_t put = ::write(descriptor, bytes, count);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      fail_spooling(fmt::format("no room for it in {}: {}", folder, std::strerror(errno)));
    }
    bytes += put;
    count -= static_cast<std::size_t>(put);
  }
}

/// Until the end of the source.
void copy_stream(int source, int target, const std::string& folder) {
  std::vector<char> piece(std::size_t{1} << 20);
  for (;;) {
    const ssize_t got = ::read(source, piece.data(), piece.size());
    if (got == 0) return;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_spooling(std::strerror(errno));
    write_whole_piece(target, piece.data(), static_cast<std::size_t>(got), folder);
  }
}

}  // namespace

SpooledInput::SpooledInput(const mpi::Comm& comm, int descriptor, const std::string& folder,
                           const std::string& title) {
  std::optional<Error> error;
  if (comm.is_root()) error = mpi::caught([&] { spool(descriptor, folder); });
  if (error) error = Error(error->code(), title + ": " + error->what());
  share_error(comm, error, 0);
  path_ = mpi::broadcast(comm, path_, 0);
}

void SpooledInput::spool(int descriptor, const std::string& folder) {
  if (folder.empty()) fail_spooling("there is no folder for temporary files");
  std::string name = folder + "/nodewise-input-XXXXXX";
  const int target = ::mkstemp(name.data());
  if (target < 0) fail_spooling(std::strerror(errno));
  path_ = name;
  is_owner_ = true;
  remember_unfinished(path_);
  try {
    copy_stream(descriptor, target, folder);
  } catch (...) {
    ::close(target);
    remove();
    throw;
  }
  ::close(target);
}

SpooledInput::~SpooledInput() {
  remove();
}

void SpooledInput::remove() {
  if (!is_owner_) return;
  ::unlink(path_.c_str());
  forget_unfinished(path_);
  is_owner_ = false;
}

}  // namespace nodewise::io
