// The one list of file formats. Each is described at the end of its own file.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nodewise/io/file_format.hpp"

namespace nodewise::io {

namespace formats {
const FileFormat& matrix_market_format();
const FileFormat& petsc_binary_format();
}  // namespace formats

Family<FileFormat>& FileFormat::family() {
  static Family<FileFormat> formats(
      "file format", {&formats::matrix_market_format(), &formats::petsc_binary_format()});
  return formats;
}

bool FileFormat::is_ending_of(std::string_view path) const {
  return std::any_of(endings->begin(), endings->end(),
                     [&](const std::string& ending) { return path.ends_with(ending); });
}

std::string known_endings() {
  std::string text;
  for (const FileFormat& format : FileFormat::family()) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", fmt::join(*format.endings, " or "),
                        *format.title);
  }
  return text;
}

std::string known_formats() {
  std::string text;
  for (const FileFormat& format : FileFormat::family()) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : " or ", *format.title,
                        fmt::join(*format.endings, ", "));
  }
  return text;
}

}  // namespace nodewise::io
