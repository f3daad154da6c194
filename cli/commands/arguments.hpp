// The arguments of commands that are no options.
#pragma once

#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Local. Throws Failure{usage} unless there is one matrix file, or a model problem.
void take_matrix(Settings& settings);

/// Local. Throws Failure{usage} where there is any argument.
void take_no_arguments(Settings& settings);

}  // namespace nodewise::cli
