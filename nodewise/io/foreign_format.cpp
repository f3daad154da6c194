#include "nodewise/io/foreign_format.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "nodewise/base/error.hpp"
#include "nodewise/io/byte_source.hpp"
#include "nodewise/io/petsc_header.hpp"

namespace nodewise::io {

namespace {

struct Signature {
  std::string_view bytes;
  const char* text;
};

using namespace std::string_view_literals;

constexpr Signature signatures[] = {
    {"\xef\xbb\xbf"sv, "it begins with a byte-order mark of UTF-8: remove its first three bytes"},
    {"\xff\xfe"sv, "this is text in UTF-16; only ASCII is read"},
    {"\xfe\xff"sv, "this is text in UTF-16; only ASCII is read"},
    {"PK\x03\x04"sv, "this is a zip archive: unpack it first"},
    {"\xfd"
     "7zXZ\0"sv,
     "this is compressed by xz: unpack it first, or compress it by gzip"},
    {"BZh"sv, "this is compressed by bzip2: unpack it first, or compress it by gzip"},
    {"\x28\xb5\x2f\xfd"sv, "this is compressed by zstd: unpack it first, or compress it by gzip"},
    {"7z\xbc\xaf"sv, "this is a 7-zip archive: unpack it first"},
    {"\x89HDF\r\n"sv,
     "this is an HDF5 file (MATLAB's, too); Matrix Market and PETSc binary are read"},
    {"MATLAB 5.0"sv, "this is a MATLAB file; Matrix Market and PETSc binary are read"},
};

constexpr const char* little_endian =
    "this is PETSc binary in little-endian order; only big-endian is read";

/// Whether the bytes are those of a PETSc object in the other order.
bool is_little_endian_petsc(std::span<const char> beginning) {
  std::array<char, 8> turned{};
  for (const std::size_t width : {4U, 8U}) {
    turned.fill(0);
    std::reverse_copy(beginning.begin(), beginning.begin() + static_cast<std::ptrdiff_t>(width),
                      turned.begin());
    if (recognise_petsc(turned)) return true;
  }
  return false;
}

}  // namespace

std::string foreign_format(std::span<const char> beginning) {
  const std::string_view start(beginning.data(), beginning.size());
  for (const Signature& signature : signatures) {
    if (start.starts_with(signature.bytes)) return signature.text;
  }
  if (start.size() >= 262 && start.substr(257, 5) == "ustar") {
    return "this is a tar archive: unpack it first";
  }
  if (beginning.size() >= 8 && is_little_endian_petsc(beginning)) {
    return little_endian;
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
  std::string text = foreign_format(start);
  if (compressed && text.empty() && known >= 8 && recognise_petsc(start)) {
    text = "this is PETSc binary, which is not read compressed: unpack it first";
  }
  if (!text.empty())
    throw Error(ErrorCode::file_format, compressed ? "gzip: inside, " + text : text);
}

}  // namespace nodewise::io
