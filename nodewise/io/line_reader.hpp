// Cuts a stream of bytes into lines, with bounded memory.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "nodewise/base/types.hpp"

namespace nodewise::io {

/// A line may have this many bytes, its end not counted; longer ones are an error.
inline constexpr std::size_t max_line_bytes = 65536;

/// The bytes that are read from a file at once.
inline constexpr std::size_t default_piece_bytes = std::size_t{4} << 20;

/// Splits input into lines, which end with a line feed; a carriage return before it stays in the
/// line (parsers treat it as a blank). The last line needs no end. Holds piece_bytes +
/// max_line_bytes. Local.
class LineReader {
 public:
  /// Fills the span from its beginning and returns how many bytes it wrote; 0 at the end. It may
  /// write fewer than asked.
  using Source = std::function<std::size_t(std::span<char>)>;

  explicit LineReader(Source source, std::size_t piece_bytes = default_piece_bytes);

  /// The next line without its end, valid until the next call; false at the end of the source.
  /// Throws file_format where the line is longer than max_line_bytes, what the source throws, too;
  /// lines() is then the number of the offending line.
  bool next(std::string_view& line);

  /// Returns how many lines were returned, which is also the number of the last one, counted from
  /// 1.
  std::int64_t lines() const { return lines_; }
  /// Bytes of the source up to the end of the last line returned, its '\n' included.
  Offset offset() const { return offset_; }

 private:
  bool refill();
  std::string_view take(std::size_t length, std::size_t terminator);

  Source source_;
  std::size_t piece_bytes_;
  std::vector<char> buffer_;
  std::size_t head_ = 0;  // the unread bytes are buffer_[head_, tail_)
  std::size_t tail_ = 0;
  std::int64_t lines_ = 0;
  Offset offset_ = 0;
};

}  // namespace nodewise::io
