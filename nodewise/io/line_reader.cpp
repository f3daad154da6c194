#include "nodewise/io/line_reader.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace nodewise::io {

LineReader::LineReader(Source source, std::size_t piece_bytes)
    : source_(std::move(source)),
      piece_bytes_(std::max<std::size_t>(piece_bytes, 1)),
      buffer_(piece_bytes_ + max_line_bytes) {}

bool LineReader::refill() {
  std::memmove(buffer_.data(), buffer_.data() + head_, tail_ - head_);
  tail_ -= head_;
  head_ = 0;
  const std::size_t got = source_(std::span(buffer_).subspan(tail_, piece_bytes_));
  tail_ += got;
  return got > 0;
}

std::string_view LineReader::take(std::size_t length, std::size_t terminator) {
  ++lines_;
  if (length > max_line_bytes) {
    throw Error(ErrorCode::file_format,
                "the line is longer than " + std::to_string(max_line_bytes) + " bytes");
  }
  const std::string_view line(buffer_.data() + head_, length);
  head_ += length + terminator;
  offset_ += static_cast<Offset>(length + terminator);
  return line;
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  while (true) {
    const char* begin = buffer_.data() + head_;
    const std::size_t held = tail_ - head_;
    if (const void* end = std::memchr(begin + searched, '\n', held - searched)) {
      line = take(static_cast<std::size_t>(static_cast<const char*>(end) - begin), 1);
      return true;
    }
    if (held > max_line_bytes) take(held, 0);  // throws
    searched = held;
    if (!refill()) {
      if (held == 0) return false;
      line = take(held, 0);
      return true;
    }
  }
}

}  // namespace nodewise::io
