#include "nodewise/io/byte_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

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
  explicit Stream(const std::string& path) : file(path), input(std::size_t{1} << 18) {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (::inflateInit2(&zlib, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~Stream() { ::inflateEnd(&zlib); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void refill() {
    const std::size_t got = file.read_at(offset, input);
    offset += static_cast<Offset>(got);
    zlib.next_in = reinterpret_cast<Bytef*>(input.data());
    zlib.avail_in = static_cast<uInt>(got);
  }

  InputFile file;
  std::vector<char> input;
  z_stream zlib = {};
  Offset offset = 0;
  bool between_members = false;
};

GzipReader::GzipReader(const std::string& path) : stream_(std::make_unique<Stream>(path)) {}

GzipReader::~GzipReader() = default;

Offset GzipReader::offset() const {
  return stream_->offset;
}

std::size_t GzipReader::read(std::span<char> into) {
  z_stream& zlib = stream_->zlib;
  const auto wanted = static_cast<uInt>(std::min<std::size_t>(into.size(), 1u << 30));
  zlib.next_out = reinterpret_cast<Bytef*>(into.data());
  zlib.avail_out = wanted;
  while (zlib.avail_out == wanted) {  // what was decompressed before an error is handed out first
    if (zlib.avail_in == 0) stream_->refill();
    if (zlib.avail_in == 0) {
      if (stream_->between_members) return 0;
      throw Error(ErrorCode::file_io, "the gzip data end too early");
    }
    if (stream_->between_members) {
      // As gzip does: another member may follow, anything else behind the last one is ignored.
      if (*zlib.next_in != 0x1f) return 0;
      ::inflateReset(&zlib);
      stream_->between_members = false;
    }
    const int status = ::inflate(&zlib, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      stream_->between_members = true;
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK && status != Z_BUF_ERROR && zlib.avail_out == wanted) {
      throw Error(ErrorCode::file_io,
                  std::string("the gzip data are corrupt: ") + (zlib.msg ? zlib.msg : "no text"));
    }
  }
  return wanted - zlib.avail_out;
}

}  // namespace nodewise::io
