// Where the program prints.
#pragma once

#include <string>
#include <string_view>

#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Local. Prints on standard output, at once. What cannot be printed is left to
/// check_standard_output(), as one rank alone must not leave the work of all.
void print_text(std::string_view text);

/// Local. Prints on standard error. Where that is closed or full the exit code has to do.
void print_error(std::string_view text) noexcept;

/// Local. Throws Failure{output_file} where something could not be printed.
void check_standard_output();

/// Standard output of rank 0; silent on the other ranks and with --quiet. A live line is shown on a
/// terminal only and replaced by what is printed next.
class Console {
 public:
  Console(bool is_root, const ConsoleOptions& options);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  bool is_live() const { return live_; }
  /// Whether a line for every step was asked for.
  bool wants_lines() const { return wants_lines_; }
  void line(std::string_view text = "");
  /// Prints `text` as a line, or, when live, in place of the last live line.
  void progress(std::string_view text);

 private:
  void erase_live_line();

  bool silent_;
  bool live_ = false;
  bool wants_lines_;
  bool has_live_line_ = false;
  int columns_ = 0;
};

}  // namespace nodewise::cli
