// What every report says beside its subject: filled in by a front end, or left out.
#pragma once

#include <string>
#include <vector>

#include "nodewise/mpi/memory.hpp"
#include "nodewise/run/environment.hpp"
#include "nodewise/run/records.hpp"
#include "nodewise/solver/record.hpp"

namespace nodewise::report {

/// An option with its value as text.
struct ReportedOption {
  std::string name;  ///< with dashes
  std::string type;  ///< as in FieldInfo
  std::string value;
};

/// What is said of any run.
struct RunFrame {
  std::vector<std::string> command_line;
  std::vector<ReportedOption> options;
  run::Environment machine;
  run::MatrixSummary matrix;
  solver::PresetRecord preset;
  double read_s = 0;
  mpi::MemoryUse memory;
};

}  // namespace nodewise::report
