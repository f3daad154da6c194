// A file written by all ranks together, which appears under its name only when it is complete.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "nodewise/base/types.hpp"
#include "nodewise/io/replacement.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::io {

/// Writes beside the final path, in the same folder, and renames at the end: see Replacement. Until
/// commit() has succeeded, a file that was there before stays as it was; without commit() the new
/// one is removed.
class OutputFile {
 public:
  /// Collective. Rank 0 creates the file beside `path`, the others open it. Throws file_io on every
  /// rank where it cannot be created or `path` is something that must not be replaced (a folder,
  /// a device, a read-only file).
  OutputFile(std::shared_ptr<const mpi::Comm> comm, std::string path);
  /// Local. Removes what was not committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Local. Throws file_io. Different ranks must write different bytes.
  void write_at(Offset offset, std::span<const char> bytes);
  /// Collective. Brings the bytes to the disk and renames. Throws file_io on every rank.
  void commit();

 private:
  void close_synced();

  std::shared_ptr<const mpi::Comm> comm_;
  std::string path_;
  std::optional<Replacement> replacement_;  // rank 0
  int descriptor_ = -1;
};

}  // namespace nodewise::io
