// Compresses text as gzip does.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace nodewise::io {

/// One gzip member, in memory; nothing for no text. Local. The same text gives the same bytes.
class GzipWriter {
 public:
  GzipWriter();
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  void put(std::string_view text);
  /// The whole member; the writer is used up.
  std::string finish();

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace nodewise::io
