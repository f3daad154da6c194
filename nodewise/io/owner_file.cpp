#include "nodewise/io/owner_file.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/comm/discovery.hpp"
#include "nodewise/io/byte_source.hpp"
#include "nodewise/io/collective.hpp"
#include "nodewise/io/line_stream.hpp"
#include "nodewise/io/matrix_market_parse.hpp"
#include "nodewise/io/text_writer.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

constexpr std::size_t owner_piece_bytes = std::size_t{1} << 20;

/// The lines of a plain or compressed file, on rank 0.
class OwnerLines {
 public:
  explicit OwnerLines(const std::string& path) {
    file_ = std::make_unique<InputFile>(path);
    if (file_->is_gzip()) gzip_ = std::make_unique<GzipReader>(path);
    reader_.emplace([this](std::span<char> into) { return read(into); }, owner_piece_bytes);
  }
  LineReader& reader() { return *reader_; }

 private:
  std::size_t read(std::span<char> into) {
    if (gzip_) return gzip_->read(into);
    const std::size_t got = file_->read_at(at_, into);
    at_ += static_cast<Offset>(got);
    return got;
  }

  std::unique_ptr<InputFile> file_;
  std::unique_ptr<GzipReader> gzip_;
  Offset at_ = 0;
  std::optional<LineReader> reader_;
};

int parse_owner(std::string_view line, int n_ranks) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  const std::size_t end = line.find_last_not_of(" \t\r") + 1;
  const std::string_view word = line.substr(begin, end - begin);
  std::int64_t owner = -1;
  const auto [rest, status] = std::from_chars(word.data(), word.data() + word.size(), owner);
  if (status != std::errc() || rest != word.data() + word.size()) {
    throw Error(ErrorCode::file_format,
                fmt::format("'{}' is not the number of a rank", excerpt(word)));
  }
  if (owner < 0 || owner >= n_ranks) {
    throw Error(ErrorCode::file_format,
                fmt::format("the owner {} is none of the {}, which are numbered from 0 on", owner,
                            counted(n_ranks, "rank")));
  }
  return static_cast<int>(owner);
}

/// Collective. Throws where the file has another number of owners than there are rows.
void require_length(const mpi::Comm& comm, const std::string& path, GlobalIndex found,
                    GlobalIndex rows) {
  const GlobalIndex all = mpi::sum(comm, found);
  if (all == rows) return;
  throw Error(ErrorCode::file_format, fmt::format("{}: {}, but the matrix has {}", path,
                                                  counted(all, "owner"), counted(rows, "row")));
}

/// Collective. Throws where a rank has no rows: a file for other numbers of ranks is none for
/// these.
void require_all_ranks(const mpi::Comm& comm, const std::string& path, std::span<const int> owners,
                       GlobalIndex rows, int n_ranks) {
  if (rows < n_ranks) {
    throw Error(ErrorCode::file_format,
                fmt::format("{}: {} cannot be divided among {}", path, counted(rows, "row"),
                            counted(n_ranks, "rank")));
  }
  std::vector<std::int64_t> sizes = mpi::collectively(
      comm, [&] { return std::vector<std::int64_t>(static_cast<std::size_t>(n_ranks), 0); });
  for (const int owner : owners) ++sizes[static_cast<std::size_t>(owner)];
  mpi::sum_in_place(comm, std::span<std::int64_t>(sizes));
  const auto empty = std::find(sizes.begin(), sizes.end(), 0);
  if (empty == sizes.end()) return;
  const auto n_empty = std::count(sizes.begin(), sizes.end(), 0);
  const auto least = static_cast<int>(empty - sizes.begin());
  throw Error(
      ErrorCode::file_format,
      fmt::format("{}: no row is for rank {}{}; it is not a partition for {}", path, least,
                  n_empty > 1 ? ", nor for " + counted(n_empty - 1, "other") : std::string(),
                  counted(n_ranks, "rank")));
}

/// Collective. The owners that were dealt to each rank, in the order of the file, go to the ranks
/// that have these rows.
std::vector<int> to_rows(const comm::Layout& rows, GlobalIndex before,
                         const std::vector<int>& dealt) {
  return comm::exchange_sparse(rows.comm(),
                               [&] {
                                 std::vector<int> ranks;
                                 ranks.reserve(dealt.size());
                                 const GlobalIndex first = rows.first() + before;
                                 for (std::size_t k = 0; k < dealt.size(); ++k) {
                                   ranks.push_back(rows.owner(first + static_cast<GlobalIndex>(k)));
                                 }
                                 return comm::group_by_rank(std::span<const int>(ranks),
                                                            std::span<const int>(dealt),
                                                            rows.comm().size());
                               })
      .data;
}

}  // namespace

std::vector<int> read_owners(const comm::Layout& rows, const std::string& path, int n_ranks) {
  const mpi::Comm& comm = rows.comm();
  std::unique_ptr<OwnerLines> file;
  std::optional<Error> error;
  if (comm.is_root()) error = mpi::caught([&] { file = std::make_unique<OwnerLines>(path); });
  share_error(comm, error, 0);
  std::vector<int> dealt;
  EntryLines lines([&](std::string_view line) { dealt.push_back(parse_owner(line, n_ranks)); });
  error =
      deal_lines(comm, file ? &file->reader() : nullptr, rows.n_global(), owner_piece_bytes, lines);
  const auto located = [&](const Error& e, std::int64_t line) {
    return Error(e.code(), fmt::format("{}, line {}: {}", path, line, e.what()));
  };
  const std::int64_t lines_before = mpi::exclusive_sum(comm, lines.lines());
  std::optional<Error> own;
  if (lines.error()) own = located(*lines.error(), lines_before + lines.lines());
  share_first_error(comm, own);
  if (error) error = located(*error, file->reader().lines());
  share_error(comm, error, 0);
  const auto found = static_cast<GlobalIndex>(dealt.size());
  const GlobalIndex before = mpi::exclusive_sum(comm, found);
  require_length(comm, path, found, rows.n_global());
  require_all_ranks(comm, path, dealt, rows.n_global(), n_ranks);
  return to_rows(rows, before, dealt);
}

namespace {

/// Collective. A number a line.
template <class Number>
void write_number_lines(const std::string& path, const comm::Layout& rows,
                        std::span<const Number> numbers) {
  write_in_rank_order(rows.shared_comm(), path, 1, [&](TextSink& sink, int) {
    for (const Number number : numbers) {
      sink.put_number(number);
      sink.put('\n');
    }
  });
}

}  // namespace

void write_owners(const std::string& path, const comm::Layout& rows, std::span<const int> owners) {
  write_number_lines(path, rows, owners);
}

void write_order(const std::string& path, const comm::Layout& rows,
                 std::span<const GlobalIndex> numbers) {
  write_number_lines(path, rows, numbers);
}

}  // namespace nodewise::io
