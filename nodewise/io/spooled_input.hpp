// What one rank reads from a stream, as a file for all.
#pragma once

#include <string>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::io {

/// A temporary file with what rank 0 reads from a pipe or another open file, for every rank to
/// open: a matrix is read by all ranks, each from its own place.
class SpooledInput {
 public:
  /// Collective. Reads `descriptor` of rank 0 to its end, into a file in `folder`, which all ranks
  /// must have in common. Throws file_io on every rank where that fails; `title` is what the
  /// message calls the stream. Two broadcasts.
  SpooledInput(const mpi::Comm& comm, int descriptor, const std::string& folder,
               const std::string& title);
  /// Local. Removes the file, as a signal does (remove_unfinished()).
  ~SpooledInput();
  SpooledInput(const SpooledInput&) = delete;
  SpooledInput& operator=(const SpooledInput&) = delete;

  const std::string& path() const { return path_; }

 private:
  void spool(int descriptor, const std::string& folder);
  void remove();

  std::string path_;
  bool is_owner_ = false;
};

}  // namespace nodewise::io
