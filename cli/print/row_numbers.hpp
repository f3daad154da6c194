// Row numbers in messages of the library, as files and the command line count them.
#pragma once

#include <string>

namespace nodewise::cli {

/// Local. Returns the text with every "row 6, counted from 0" (row_text() of the library) as
/// "row 7". A comma that closed the aside goes with it.
std::string rows_from_one(const std::string& text);

}  // namespace nodewise::cli
