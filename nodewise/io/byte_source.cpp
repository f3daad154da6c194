#include "nodewise/io/byte_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

namespace nodewise::io {

namespace {

[[noreturn]] void cannot_open(const std::string& path, const std::string& cause) {
  throw Error(ErrorCode::file_not_found, path + ": cannot be opened: " + cause);
}

}  // namespace

InputFile::InputFile(const std::string& path) {
  struct stat about = {};
  // Asked first: opening a pipe would wait for its writer.
  if (::stat(path.c_str(), &about) != 0) cannot_open(path, std::strerror(errno));
  if (S_ISDIR(about.st_mode)) cannot_open(path, "it is a folder");
  if (!S_ISREG(about.st_mode)) cannot_open(path, "it is not a regular file");
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) cannot_open(path, std::strerror(errno));
  size_ = about.st_size;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t InputFile::read_at(Offset offset, std::span<char> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = ::pread(descriptor_, into.data() + done, into.size() - done,
                                offset + static_cast<Offset>(done));
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw Error(ErrorCode::file_io, std::string("reading failed: ") + std::strerror(errno));
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void InputFile::read_all_at(Offset offset, std::span<char> into) const {
  if (read_at(offset, into) < into.size()) {
    throw Error(ErrorCode::file_io, "the file ends too early");
  }
}

bool InputFile::is_gzip() const {
  unsigned char magic[2] = {0, 0};
  const std::size_t got = read_at(0, {reinterpret_cast<char*>(magic), 2});
  return got == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

struct GzipReader::Stream {
  gzFile file = nullptr;
};

GzipReader::GzipReader(const std::string& path) : stream_(std::make_unique<Stream>()) {
  errno = 0;
  stream_->file = ::gzopen(path.c_str(), "rb");
  if (!stream_->file) {
    if (errno == 0) throw std::bad_alloc();
    cannot_open(path, std::strerror(errno));
  }
  ::gzbuffer(stream_->file, 1u << 18);
}

GzipReader::~GzipReader() {
  if (stream_->file) ::gzclose(stream_->file);
}

std::size_t GzipReader::read(std::span<char> into) {
  const auto most = static_cast<unsigned>(std::min<std::size_t>(into.size(), 1u << 30));
  const int got = ::gzread(stream_->file, into.data(), most);
  if (got > 0) return static_cast<std::size_t>(got);
  int status = Z_OK;
  const char* text = ::gzerror(stream_->file, &status);
  if (got == 0 && status == Z_OK) return 0;
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  const bool truncated = status == Z_BUF_ERROR;
  throw Error(ErrorCode::file_io, truncated ? "the gzip data end too early"
                                            : std::string("the gzip data are corrupt: ") + text);
}

}  // namespace nodewise::io
