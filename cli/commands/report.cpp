// `nodewise report`: left to the Python package, which has its own command of this name.
#include <fmt/format.h>

#include "cli/commands/arguments.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/page_advice.hpp"

namespace nodewise::cli {

namespace {

ExitCode run_report(const Call&) {
  throw Failure(ExitCode::usage, page_advice(""));
}

}  // namespace

std::string page_advice(const std::string& page) {
  const std::string how = "pip install \"nodewise[report]\"";
  if (page.empty()) return "pages are made by the Python package, with the same command: " + how;
  return fmt::format(
      "--report {} is made by the Python package ({}); without it write --json FILE, and make the "
      "page elsewhere by `nodewise report FILE`",
      page, how);
}

const Command& report_command() {
  static const Command command = {
      {"report", "make a page to look at of reports (by the Python package)", ""},
      {.usage = "REPORT.json... [-o PAGE.html]",
       .examples = {"report report.json  # writes report.html",
                    "report before.json after.json -o change.html"},
       .takes = Affects::unsaid,
       .take_arguments = take_no_arguments,
       .run = run_report,
       .leaves_words = true}};
  return command;
}

}  // namespace nodewise::cli
