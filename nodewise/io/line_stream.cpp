#include "nodewise/io/line_stream.hpp"

#include <algorithm>

#include "nodewise/io/matrix_market_parse.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::io {

namespace {

/// Rank 0's side: whole lines go to one rank after the other; an empty message ends a rank's share.
class Dealer {
 public:
  Dealer(const mpi::Comm& comm, GlobalIndex entries, std::size_t piece_bytes, EntryLines& own)
      : comm_(comm), own_(own), entries_(entries), piece_bytes_(piece_bytes) {
    piece_.reserve(piece_bytes_ + max_line_bytes + 1);
  }

  void deal(std::string_view line) {
    while (rank_ + 1 < comm_.size() && dealt_ >= share_end()) next_rank();
    if (rank_ == 0) {
      own_.take(line);
    } else {
      piece_.insert(piece_.end(), line.begin(), line.end());
      piece_.push_back('\n');
      if (piece_.size() >= piece_bytes_) send();
    }
    if (is_entry_line(line)) ++dealt_;
  }

  void finish() {
    while (rank_ + 1 < comm_.size()) next_rank();
    flush();
    if (rank_ > 0) end_share(rank_);
  }

 private:
  GlobalIndex share_end() const {
    const GlobalIndex p = comm_.size();
    const GlobalIndex r = rank_ + 1;
    return r * (entries_ / p) + std::min(r, entries_ % p);
  }
  void next_rank() {
    flush();
    if (rank_ > 0) end_share(rank_);
    ++rank_;
  }
  void flush() {
    if (!piece_.empty()) send();
  }
  void send() {
    send_to(rank_);
    piece_.clear();
  }
  void end_share(int rank) { send_to(rank); }
  void send_to(int rank) {
    const mpi::Communicating communicating(comm_);
    comm_.count_message(rank, std::ssize(piece_));
    mpi::check(MPI_Send(piece_.data(), narrow<int>(piece_.size(), "piece of a file"), MPI_CHAR,
                        rank, mpi::tag_stream, comm_.get()),
               "MPI_Send");
  }

  const mpi::Comm& comm_;
  EntryLines& own_;
  GlobalIndex entries_;
  std::size_t piece_bytes_;
  std::vector<char> piece_;
  GlobalIndex dealt_ = 0;
  int rank_ = 0;
};

std::optional<Error> deal_all(Dealer& dealer, LineReader& reader) {
  std::string_view line;
  bool more = true;
  std::optional<Error> error;
  while (more) {
    error = mpi::caught([&] { more = reader.next(line); });
    if (error) break;
    if (more) dealer.deal(line);
  }
  dealer.finish();
  return error;
}

std::size_t receive(const mpi::Comm& comm, std::span<char> into) {
  const mpi::Communicating communicating(comm);
  MPI_Status status;
  mpi::check(MPI_Recv(into.data(), narrow<int>(into.size(), "piece of a file"), MPI_CHAR, 0,
                      mpi::tag_stream, comm.get(), &status),
             "MPI_Recv");
  int got = 0;
  mpi::check(MPI_Get_count(&status, MPI_CHAR, &got), "MPI_Get_count");
  return static_cast<std::size_t>(got);
}

}  // namespace

std::optional<Error> deal_lines(const mpi::Comm& comm, LineReader* reader, GlobalIndex entries,
                                std::size_t piece_bytes, EntryLines& lines) {
  std::optional<Dealer> dealer;
  std::optional<LineReader> received;
  mpi::collectively(comm, [&] {
    if (comm.is_root()) {
      dealer.emplace(comm, entries, piece_bytes, lines);
    } else {
      received.emplace([&comm](std::span<char> into) { return receive(comm, into); },
                       piece_bytes + max_line_bytes + 1);
    }
  });
  if (comm.is_root()) return deal_all(*dealer, *reader);
  std::string_view line;
  // After an error the rest is received all the same, for rank 0 sends it.
  while (received->next(line)) lines.take(line);
  return std::nullopt;
}

}  // namespace nodewise::io
