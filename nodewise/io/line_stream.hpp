// Deals the lines of a stream that only rank 0 can read to all ranks.
#pragma once

#include <optional>

#include "nodewise/io/entry_lines.hpp"
#include "nodewise/io/line_reader.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::io {

/// Collective. Rank 0 takes the lines from `reader` (null elsewhere); rank r gets the entry lines
/// from r * entries / P up to (r + 1) * entries / P and the lines without entries between them, the
/// last rank all the rest. Lines travel in messages of about piece_bytes; no rank holds more.
/// Returns, on rank 0, what `reader` threw: an error of the line after all that were dealt. Throws
/// on every rank only where the first allocation or MPI itself fails.
std::optional<Error> deal_lines(const mpi::Comm& comm, LineReader* reader, GlobalIndex entries,
                                std::size_t piece_bytes, EntryLines& lines);

}  // namespace nodewise::io
