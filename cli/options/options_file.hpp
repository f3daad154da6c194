// Options from a report, or from a JSON file of names and values.
#pragma once

#include <string>

#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Local. Takes what says how to solve from the text of a file called `name`: a report of
/// nodewise, of which it takes `options`, or an object of names and values. Options that were given
/// stay, and so does what belongs to other methods than those that were given. Throws
/// Failure{input_file} where the text is no such thing, Failure{usage} where an option is not known
/// or its value outside its range.
void take_options(const std::string& text, const std::string& name, Settings& settings);

}  // namespace nodewise::cli
