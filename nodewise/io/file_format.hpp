// What a file format says of itself. formats/methods.cpp lists them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/io/matrix_size.hpp"
#include "nodewise/io/read_options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::io {

/// The functions of a format for one type of numbers; all are collective, and as in read.hpp.
template <class T>
struct FormatFunctions {
  using Matrix = matrix::DistMatrix<T>;
  using Layout = comm::Layout;

  Required<Matrix (*)(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path,
                      const ReadOptions& options, ReadSummary* summary)>
      read_matrix;
  Required<std::vector<T> (*)(const Layout& layout, const std::string& path)> read_vector;
  Required<Vectors<T> (*)(const Layout& layout, const std::string& path)> read_vectors;
  Required<void (*)(const std::string& path, const Matrix& A)> write_matrix;
  Required<void (*)(const std::string& path, const Layout& layout, std::span<const T> x)>
      write_vector;
  /// Null where a file holds one vector.
  Required<void (*)(const std::string& path, const Layout& layout, std::span<const T> values,
                    int n_vectors)>
      write_vectors;
};

/// What is true of a format, and its functions.
struct FileFormatFacts {
  Required<std::string> title;  ///< in words: "Matrix Market"
  Required<std::string> file;   ///< in words: "a PETSc file"
  /// What the names of its files end in.
  Required<std::vector<std::string>> endings;
  /// Local. Whether a file that begins with these 8 bytes is of the format. Null: the one whose
  /// reader is left what no other format recognises.
  Required<bool (*)(std::span<const char> beginning)> recognise;
  /// Local. Why a file that begins with these bytes, decompressed where it is `compressed`, is of a
  /// variant that is not read; empty where it is none.
  Required<std::string (*)(std::span<const char> beginning, bool compressed)> refusal;
  /// Collective. What the file announces, but no more entries than its bytes can hold: a size that
  /// lies is for the reader to report. Null: a file is about as large as what it holds.
  Required<MatrixSize (*)(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path)>
      announced_size;
  Required<FormatFunctions<double>> in_double;
  Required<FormatFunctions<float>> in_float;
};

struct FileFormat : MethodInfo, FileFormatFacts {
  bool holds_several_vectors() const { return *in_double->write_vectors != nullptr; }
  bool is_ending_of(std::string_view path) const;

  template <class T>
  const FormatFunctions<T>& functions() const;

  /// Their list, which defines the order of help and messages.
  static Family<FileFormat>& family();
};

template <>
inline const FormatFunctions<double>& FileFormat::functions<double>() const {
  return in_double;
}
template <>
inline const FormatFunctions<float>& FileFormat::functions<float>() const {
  return in_float;
}

/// ".mtx or .mtx.gz (Matrix Market), .petsc or .bin (PETSc binary)"
std::string known_endings();

/// "Matrix Market (.mtx, .mtx.gz) or PETSc binary (.petsc, .bin)"
std::string known_formats();

}  // namespace nodewise::io
