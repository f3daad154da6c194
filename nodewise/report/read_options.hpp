// The options of a report, so that a run can be repeated.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nodewise::report {

/// Local. The options in the text of a file called `name`: a report of Nodewise, of which it takes
/// `options`, or a JSON object of names and values. Values are as text, none where the report has
/// none. Throws file_format where the text is neither.
std::vector<std::pair<std::string, std::optional<std::string>>> read_options(
    const std::string& text, const std::string& name);

}  // namespace nodewise::report
