// Bytes of an input file: by offset from a plain file, in sequence from a gzip one.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "nodewise/base/types.hpp"

namespace nodewise::io {

/// A regular file open for reading at any offset. Local; owns the descriptor. Errors met while
/// reading do not name the file: the caller knows more, such as the line.
class InputFile {
 public:
  /// Throws file_not_found, naming the path and the cause: missing, not permitted, a folder.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Bytes in the file when it was opened.
  Offset size() const { return size_; }
  /// Reads at `offset` until the span is full or the file ends; returns the bytes read. Throws
  /// file_io.
  std::size_t read_at(Offset offset, std::span<char> into) const;
  /// The same, but throws file_io where the file ends before the span is full.
  void read_all_at(Offset offset, std::span<char> into) const;
  /// Whether the file begins as gzip files do.
  bool is_gzip() const;

 private:
  int descriptor_ = -1;
  Offset size_ = 0;
};

/// Decompresses a gzip file from beginning to end. Local.
class GzipReader {
 public:
  /// Throws file_not_found.
  explicit GzipReader(const std::string& path);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// The next bytes; 0 at the end. Throws file_io where the data are corrupt or end too early.
  std::size_t read(std::span<char> into);
  /// Bytes of the compressed file that have been read.
  Offset offset() const;

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace nodewise::io
