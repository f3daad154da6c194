// Output files that are complete or absent.
#pragma once

#include <string>

namespace nodewise::cli {

/// Local. Whether the name "-" stands for the standard output.
bool is_standard_output(const std::string& path);

/// Local. Throws Failure{output_file} where `path`, if it is not empty, cannot be written: asked
/// before the work starts, so that hours of computing do not end at a missing folder. Leaves
/// nothing behind and does not touch an existing file.
void check_writable(const std::string& path);

/// Local. Writes `text` beside `path` and renames it, so that `path` is complete or as before, or
/// prints it. Throws Failure{output_file}; of what cannot be printed see check_standard_output().
void write_text_file(const std::string& path, const std::string& text);

}  // namespace nodewise::cli
