// PETSc's binary files as a format.
#include "nodewise/io/petsc_binary.hpp"

#include <algorithm>
#include <array>

#include "nodewise/io/file_format.hpp"
#include "nodewise/io/petsc_header.hpp"

namespace nodewise::io::formats {

namespace {

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

std::string petsc_refusal(std::span<const char> beginning, bool compressed) {
  if (beginning.size() < 8) return "";
  if (is_little_endian_petsc(beginning)) {
    return "this is PETSc binary in little-endian order; only big-endian is read";
  }
  if (compressed && recognise_petsc(beginning)) {
    return "this is PETSc binary, which is not read compressed: unpack it first";
  }
  return "";
}

template <class T>
FormatFunctions<T> petsc_functions() {
  return {.read_matrix = read_petsc_matrix<T>,
          .read_vector = read_petsc_vector<T>,
          .read_vectors = [](const comm::Layout& layout, const std::string& path) -> Vectors<T> {
            return {1, read_petsc_vector<T>(layout, path)};
          },
          .write_matrix = [](const std::string& path,
                             const matrix::DistMatrix<T>& A) { write_petsc_matrix(path, A); },
          .write_vector = [](const std::string& path, const comm::Layout& layout,
                             std::span<const T> x) { write_petsc_vector(path, layout, x); },
          .write_vectors = nullptr};
}

}  // namespace

const FileFormat& petsc_binary_format() {
  static const FileFormat format = {
      {"petsc_binary", "one matrix or vector, big-endian, as MatView and VecView write it",
       "PETSc, manual pages MatLoad and VecLoad"},
      {.title = "PETSc binary",
       .file = "a PETSc file",
       .endings = std::vector<std::string>{".petsc", ".bin"},
       .recognise =
           [](std::span<const char> beginning) { return recognise_petsc(beginning).has_value(); },
       .refusal = petsc_refusal,
       .announced_size = nullptr,
       .in_double = petsc_functions<double>(),
       .in_float = petsc_functions<float>()}};
  return format;
}

}  // namespace nodewise::io::formats
