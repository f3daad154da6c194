// Files of formats that are not read, named for what they are.
#pragma once

#include <span>
#include <string>

namespace nodewise::io {

/// Local. What a file that begins with these bytes, decompressed where it is `compressed`, is, with
/// what to do about it: "this is a zip archive: unpack it first". Empty where nothing is known
/// against it.
std::string foreign_format(std::span<const char> beginning, bool compressed);

/// Local. Throws file_format, saying so, where the file is foreign; gzip is looked into.
void refuse_foreign(const std::string& path);

}  // namespace nodewise::io
