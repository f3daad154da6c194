// Aligned columns of text.
#pragma once

#include <string>
#include <vector>

#include "cli/print/console.hpp"

namespace nodewise::cli {

/// The ranks that have rows of a level, "16", or what has it as a whole, "4 copies".
std::string ranks_text(int active_ranks, int copies);

/// A table whose columns are as wide as their longest cell, aligned right, two spaces apart. Heads
/// may have several lines, separated by '\n'; they stand on the bottom line.
class Table {
 public:
  explicit Table(const std::vector<std::string>& heads);
  void add_row(std::vector<std::string> cells);
  /// Aligns the last column left, as suits words.
  void align_last_left() { last_is_left_ = true; }
  /// Leaves out rows between the first and the last where there are more than `most`.
  void shorten(std::size_t most);
  /// Lines without trailing newline or blanks, indented by two spaces.
  std::vector<std::string> lines() const;
  void print(Console& console) const;
  /// The same below a title and with an empty line behind.
  void print(Console& console, const std::string& title) const;

 private:
  std::vector<std::vector<std::string>> heads_;  // lines of each column's head
  std::vector<std::vector<std::string>> rows_;
  bool last_is_left_ = false;
};

}  // namespace nodewise::cli
