#include "cli/exit_code.hpp"

#include <array>

#include <fmt/format.h>

#include "cli/options/catalog.hpp"

namespace nodewise::cli {

std::span<const ExitCodeInfo> exit_codes() {
  static const std::array<ExitCodeInfo, 8> table = {{
      {ExitCode::success, "success", "the command did what it was asked; a solve converged"},
      {ExitCode::not_converged, "not converged",
       "the solver ended without reaching the tolerance, or was interrupted; its diagnosis says "
       "why "
       "and what to try"},
      {ExitCode::usage, "usage",
       "an option, value or command that does not exist, does not fit, or needs what this MPI "
       "lacks"},
      {ExitCode::input_file, "input file",
       "an input file is missing, truncated or malformed, has the wrong size, or a number that is "
       "not finite"},
      {ExitCode::unsuitable_matrix, "unsuitable matrix",
       "the matrix is not square, has a zero or missing diagonal entry, an empty row, or entries "
       "whose sum is not finite"},
      {ExitCode::memory, "memory",
       "the problem does not fit in the memory, or in the index range of one rank"},
      {ExitCode::output_file, "output file",
       "an output file, or the standard output, cannot be written"},
      {ExitCode::internal, "internal",
       "MPI failed, or a defect of Nodewise showed; please report it"},
  }};
  return table;
}

ExitCode exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unknown_option:
    case ErrorCode::unsupported:
      return ExitCode::usage;
    case ErrorCode::file_not_found:
    case ErrorCode::file_io:
    case ErrorCode::file_format:
    case ErrorCode::dimension_mismatch:
      return ExitCode::input_file;
    case ErrorCode::unsuitable_matrix:
      return ExitCode::unsuitable_matrix;
    case ErrorCode::out_of_memory:
    case ErrorCode::index_overflow:
      return ExitCode::memory;
    case ErrorCode::mpi:
    case ErrorCode::internal:
      return ExitCode::internal;
  }
  return ExitCode::internal;
}

Failure::Failure(ExitCode code, const std::string& message)
    : std::runtime_error(in_words_of_command_line(message)), code_(code) {}

void fail_usage(const std::string& message) {
  throw Failure(ExitCode::usage, message);
}

std::string exit_codes_markdown() {
  std::string page =
      "# Exit codes\n\n"
      "<!-- Written by `nodewise options --exit-codes`; change the table in cli/exit_code.cpp. "
      "-->\n\n"
      "Every rank ends with the same code, after one message on the standard error of rank 0.\n"
      "Nothing is left in the place of an output file unless it is complete.\n\n"
      "| code | name | meaning |\n| ---: | --- | --- |\n";
  for (const ExitCodeInfo& info : exit_codes()) {
    page += fmt::format("| {} | {} | {} |\n", static_cast<int>(info.code), info.name, info.meaning);
  }
  page +=
      "\nA solve that does not converge (code 1) writes no solution file unless `--output-anyway`\n"
      "is given, but it does write the report of `--json`, with the outcome and the diagnosis.\n"
      "Every other code but 0 leaves neither, except that a report or a standard output that "
      "cannot "
      "be\n"
      "written (code 6) takes nothing back of the files that could. The outcomes are listed in\n"
      "[report.md](report.md). Launchers such as mpirun hand the code on, with remarks of their "
      "own,\n"
      "and take the standard output themselves: whether it can be written is for them to see.\n"
      "\n## Signals\n\n"
      "The first SIGINT, SIGTERM or SIGHUP during the iterations of a solve ends these: the "
      "report\n"
      "is written, with the outcome `interrupted`, and the code is 1. A second one, or one at "
      "another\n"
      "time, removes unfinished files and ends the program as signals do. Open MPI's mpirun gives\n"
      "its ranks a second before it kills them.\n"
      "\n## Memory\n\n"
      "Before anything large is allocated, the need is estimated from the model problem or from "
      "the\n"
      "header of the file and compared with what the kernel, the container and the limits of the\n"
      "processes leave on each node. The estimate is what is needed at least: 24 bytes for a "
      "nonzero\n"
      "and 300 for a row to solve; 24 and 50 to divide rows among ranks (`convert --partition`), "
      "by "
      "the graph of the\n"
      "matrix 56 and 110; 72 bytes for a nonzero to read a Matrix Market file; two and a half\n"
      "times the file to read a binary one; 16 for every number of further right-hand sides, and 8 "
      "for\n"
      "those of the near null space, and 1,800 for a virtual rank. Multigrid may take more where "
      "its coarse matrices are dense.\n"
      "`--ignore-memory-check` skips the comparison.\n";
  return page;
}

}  // namespace nodewise::cli
