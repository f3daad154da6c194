#include "nodewise/io/output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "nodewise/io/collective.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

[[noreturn]] void fail(const std::string& path, const char* what, const char* cause) {
  throw Error(ErrorCode::file_io, fmt::format("{}: {}: {}", path, what, cause));
}

/// The rename itself must reach the disk, too. Some file systems refuse; nothing is lost then.
void sync_folder(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

OutputFile::OutputFile(std::shared_ptr<const mpi::Comm> comm, std::string path)
    : comm_(std::move(comm)), path_(std::move(path)) {
  std::optional<Error> error;
  if (comm_->is_root()) error = mpi::caught([&] { create_on_root(); });
  share_error(*comm_, error, 0);
  partial_ = mpi::broadcast(*comm_, partial_, 0);
  try {
    mpi::collectively(*comm_, [&] {
      if (comm_->is_root()) return;
      descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor_ < 0) fail(path_, "cannot be opened by every rank", std::strerror(errno));
    });
  } catch (...) {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (remove_) ::unlink(partial_.c_str());
    throw;
  }
}

void OutputFile::create_on_root() {
  struct stat about = {};
  if (::stat(path_.c_str(), &about) == 0 && !S_ISREG(about.st_mode)) {
    fail(path_, "cannot be written", "it is not a regular file");
  }
  for (int attempt = 0; attempt < 100; ++attempt) {
    partial_ = fmt::format("{}.{}-{}.partial", path_, ::getpid(), attempt);
    descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) {
      remove_ = true;
      return;
    }
    if (errno != EEXIST) break;
  }
  fail(path_, "cannot be created", std::strerror(errno));
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (remove_) ::unlink(partial_.c_str());
}

void OutputFile::write_at(Offset offset, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail(path_, "writing failed", put < 0 ? std::strerror(errno) : "nothing written");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += put;
  }
}

void OutputFile::close_synced() {
  const bool synced = ::fsync(descriptor_) == 0 || errno == EINVAL;  // EINVAL: cannot be synced
  const int sync_error = errno;
  const bool closed = ::close(descriptor_) == 0;
  const int close_error = errno;
  descriptor_ = -1;
  if (!synced) fail(path_, "writing failed", std::strerror(sync_error));
  if (!closed) fail(path_, "writing failed", std::strerror(close_error));
}

void OutputFile::commit() {
  mpi::collectively(*comm_, [&] { close_synced(); });
  std::optional<Error> error;
  if (comm_->is_root()) {
    error = mpi::caught([&] {
      if (std::rename(partial_.c_str(), path_.c_str()) != 0) {
        fail(path_, "cannot be written", std::strerror(errno));
      }
      remove_ = false;
      sync_folder(path_);
    });
  }
  share_error(*comm_, error, 0);
}

}  // namespace nodewise::io
