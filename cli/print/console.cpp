#include "cli/print/console.hpp"

#include <algorithm>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/exit_code.hpp"

namespace nodewise::cli {

namespace {

/// The width of the terminal behind standard output, 0 where there is none. Open MPI gives every
/// process a pseudo-terminal even when its own output goes to a file; that one has no width.
int terminal_columns() {
  winsize size{};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace

void print_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print_error(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void check_standard_output() {
  if (std::ferror(stdout) == 0) return;
  throw Failure(ExitCode::output_file,
                "cannot write all of the standard output: is there room where it goes to?");
}

Console::Console(bool is_root, const ConsoleOptions& options)
    : silent_(!is_root || options.quiet),
      wants_lines_(options.progress == ProgressChoice::lines),
      columns_(terminal_columns()) {
  live_ = options.progress == ProgressChoice::live ||
          (options.progress == ProgressChoice::automatic && columns_ > 0);
  if (columns_ == 0) columns_ = 100;
}

Console::~Console() {
  if (!silent_) erase_live_line();
}

void Console::erase_live_line() {
  if (!has_live_line_) return;
  print_text("\r\x1b[K");
  has_live_line_ = false;
}

void Console::line(std::string_view text) {
  if (silent_) return;
  erase_live_line();
  print_text(fmt::format("{}\n", text));
}

void Console::progress(std::string_view text) {
  if (silent_) return;
  if (!live_) return line(text);
  // One column is left free: a full line would move the cursor to the next.
  const auto shown = static_cast<std::size_t>(std::max(columns_ - 1, 20));
  print_text(fmt::format("\r\x1b[K{}", text.substr(0, shown)));
  has_live_line_ = true;
}

}  // namespace nodewise::cli
