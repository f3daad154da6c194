#include "nodewise/io/gzip_writer.hpp"

#include <array>
#include <new>
#include <utility>

#include <zlib.h>

#include "nodewise/base/types.hpp"

namespace nodewise::io {

struct GzipWriter::Stream {
  Stream() {
    constexpr int gzip_format = 16 + MAX_WBITS;
    constexpr int memory_level = 8;  // zlib's own
    if (::deflateInit2(&zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_format, memory_level,
                       Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Stream() { ::deflateEnd(&zlib); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Compresses what has been handed in.
  void run(int flush) {
    do {
      zlib.next_out = reinterpret_cast<Bytef*>(piece.data());
      zlib.avail_out = static_cast<uInt>(piece.size());
      ::deflate(&zlib, flush);
      compressed.append(piece.data(), piece.size() - zlib.avail_out);
    } while (zlib.avail_out == 0);
  }

  z_stream zlib = {};
  std::array<char, 65536> piece{};
  std::string compressed;
  bool is_empty = true;
};

GzipWriter::GzipWriter() : stream_(std::make_unique<Stream>()) {}

GzipWriter::~GzipWriter() = default;

void GzipWriter::put(std::string_view text) {
  if (text.empty()) return;
  stream_->is_empty = false;
  // zlib's input is not const, but it is not written to.
  stream_->zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream_->zlib.avail_in = narrow<uInt>(text.size(), "text to compress:");
  stream_->run(Z_NO_FLUSH);
}

std::string GzipWriter::finish() {
  if (stream_->is_empty) return "";
  stream_->run(Z_FINISH);
  return std::move(stream_->compressed);
}

}  // namespace nodewise::io
