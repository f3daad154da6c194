#include "cli/print/findings.hpp"

#include <fmt/format.h>

#include "cli/options/catalog.hpp"
#include "cli/print/summary.hpp"

namespace nodewise::cli {

void name_options(SolveRecord& record) {
  for (solve::Report& report : record.reports) {
    report.diagnosis = in_words_of_command_line(report.diagnosis);
  }
  for (advise::Finding& finding : record.findings) {
    finding.text = in_words_of_command_line(finding.text);
    finding.advice = in_words_of_command_line(finding.advice);
  }
  record.preset.reason = in_words_of_command_line(record.preset.reason);
  for (solver::Attempt& attempt : record.attempts) {
    attempt.why = in_words_of_command_line(attempt.why);
  }
}

void print_findings(Console& console, const std::vector<advise::Finding>& findings) {
  if (findings.empty()) return;
  console.line("Findings");
  for (const advise::Finding& finding : findings) {
    print_entry(console, fmt::format("level {}", finding.level),
                finding.text + ": " + finding.advice);
  }
  console.line();
}

}  // namespace nodewise::cli
