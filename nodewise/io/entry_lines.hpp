// Counts the lines that one rank takes from a text file, so that an entry's line can be told later.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "nodewise/base/types.hpp"

namespace nodewise::io {

/// Hands the entry lines of a Matrix Market body to a function and skips the others. Local.
class EntryLines {
 public:
  using OnEntry = std::function<void(std::string_view line)>;

  explicit EntryLines(OnEntry on_entry) : on_entry_(std::move(on_entry)) {}

  /// Takes the next line; after an error it does nothing.
  void take(std::string_view line);
  /// Notes an error met on the line after the last one taken; only the first one stands.
  void fail(const Error& error);

  /// Lines taken; with an error this is the number of the line that has it, counted from 1.
  std::int64_t lines() const { return lines_; }
  /// Entries that on_entry took without an error.
  GlobalIndex entries() const { return entries_; }
  const std::optional<Error>& error() const { return error_; }
  /// The line, counted from 1, of entry number `entry`, counted from 0.
  std::int64_t line_of(GlobalIndex entry) const;

 private:
  /// Before entry number `entry` stand `skipped` lines without an entry.
  struct Gap {
    GlobalIndex entry;
    std::int64_t skipped;
  };

  OnEntry on_entry_;
  std::int64_t lines_ = 0;
  GlobalIndex entries_ = 0;
  std::vector<Gap> gaps_;
  std::optional<Error> error_;
};

}  // namespace nodewise::io
