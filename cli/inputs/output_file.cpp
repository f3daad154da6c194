#include "cli/inputs/output_file.hpp"

#include "nodewise/io/replacement.hpp"

#include "cli/agreed.hpp"
#include "cli/exit_code.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

bool is_standard_output(const std::string& path) {
  return path == "-";
}

void check_writable(const std::string& path) {
  if (path.empty() || is_standard_output(path)) return;
  about_files(ExitCode::output_file, [&] { io::require_replaceable(path); });
}

void write_text_file(const std::string& path, const std::string& text) {
  if (is_standard_output(path)) return print_text(text);
  about_files(ExitCode::output_file, [&] { io::write_text(path, text); });
}

}  // namespace nodewise::cli
