// Files that say which rank has which row: a number a line, as METIS and Scotch users know them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nodewise/comm/layout.hpp"

namespace nodewise::io {

/// Collective. The owners of this rank's rows by a file, plain or gzip, with one number a line,
/// from 0 on, for each row of the layout; blank lines and those that begin with % are skipped. Rank
/// 0 reads and deals; no other rank holds more than its share and a piece of the text. Throws the
/// same Error on every rank: file_not_found, file_io, and file_format, with the line where there is
/// one, where the file has another length, holds something else than numbers below n_ranks, or
/// leaves a rank without rows.
std::vector<int> read_owners(const comm::Layout& rows, const std::string& path, int n_ranks);

/// Collective. Writes such a file, compressed where the name ends in .gz. Throws file_io.
void write_owners(const std::string& path, const comm::Layout& rows, std::span<const int> owners);

/// Collective. Likewise a file that says which row each of this rank's was in another order.
void write_order(const std::string& path, const comm::Layout& rows,
                 std::span<const GlobalIndex> numbers);

}  // namespace nodewise::io
