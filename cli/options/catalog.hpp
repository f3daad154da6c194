// All options of all tables in one list: what the parser, the help, the reference page and the
// JSON report are made from.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// One option of the command line: a field of one of the structs in Settings.
struct Option {
  std::string name;   ///< long name without the dashes in front, such as "max-iterations"
  char letter = 0;    ///< short name, or 0
  std::string group;  ///< heading in the help
  std::string type;   ///< as in Field
  std::string meaning;
  std::string words;    ///< what each word of a choice means, where that is to be said
  bool common = false;  ///< listed by --help; the others by --help-all only
  std::string range;
  std::string needs;     ///< "--smoother chebyshev": the methods that have it
  std::string standard;  ///< the default value as text
  Affects affects = Affects::unsaid;
  /// None where it belongs to a method that the settings do not choose.
  std::function<std::optional<std::string>(const Settings&)> get;
  std::function<void(Settings&, std::string_view)> set;

  /// Whether the command takes it.
  bool belongs_to(const Command& command) const;
  bool is_flag() const { return type == "flag"; }
  /// "-o, --output FILE"
  std::string usage() const;
  /// What it is for a command, where that is another thing than for the others.
  std::string meaning_for(const Command& command) const;
};

/// Every option, in the order of the help.
std::span<const Option> catalog();

/// A text of the library in the words of the command line: "option max_levels" becomes
/// "--max-levels", and "`solver gmres`" "--solver gmres".
std::string in_words_of_command_line(std::string_view text);

/// "solve, tune": the commands that take an option.
std::string commands_text(const Option& option);

/// What `nodewise --help`, `nodewise COMMAND --help` and `nodewise COMMAND --help-all` print.
std::string program_help();
std::string command_help(const Command& command, bool all);
/// All options as plain text, and as the reference page docs/options.md.
std::string options_text();
std::string options_markdown();
/// The manual page, and the completion of command lines, made from the same tables.
std::string man_page();
std::string completion_script(Shell shell);

}  // namespace nodewise::cli
