// From the words of the command line to Settings.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Reads the whole of a file.
using ReadText = std::function<std::string(const std::string& path)>;

/// `words` are the arguments after the program's name. Throws Failure{usage}, with the nearest name
/// where an option or command does not exist. Local but for `read`, which is called where options
/// are taken from a file. The settings have no command where the help of the program is asked
/// for.
Settings parse(std::span<const std::string> words, const ReadText& read);

}  // namespace nodewise::cli
