#include "cli/print/command_to_paste.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

namespace nodewise::cli {

namespace {

/// In single quotes where a shell would make something else of it.
std::string quoted(const std::string& word) {
  const std::string harmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,=:+@%";
  if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// Whether a word is an option that `nodewise solve` does not take or need, and whether its value
/// is the next word.
bool is_dropped(const std::string& word, bool& with_next) {
  static const std::array<std::string, 4> with_value = {"--max-seconds", "--max-candidates",
                                                        "--json", "--progress"};
  const std::string name = word.substr(0, word.find('='));
  const bool has_value = std::find(with_value.begin(), with_value.end(), name) != with_value.end();
  with_next = has_value && name == word;
  return has_value || name == "--quiet" || name == "--details" || word == "-q";
}

}  // namespace

std::string command_to_paste(const report::RunFrame& run, const solver::NamedValues& options) {
  std::string text;
  if (run.machine.ranks > 1) text = fmt::format("mpirun -n {} ", run.machine.ranks);
  text += "nodewise solve";
  const std::vector<std::string>& words = run.command_line;
  for (std::size_t k = 1; k < words.size(); ++k) {  // the first is "tune"
    bool with_next = false;
    if (is_dropped(words[k], with_next)) {
      k += with_next ? 1 : 0;
      continue;
    }
    text += " " + quoted(words[k]);
  }
  text += " --preset default";  // else solve would add what the rule chooses
  const std::string more = option_words(options);
  return more.empty() ? text : text + " " + more;
}

std::string option_words(const solver::NamedValues& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    text += fmt::format("{}--{} {}", text.empty() ? "" : " ", with_dashes(name), value);
  }
  return text;
}

}  // namespace nodewise::cli
