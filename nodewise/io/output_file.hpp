// A file written by all ranks together, which appears under its name only when it is complete.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "nodewise/base/types.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::io {

/// Writes beside the final path, in the same folder, and renames at the end. Until commit() has
/// succeeded, a file that was there before stays as it was; without commit() the new one is
/// removed.
class OutputFile {
 public:
  /// Collective. Rank 0 creates the file beside `path`, the others open it. Throws file_io on every
  /// rank where it cannot be created or `path` is something that must not be replaced (a folder,
  /// a device).
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
  void create_on_root();
  void close_synced();

  std::shared_ptr<const mpi::Comm> comm_;
  std::string path_;
  std::string partial_;
  int descriptor_ = -1;
  bool remove_ = false;  // rank 0, while the partial file exists
};

}  // namespace nodewise::io
