// From the words of the command line to Settings.
#pragma once

#include <span>
#include <string>

#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Local. `words` are the arguments after the program's name. Throws Failure{usage}, with the
/// nearest name where an option or command does not exist.
Settings parse(std::span<const std::string> words);

}  // namespace nodewise::cli
