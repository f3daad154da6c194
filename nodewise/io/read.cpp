#include "nodewise/io/read.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "nodewise/io/byte_source.hpp"
#include "nodewise/io/collective.hpp"
#include "nodewise/io/foreign_format.hpp"
#include "nodewise/io/matrix_market.hpp"
#include "nodewise/io/petsc_binary.hpp"
#include "nodewise/io/petsc_header.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

using comm::Layout;

bool is_compressed_name(std::string_view name) {
  return name.ends_with(".mtx.gz");
}

}  // namespace

FileFormat format_of_content(const mpi::Comm& comm, const std::string& path) {
  std::optional<Error> error;
  bool petsc = false;
  if (comm.is_root()) {
    error = mpi::caught([&] {
      std::array<char, 8> beginning = {};
      InputFile(path).read_at(0, beginning);
      petsc = recognise_petsc(beginning).has_value();
      if (!petsc) refuse_foreign(path);
    });
  }
  share_error(comm, with_path(path, error), 0);
  return mpi::broadcast(comm, petsc ? 1 : 0, 0) != 0 ? FileFormat::petsc_binary
                                                     : FileFormat::matrix_market;
}

FileFormat format_of_name(const std::string& path) {
  const std::string_view name = path;
  if (name.ends_with(".mtx") || is_compressed_name(name)) return FileFormat::matrix_market;
  if (name.ends_with(".petsc") || name.ends_with(".bin")) return FileFormat::petsc_binary;
  throw Error(
      ErrorCode::invalid_argument,
      path +
          ": the name of an output file must end in .mtx or .mtx.gz (Matrix Market), .petsc "
          "or .bin (PETSc binary)");
}

template <class T>
matrix::DistMatrix<T> read_matrix(const std::shared_ptr<const mpi::Comm>& comm,
                                  const std::string& path, const ReadOptions& options,
                                  ReadSummary* summary) {
  if (format_of_content(*comm, path) == FileFormat::petsc_binary) {
    return read_petsc_matrix<T>(comm, path, options, summary);
  }
  return read_matrix_market<T>(comm, path, options, summary);
}

template <class T>
std::vector<T> read_vector(const Layout& layout, const std::string& path) {
  if (format_of_content(layout.comm(), path) == FileFormat::petsc_binary) {
    return read_petsc_vector<T>(layout, path);
  }
  return read_vector_market<T>(layout, path);
}

template <class T>
Vectors<T> read_vectors(const Layout& layout, const std::string& path) {
  if (format_of_content(layout.comm(), path) == FileFormat::petsc_binary) {
    return {1, read_petsc_vector<T>(layout, path)};
  }
  return read_vectors_market<T>(layout, path);
}

template <class T>
void write_matrix(const std::string& path, const matrix::DistMatrix<T>& A) {
  if (format_of_name(path) == FileFormat::petsc_binary) return write_petsc_matrix(path, A);
  write_matrix_market(path, A);
}

template <class T>
void write_vector(const std::string& path, const Layout& layout, std::span<const T> x) {
  if (format_of_name(path) == FileFormat::petsc_binary) return write_petsc_vector(path, layout, x);
  write_vector_market(path, layout, x);
}

void require_room_for_vectors(const std::string& path, int n_vectors) {
  if (n_vectors == 1 || format_of_name(path) == FileFormat::matrix_market) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: a PETSc file holds one vector, these are {}; let its name end in "
                          ".mtx (Matrix Market)",
                          path, n_vectors));
}

template <class T>
void write_vectors(const std::string& path, const Layout& layout, std::span<const T> values,
                   int n_vectors) {
  require_room_for_vectors(path, n_vectors);
  if (n_vectors == 1) return write_vector(path, layout, values);
  write_vectors_market(path, layout, values, n_vectors);
}

#define NODEWISE_INSTANTIATE(T)                                                       \
  template matrix::DistMatrix<T> read_matrix(const std::shared_ptr<const mpi::Comm>&, \
                                             const std::string&, const ReadOptions&,  \
                                             ReadSummary*);                           \
  template std::vector<T> read_vector(const Layout&, const std::string&);             \
  template Vectors<T> read_vectors(const Layout&, const std::string&);                \
  template void write_matrix(const std::string&, const matrix::DistMatrix<T>&);       \
  template void write_vector(const std::string&, const Layout&, std::span<const T>);  \
  template void write_vectors(const std::string&, const Layout&, std::span<const T>, int);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::io
