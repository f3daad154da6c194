#include "nodewise/io/foreign_format.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/io/byte_source.hpp"
#include "nodewise/io/file_format.hpp"

namespace nodewise::io {

namespace {

struct Signature {
  std::string_view bytes;
  const char* text;  ///< {} stands for the formats that are read
};

using namespace std::string_view_literals;

constexpr Signature signatures[] = {
    {"\xff\xfe"sv, "this is text in UTF-16; only ASCII is read"},
    {"\xfe\xff"sv, "this is text in UTF-16; only ASCII is read"},
    {"PK\x03\x04"sv, "this is a zip archive: unpack it first"},
    {"\xfd"
     "7zXZ\0"sv,
     "this is compressed by xz: unpack it first, or compress it by gzip"},
    {"BZh"sv, "this is compressed by bzip2: unpack it first, or compress it by gzip"},
    {"\x28\xb5\x2f\xfd"sv, "this is compressed by zstd: unpack it first, or compress it by gzip"},
    {"7z\xbc\xaf"sv, "this is a 7-zip archive: unpack it first"},
    {"\x89HDF\r\n"sv, "this is an HDF5 file (MATLAB's, too); {} are read"},
    {"MATLAB 5.0"sv, "this is a MATLAB file; {} are read"},
};

/// "Matrix Market and PETSc binary"
std::string titles_of_formats() {
  std::string text;
  const Family<FileFormat>& family = FileFormat::family();
  for (std::size_t k = 0; k < family.size(); ++k) {
    const char* before = k == 0 ? "" : k + 1 < family.size() ? ", " : " and ";
    text += before + *family[k].title;
  }
  return text;
}

}  // namespace

std::string foreign_format(std::span<const char> beginning, bool compressed) {
  const std::string_view start(beginning.data(), beginning.size());
  for (const Signature& signature : signatures) {
    if (!start.starts_with(signature.bytes)) continue;
    return fmt::format(fmt::runtime(signature.text), titles_of_formats());
  }
  if (start.size() >= 262 && start.substr(257, 5) == "ustar") {
    return "this is a tar archive: unpack it first";
  }
  for (const FileFormat& format : FileFormat::family()) {
    const std::string text = (*format.refusal)(beginning, compressed);
    if (!text.empty()) return text;
  }
  return "";
}

void refuse_foreign(const std::string& path) {
  std::array<char, 512> beginning{};
  const InputFile file(path);
  std::size_t known = file.read_at(0, beginning);
  const bool compressed = file.is_gzip();
  if (compressed) known = GzipReader(path).read(beginning);
  const auto start = std::span<const char>(beginning).first(known);
  const std::string text = foreign_format(start, compressed);
  if (!text.empty())
    throw Error(ErrorCode::file_format, compressed ? "gzip: inside, " + text : text);
}

}  // namespace nodewise::io
