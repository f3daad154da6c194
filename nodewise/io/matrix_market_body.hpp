// Hands the entry lines of a Matrix Market file to the ranks, in the order of the file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nodewise/io/byte_source.hpp"
#include "nodewise/io/matrix_market_parse.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::io {

class EntryLines;

/// A Matrix Market file, plain or gzip (told by its content), open on all ranks.
class MarketFile {
 public:
  using OnEntry = std::function<void(std::string_view line)>;

  /// Collective. Rank 0 reads the header; then every rank opens a plain file. Throws on every rank
  /// what parse_market_header() and InputFile throw, with the path and the line.
  MarketFile(std::shared_ptr<const mpi::Comm> comm, std::string path,
             std::size_t piece_bytes = default_piece_bytes);
  ~MarketFile();

  /// Local. read_entries() calls it on rank 0 with the share of that rank's part that is read.
  void report_progress(std::function<void(double)> progress) { progress_ = std::move(progress); }

  const mpi::Comm& comm() const { return *comm_; }
  const MarketHeader& header() const { return header_; }
  const std::string& path() const { return path_; }
  bool compressed() const { return compressed_; }
  Offset file_bytes() const { return file_bytes_; }
  /// A guess for this rank's number of entries which a wrong size line cannot make much too large.
  std::size_t expected_entries() const;

  /// Collective, once. Calls `on_entry` on each rank for its entry lines: rank r's lines all come
  /// before those of rank r + 1 in the file. Returns the number of entries on the ranks before
  /// this. A plain file is split by bytes, each rank reads its own range; a gzip file is
  /// decompressed on rank 0 and sent on in pieces, entries / P to each rank. No rank holds more
  /// than a piece. `on_entry` throws Error without path and line. Every rank throws the error of
  /// the lowest line of the file: of `on_entry`, of a line that is too long, of an entry beyond the
  /// announced number; then corrupt gzip data; then a number of entries below the announced one.
  GlobalIndex read_entries(const OnEntry& on_entry);

 private:
  void open_on_root();
  void report(double share) const;
  void parse_own_range(EntryLines& lines) const;
  GlobalIndex agree_on(const EntryLines& lines, const std::optional<Error>& stream_error) const;
  std::optional<Error> own_error(const EntryLines& lines, std::int64_t lines_before,
                                 GlobalIndex entries_before) const;

  std::shared_ptr<const mpi::Comm> comm_;
  std::string path_;
  std::size_t piece_bytes_;
  MarketHeader header_;
  bool compressed_ = false;
  Offset file_bytes_ = 0;
  std::function<void(double)> progress_;
  std::unique_ptr<InputFile> file_;     // plain files, every rank
  std::unique_ptr<GzipReader> gzip_;    // gzip files, rank 0
  std::unique_ptr<LineReader> stream_;  // gzip files, rank 0: stands behind the header
};

}  // namespace nodewise::io
