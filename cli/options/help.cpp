// The pages made from the catalog: help texts and the reference of options.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/io/file_format.hpp"

#include "cli/exit_code.hpp"
#include "cli/options/catalog.hpp"

namespace nodewise::cli {

namespace {

constexpr std::size_t page_width = 98;
constexpr std::size_t left_width = 34;

const std::vector<std::string>& groups() {
  static const std::vector<std::string> names = {
      "Input",      "Model problems", "Eigenpairs", "Solver", "Multigrid",         "Placement",
      "Prediction", "Communication",  "Output",     "Tuning", "Measuring kernels", "Calibration",
      "Pages"};
  return names;
}

/// Stands for a space at which no line is broken.
constexpr char glue = '\x1f';

std::string glued(std::string text) {
  std::replace(text.begin(), text.end(), ' ', glue);
  return text;
}

/// "[default 0.25; in [0, 1]]", without what says nothing.
std::string remark(const Option& option) {
  std::string text = option.needs.empty() ? "" : "needs " + option.needs;
  const std::string separator = text.empty() ? "" : "; ";
  if (option.is_flag()) {
    if (option.standard == "true") text += separator + glued("default true");
    return text.empty() ? "" : "[" + text + "]";
  }
  if (!option.standard.empty()) text += separator + glued("default " + option.standard);
  if (!option.range.empty()) {
    text += text.empty() ? "" : "; ";
    text += option.type.starts_with("choice") ? option.range : glued(option.range);
  }
  return text.empty() ? "" : "[" + text + "]";
}

std::string entry(const std::string& left, const std::string& right) {
  std::string text = fmt::format("  {:<{}}", left, left_width - 2);
  if (left.size() + 4 > left_width) text += fmt::format("\n{:{}}", "", left_width);
  bool first = true;
  for (const std::string& line : wrapped(right, page_width - left_width)) {
    if (!first) text += fmt::format("\n{:{}}", "", left_width);
    text += line;
    first = false;
  }
  std::replace(text.begin(), text.end(), glue, ' ');
  return text + "\n";
}

/// Of one command, or of all for null; those that are not common are left out unless `all` is set.
std::string group_text(const std::string& group, const Command* command, bool all) {
  std::string text;
  for (const Option& option : catalog()) {
    if (option.group != group || (command && !option.belongs_to(*command))) continue;
    if (!all && !option.common) continue;
    const std::string note = remark(option);
    const std::string meaning = (command ? option.meaning_for(*command) : option.meaning) +
                                (all ? option.words : std::string());
    text += entry(option.usage(), meaning + (note.empty() ? "" : " " + note));
  }
  return text.empty() ? text : group + ":\n" + text + "\n";
}

std::string exit_codes_text() {
  std::string text = "Exit codes:\n";
  for (const ExitCodeInfo& info : exit_codes()) {
    text += entry(fmt::format("{:>2}  {}", static_cast<int>(info.code), info.name), info.meaning);
  }
  return text;
}

std::string table_cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

std::string group_markdown(const std::string& group) {
  std::string text =
      fmt::format("\n## {}\n\n| option | default | values | meaning | commands |\n", group);
  text += "| --- | --- | --- | --- | --- |\n";
  for (const Option& option : catalog()) {
    if (option.group != group) continue;
    const std::string standard = option.standard.empty() ? "" : "`" + option.standard + "`";
    const std::string needs = option.needs.empty() ? "" : " (needs `" + option.needs + "`)";
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", option.usage(), standard,
                        table_cell(option.range.empty() ? option.type : option.range),
                        table_cell(option.meaning + option.words) + needs, commands_text(option));
  }
  return text;
}

}  // namespace

std::string program_help() {
  std::string text =
      "nodewise solves large sparse linear systems in parallel by algebraic multigrid.\n\n"
      "Usage: [mpirun -n RANKS] nodewise COMMAND ...\n\nCommands:\n";
  for (const Command& command : Command::family()) {
    const std::string& name = command.name;
    text += entry(command.usage->empty() ? name : name + " " + *command.usage, command.summary);
  }
  text += "\n" + exit_codes_text();
  return text + "\n`nodewise COMMAND --help` shows examples and the options of a command.\n";
}

std::string command_help(const Command& command, bool all) {
  std::string text = fmt::format(
      "nodewise {}: {}\n\nUsage: [mpirun -n RANKS] nodewise {} {}{}[options]\n\n", *command.name,
      *command.summary, *command.name, *command.usage, command.usage->empty() ? "" : " ");
  if (!command.examples.empty()) text += "Examples:\n";
  for (const std::string& example : command.examples) text += "  nodewise " + example + "\n";
  if (!command.examples.empty()) text += "\n";
  for (const std::string& group : groups()) text += group_text(group, &command, all);
  if (command.reads_matrix()) {
    text += fmt::format("Files are {}; - is standard input.\n", io::known_formats());
  }
  const auto hidden = std::count_if(catalog().begin(), catalog().end(), [&](const Option& option) {
    return option.belongs_to(command) && !option.common;
  });
  if (!all && hidden > 0) {
    text += fmt::format("{} more are listed by --help-all, with the exit codes.\n",
                        counted(hidden, "option"));
    return text;
  }
  if (!all && !command.reads_matrix()) return text;
  text += "A flag may be given a value: --quiet=false.\n\n";
  return text + exit_codes_text();
}

std::string options_text() {
  std::string text;
  for (const std::string& group : groups()) text += group_text(group, nullptr, true);
  return text;
}

std::string options_markdown() {
  std::string text =
      "# Options\n\n"
      "<!-- Written by `nodewise options --markdown`; change the tables of fields in the sources. "
      "-->\n\n"
      "Names are written with dashes on the command line and with underscores in the structs of "
      "the\n"
      "library. A flag is switched on by its name and takes a value only after `=`, as in\n"
      "`--graph-laplacian=false`. Whole numbers without an upper end go up to 2147483647. The "
      "last\n"
      "column has the commands that take the option.\n";
  for (const std::string& group : groups()) text += group_markdown(group);
  return text;
}

}  // namespace nodewise::cli
