#include "nodewise/io/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "nodewise/io/collective.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

[[noreturn]] void fail(const std::string& path, const char* what, const char* cause) {
  throw Error(ErrorCode::file_io, fmt::format("{}: {}: {}", path, what, cause));
}

}  // namespace

OutputFile::OutputFile(std::shared_ptr<const mpi::Comm> comm, std::string path)
    : comm_(std::move(comm)), path_(std::move(path)) {
  std::optional<Error> error;
  std::string partial;
  if (comm_->is_root()) {
    error = mpi::caught([&] {
      replacement_.emplace(path_);
      descriptor_ = replacement_->take_descriptor();
      partial = replacement_->partial();
    });
  }
  share_error(*comm_, error, 0);
  partial = mpi::broadcast(*comm_, partial, 0);
  try {
    mpi::collectively(*comm_, [&] {
      if (comm_->is_root()) return;
      descriptor_ = ::open(partial.c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor_ < 0) fail(path_, "cannot be opened by every rank", std::strerror(errno));
    });
  } catch (...) {
    if (descriptor_ >= 0) ::close(descriptor_);
    throw;
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
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
  if (comm_->is_root()) error = mpi::caught([&] { replacement_->commit(); });
  share_error(*comm_, error, 0);
}

}  // namespace nodewise::io
