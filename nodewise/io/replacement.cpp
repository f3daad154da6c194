#include "nodewise/io/replacement.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"

namespace nodewise::io {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_replace(const std::string& path, const char* what, const char* cause) {
  throw Error(ErrorCode::file_io, fmt::format("{}: {}: {}", path, what, cause));
}

/// A name in memory that a signal handler may read at any time.
struct Slot {
  std::atomic<bool> used = false;
  std::array<char, 4096> path{};
};

std::array<Slot, 4>& slots() {
  static std::array<Slot, 4> all;
  return all;
}

/// What a chain of symbolic links ends at, whether that exists or not.
std::string target_of(const std::string& path) {
  constexpr int longest_chain = 40;
  fs::path target = path;
  std::error_code ignored;
  for (int k = 0; fs::is_symlink(fs::symlink_status(target, ignored)); ++k) {
    if (k == longest_chain)
      fail_to_replace(path, "cannot be written", "its symbolic links go in a circle");
    target = target.parent_path() / fs::read_symlink(target, ignored);
  }
  return target.string();
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

/// Also for the superuser, to whom every file is writable: who took all permissions to write away
/// wants to keep the file.
bool is_read_only(const std::string& path, const struct stat& about) {
  return (about.st_mode & 0222) == 0 || (::access(path.c_str(), W_OK) != 0 && errno == EACCES);
}

}  // namespace

void remember_unfinished(const std::string& path) {
  for (Slot& slot : slots()) {
    if (slot.used || path.size() >= slot.path.size()) continue;
    std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
    slot.used = true;
    return;
  }
}

void forget_unfinished(const std::string& path) {
  for (Slot& slot : slots()) {
    if (slot.used && path == slot.path.data()) slot.used = false;
  }
}

void remove_unfinished() noexcept {
  for (Slot& slot : slots()) {
    if (slot.used) ::unlink(slot.path.data());
  }
}

Replacement::Replacement(const std::string& path) : path_(path), target_(target_of(path)) {
  struct stat about = {};
  const bool exists = ::stat(target_.c_str(), &about) == 0;
  if (exists && S_ISDIR(about.st_mode))
    fail_to_replace(path, "cannot be written", "it is a folder");
  // Renaming onto a device would put a file in its place.
  if (exists && !S_ISREG(about.st_mode)) {
    fail_to_replace(path, "cannot be written", "it is not a regular file");
  }
  if (exists && is_read_only(target_, about))
    fail_to_replace(path, "cannot be written", "it is read-only");
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    partial_ = fmt::format("{}.{}-{}.partial", target_, ::getpid(), attempt);
    remember_unfinished(partial_);
    descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) break;
    const int error = errno;
    forget_unfinished(partial_);
    if (error != EEXIST) fail_to_replace(path, "cannot be created", std::strerror(error));
  }
  if (descriptor_ < 0) fail_to_replace(path, "cannot be created", std::strerror(EEXIST));
  if (!exists) return;
  // Only the superuser may give files away, and changing the owner resets bits of the mode.
  if (::fchown(descriptor_, about.st_uid, about.st_gid) != 0) errno = 0;
  ::fchmod(descriptor_, about.st_mode & 07777);
}

Replacement::~Replacement() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (partial_.empty()) return;
  ::unlink(partial_.c_str());
  forget_unfinished(partial_);
}

int Replacement::take_descriptor() {
  return std::exchange(descriptor_, -1);
}

void Replacement::commit() {
  if (std::rename(partial_.c_str(), target_.c_str()) != 0) {
    fail_to_replace(path_, "cannot be written", std::strerror(errno));
  }
  forget_unfinished(partial_);
  partial_.clear();
  sync_folder(target_);
}

void require_replaceable(const std::string& path) {
  const Replacement probe(path);
}

void write_text(const std::string& path, std::string_view text) {
  Replacement file(path);
  std::FILE* stream = ::fdopen(file.take_descriptor(), "wb");
  if (stream == nullptr) fail_to_replace(path, "cannot be written", std::strerror(errno));
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  // fclose reports what a full disk refused of the buffered rest.
  const bool closed = std::fclose(stream) == 0;
  if (!written || !closed) fail_to_replace(path, "cannot be written", std::strerror(errno));
  file.commit();
}

}  // namespace nodewise::io
