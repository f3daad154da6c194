// A file that takes the place of another when it is complete, and what is left of it on the way.
#pragma once

#include <string>
#include <string_view>

namespace nodewise::io {

/// An unfinished file beside its target, made by this process. Local. Where the path is a symbolic
/// link the target is what it points to, so that the link stays; the target's mode, and its owner
/// where that is permitted, are kept.
class Replacement {
 public:
  /// Creates the unfinished file, empty. Throws file_io where that is not possible, or the target
  /// is something that must not be replaced: a folder, a device, a file that is read-only.
  explicit Replacement(const std::string& path);
  /// Removes what was not committed.
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  /// The name of the unfinished file.
  const std::string& partial() const { return partial_; }
  /// Open for writing, and the caller's from here on.
  int take_descriptor();
  /// Renames. Throws file_io, and the unfinished file is removed.
  void commit();

 private:
  std::string path_, target_, partial_;
  int descriptor_ = -1;
};

/// Local. Throws as Replacement does, without leaving anything.
void require_replaceable(const std::string& path);

/// Local. Replaces a file by one of this content. Throws file_io.
void write_text(const std::string& path, std::string_view text);

/// Local. A temporary file that is to be removed like an unfinished one where the process is ended.
/// Of the unfinished and temporary files of a process the latest four are known.
void remember_unfinished(const std::string& path);
void forget_unfinished(const std::string& path);

/// Local; may be called by a signal handler. Removes the unfinished files of this process, which
/// must end then.
void remove_unfinished() noexcept;

}  // namespace nodewise::io
