// Agreement of all ranks on what one rank found out about a file, and on the memory it needs.
#pragma once

#include <optional>

#include "nodewise/base/error.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::io {

/// Collective. Throws the error of rank `root`, if it has one, on every rank, word for word: that
/// the file was looked at by this rank says nothing to the user. One broadcast; two more on
/// failure.
void share_error(const mpi::Comm& comm, const std::optional<Error>& error, int root);

/// Collective. If any rank brings an error, every rank throws the one of the lowest such rank, word
/// for word. For ranks that look at a file one behind the other this is the first error in the
/// file.
void share_first_error(const mpi::Comm& comm, const std::optional<Error>& error);

/// Collective. Refuses what cannot fit: throws out_of_memory on every rank where the ranks of one
/// node together need more bytes than the node has. `what` names the thing in the message.
/// Operating systems hand out memory they do not have and end the program later, without a message.
void require_memory(const mpi::Comm& comm, std::int64_t bytes, const std::string& what);

}  // namespace nodewise::io
