// How the program ends: one number for each kind of end.
#pragma once

#include <span>
#include <stdexcept>
#include <string>

#include "nodewise/base/error.hpp"

namespace nodewise::cli {

enum class ExitCode : int {
  success = 0,
  not_converged = 1,
  usage = 2,
  input_file = 3,
  unsuitable_matrix = 4,
  memory = 5,
  output_file = 6,
  internal = 70
};

/// A line of the table of exit codes, for the help and the reference page.
struct ExitCodeInfo {
  ExitCode code;
  std::string name;
  std::string meaning;
};

/// Every code, ascending.
std::span<const ExitCodeInfo> exit_codes();

/// The end of a program that met an error of this kind.
ExitCode exit_code(ErrorCode code) noexcept;

/// An error for which the program itself decides how to end. Options that the message names as the
/// library does are named as on the command line.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& message);
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// Throws Failure{usage}.
[[noreturn]] void fail_usage(const std::string& message);

/// The reference page docs/exit-codes.md.
std::string exit_codes_markdown();

}  // namespace nodewise::cli
