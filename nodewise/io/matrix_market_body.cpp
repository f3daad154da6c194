#include "nodewise/io/matrix_market_body.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "nodewise/io/collective.hpp"
#include "nodewise/io/line_stream.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::io {

namespace {

constexpr std::size_t look_ahead_bytes = 65536;

/// Adds the place in the file to an error that lacks it.
Error located(const Error& error, const std::string& path, std::int64_t line) {
  if (error.code() == ErrorCode::file_not_found) return error;  // has the path
  if (error.code() == ErrorCode::out_of_memory) {
    return {error.code(), fmt::format("{}: {}", path, error.what())};
  }
  return {error.code(), fmt::format("{}, line {}: {}", path, line, error.what())};
}

LineReader::Source sequential(const InputFile& file, Offset from) {
  return [&file, at = from](std::span<char> into) mutable {
    const std::size_t got = file.read_at(at, into);
    at += static_cast<Offset>(got);
    return got;
  };
}

/// Reads [begin, end) of the file, and behind it little at a time: only the last line is wanted.
LineReader::Source range_of(const InputFile& file, Offset begin, Offset end) {
  return [&file, at = begin, end](std::span<char> into) mutable {
    const Offset wanted = at < end ? end - at : static_cast<Offset>(look_ahead_bytes);
    const auto length = std::min<std::size_t>(into.size(), static_cast<std::size_t>(wanted));
    const std::size_t got = file.read_at(at, into.first(length));
    at += static_cast<Offset>(got);
    return got;
  };
}

/// Where the first line begins at or after `begin` > 0; `end` if it is not before that.
Offset line_start(const InputFile& file, Offset begin, Offset end) {
  std::vector<char> piece(look_ahead_bytes);
  for (Offset at = begin - 1; at + 1 < end;) {
    const std::size_t got = file.read_at(at, piece);
    if (got == 0) break;
    if (const void* found = std::memchr(piece.data(), '\n', got)) {
      return std::min(end, at + 1 + (static_cast<const char*>(found) - piece.data()));
    }
    at += static_cast<Offset>(got);
  }
  return end;
}

}  // namespace

MarketFile::MarketFile(std::shared_ptr<const mpi::Comm> comm, std::string path,
                       std::size_t piece_bytes)
    : comm_(std::move(comm)), path_(std::move(path)), piece_bytes_(piece_bytes) {
  std::optional<Error> error;
  if (comm_->is_root()) error = mpi::caught([&] { open_on_root(); });
  share_error(*comm_, error, 0);
  std::array<std::int64_t, 10> shared = {static_cast<int>(header_.format),
                                         static_cast<int>(header_.field),
                                         static_cast<int>(header_.symmetry),
                                         header_.rows,
                                         header_.cols,
                                         header_.entries,
                                         header_.lines,
                                         header_.bytes,
                                         compressed_ ? 1 : 0,
                                         file_bytes_};
  const mpi::CollectiveCall call(*comm_);
  mpi::check(
      MPI_Bcast(shared.data(), static_cast<int>(shared.size()), MPI_INT64_T, 0, comm_->get()),
      "MPI_Bcast");
  header_ = {static_cast<MarketFormat>(shared[0]),
             static_cast<MarketField>(shared[1]),
             static_cast<MarketSymmetry>(shared[2]),
             shared[3],
             shared[4],
             shared[5],
             shared[6],
             shared[7]};
  compressed_ = shared[8] != 0;
  file_bytes_ = shared[9];
  mpi::collectively(*comm_, [&] {
    if (!compressed_ && !file_) file_ = std::make_unique<InputFile>(path_);
  });
}

MarketFile::~MarketFile() = default;

void MarketFile::open_on_root() {
  file_ = std::make_unique<InputFile>(path_);
  file_bytes_ = file_->size();
  if (file_bytes_ == 0) throw Error(ErrorCode::file_format, path_ + ": the file is empty");
  compressed_ = file_->is_gzip();
  if (compressed_) gzip_ = std::make_unique<GzipReader>(path_);
  auto reader = std::make_unique<LineReader>(
      compressed_ ? [this](std::span<char> into) {
        report(static_cast<double>(gzip_->offset()) / static_cast<double>(file_bytes_));
        return gzip_->read(into);
      } : sequential(*file_, 0),
      std::min(piece_bytes_, look_ahead_bytes));
  try {
    header_ = parse_market_header(*reader);
  } catch (const Error& error) {
    throw located(error, path_, std::max<std::int64_t>(reader->lines(), 1));
  }
  if (!compressed_) return;
  stream_ = std::move(reader);
  file_.reset();
}

void MarketFile::report(double share) const {
  if (progress_ && comm_->is_root()) progress_(std::min(share, 1.0));
}

std::size_t MarketFile::expected_entries() const {
  const GlobalIndex ranks = comm_->size();
  const GlobalIndex announced = header_.entries / ranks + 1;
  const Offset shortest = header_.format == MarketFormat::array ? 2 : 4;  // "1\n", "1 1\n"
  const Offset text = compressed_ ? 8 * file_bytes_ : file_bytes_ - header_.bytes;
  return static_cast<std::size_t>(std::min(announced, text / (shortest * ranks) + 1));
}

void MarketFile::parse_own_range(EntryLines& lines) const {
  const Offset ranks = comm_->size();
  const Offset body = std::max<Offset>(file_->size() - header_.bytes, 0);
  const auto border = [&](Offset r) {
    return header_.bytes + r * (body / ranks) + std::min(r, body % ranks);
  };
  const Offset end = border(comm_->rank() + 1);
  const Offset begin = line_start(*file_, border(comm_->rank()), end);
  if (begin >= end) return;
  const LineReader::Source range = range_of(*file_, begin, end);
  Offset at = begin;
  const auto reported = [&](std::span<char> into) {
    report(static_cast<double>(at - begin) / static_cast<double>(end - begin));
    const std::size_t got = range(into);
    at += static_cast<Offset>(got);
    return got;
  };
  LineReader reader(reported, piece_bytes_);
  std::string_view line;
  while (!lines.error() && begin + reader.offset() < end && reader.next(line)) lines.take(line);
}

GlobalIndex MarketFile::read_entries(const OnEntry& on_entry) {
  EntryLines lines(on_entry);
  std::optional<Error> stream_error;
  if (compressed_) {
    const std::size_t piece = std::min<std::size_t>(piece_bytes_, std::size_t{1} << 20);
    stream_error = deal_lines(*comm_, stream_.get(), header_.entries, piece, lines);
  } else if (const auto error = mpi::caught([&] { parse_own_range(lines); })) {
    lines.fail(*error);
  }
  return agree_on(lines, stream_error);
}

std::optional<Error> MarketFile::own_error(const EntryLines& lines, std::int64_t lines_before,
                                           GlobalIndex entries_before) const {
  // An entry too many stands before the line with an error, for all counted entries do.
  if (entries_before + lines.entries() > header_.entries) {
    const GlobalIndex first = std::max<GlobalIndex>(header_.entries - entries_before, 0);
    return located({ErrorCode::file_format, fmt::format("more entries than the {} announced on "
                                                        "line {}",
                                                        header_.entries, header_.lines)},
                   path_, lines_before + lines.line_of(first));
  }
  if (!lines.error()) return std::nullopt;
  return located(*lines.error(), path_, lines_before + lines.lines());
}

GlobalIndex MarketFile::agree_on(const EntryLines& lines,
                                 const std::optional<Error>& stream_error) const {
  const std::int64_t lines_before = header_.lines + mpi::exclusive_sum(*comm_, lines.lines());
  const GlobalIndex entries_before = mpi::exclusive_sum(*comm_, lines.entries());
  share_first_error(*comm_, own_error(lines, lines_before, entries_before));
  const std::int64_t last_line = header_.lines + mpi::sum(*comm_, lines.lines());
  const GlobalIndex entries = mpi::sum(*comm_, lines.entries());
  std::optional<Error> at_end;
  if (stream_error) at_end = located(*stream_error, path_, last_line + 1);
  share_error(*comm_, at_end, 0);
  if (entries < header_.entries) {
    throw Error(ErrorCode::file_format,
                fmt::format("{}, line {}: the file ends after {} of the {} entries announced on "
                            "line {}",
                            path_, last_line, entries, header_.entries, header_.lines));
  }
  return entries_before;
}

}  // namespace nodewise::io
