// What the program says of eigenpairs.
#pragma once

#include "nodewise/report/eigen_json.hpp"

#include "cli/options/settings.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

/// Matrix, mass matrix, preset, method.
void print_eigenproblem(Console& console, const report::EigenRecord& record);

/// The answer in a sentence, the table of pairs, what the work took, files.
void print_eigenpairs(Console& console, const report::EigenRecord& record,
                      const Settings& settings);

}  // namespace nodewise::cli
