// The manual page and the completion of command lines, made from the catalog.
#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/version.hpp"

#include "cli/exit_code.hpp"
#include "cli/options/catalog.hpp"

namespace nodewise::cli {

namespace {

/// Text as troff takes it literally: no control lines, no escapes, dashes as they are typed.
std::string troff(std::string_view text) {
  std::string escaped = !text.empty() && (text[0] == '.' || text[0] == '\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string option_entry(const Option& option) {
  std::string text =
      ".TP\n.B " + troff(option.usage()) + "\n" + troff(option.meaning + option.words) + ".\n";
  if (!option.standard.empty()) text += troff("Default " + option.standard + ".") + "\n";
  if (!option.range.empty()) text += troff("Values: " + option.range + ".") + "\n";
  return text + troff("Of: " + commands_text(option) + ".") + "\n";
}

std::string command_entry(const Command& command) {
  std::string text = fmt::format(".TP\n.B {}\n{}.\n", troff(*command.name + " " + *command.usage),
                                 troff(*command.summary));
  for (const std::string& example : command.examples) {
    text += ".br\n" + troff("nodewise " + example) + "\n";
  }
  return text;
}

/// The words that an option may be set to, where these are a list.
std::string completion_words(const Option& option) {
  if (!option.type.starts_with("choice")) return "";
  std::string words = option.range;
  words.erase(std::remove(words.begin(), words.end(), '|'), words.end());
  return words;
}

bool takes_file(const Option& option) {
  return option.type == "file" || option.type == "machine";
}

std::string long_names(const Command& command) {
  std::string names = "--help --help-all";
  for (const Option& option : catalog()) {
    if (option.belongs_to(command)) names += " --" + option.name;
  }
  return names;
}

/// Cases of what the word before the one to complete asks for.
std::string value_cases() {
  std::string cases;
  for (const Option& option : catalog()) {
    if (option.is_flag()) continue;
    std::string name = "--" + option.name;
    if (option.letter != 0) name += std::string("|-") + option.letter;
    const std::string words = completion_words(option);
    const std::string reply = !words.empty() ? fmt::format("compgen -W '{}' -- \"$word\"", words)
                              : takes_file(option) ? "compgen -f -- \"$word\""
                                                   : "true";
    cases += fmt::format("    {}) COMPREPLY=($({})); return ;;\n", name, reply);
  }
  return cases;
}

}  // namespace

std::string man_page() {
  std::string text = fmt::format(
      ".TH NODEWISE 1 \"\" \"nodewise {}\" \"User commands\"\n.SH NAME\n"
      "nodewise \\- solves large sparse linear systems in parallel by algebraic multigrid\n"
      ".SH SYNOPSIS\n[mpirun \\-n RANKS]\n.B nodewise\nCOMMAND ...\n.SH COMMANDS\n",
      troff(build_info().version));
  for (const Command& command : Command::family()) text += command_entry(command);
  std::string group;
  for (const Option& option : catalog()) {
    if (option.group != group) text += ".SH " + troff("OPTIONS: " + option.group) + "\n";
    group = option.group;
    text += option_entry(option);
  }
  text += ".SH EXIT STATUS\n";
  for (const ExitCodeInfo& info : exit_codes()) {
    text += fmt::format(".TP\n{}\n{}: {}.\n", static_cast<int>(info.code), troff(info.name),
                        troff(info.meaning));
  }
  return text;
}

std::string completion_script(Shell shell) {
  std::string names, cases;
  for (const Command& command : Command::family()) {
    names += (names.empty() ? "" : " ") + *command.name;
    cases += fmt::format("    {}) options='{}' ;;\n", *command.name, long_names(command));
  }
  const std::string script = fmt::format(
      R"(_nodewise() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" options=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$word"))
    return
  fi
  case "$before" in
{}  esac
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _nodewise nodewise
)",
      names, value_cases(), cases);
  if (shell == Shell::bash) return "# Completion of nodewise for bash.\n" + script;
  return "#compdef nodewise\n# Completion of nodewise for zsh, by what serves bash.\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         script;
}

}  // namespace nodewise::cli
