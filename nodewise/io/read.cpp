#include "nodewise/io/read.hpp"

#include <array>
#include <optional>

#include <fmt/format.h>

#include "nodewise/io/byte_source.hpp"
#include "nodewise/io/collective.hpp"
#include "nodewise/io/foreign_format.hpp"
#include "nodewise/io/petsc_header.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

using comm::Layout;

/// The number of a file's format in the family. Throws file_format where it is foreign.
std::size_t find_format(const std::string& path) {
  std::array<char, 8> beginning = {};
  InputFile(path).read_at(0, beginning);
  const Family<FileFormat>& family = FileFormat::family();
  std::size_t left_to = 0;
  for (std::size_t k = 0; k < family.size(); ++k) {
    const auto recognise = *family[k].recognise;
    if (recognise == nullptr) left_to = k;
    if (recognise != nullptr && recognise(beginning)) return k;
  }
  refuse_foreign(path);
  return left_to;
}

/// ".mtx (Matrix Market)": the ending of a format whose files hold several vectors.
std::string for_several_vectors() {
  for (const FileFormat& format : FileFormat::family()) {
    if (format.holds_several_vectors()) {
      return fmt::format("{} ({})", format.endings->front(), *format.title);
    }
  }
  return "";
}

}  // namespace

const FileFormat& format_of_content(const mpi::Comm& comm, const std::string& path) {
  std::optional<Error> error;
  std::size_t found = 0;
  if (comm.is_root()) error = mpi::caught([&] { found = find_format(path); });
  share_error(comm, with_path(path, error), 0);
  const int number = mpi::broadcast(comm, static_cast<int>(found), 0);
  return FileFormat::family()[static_cast<std::size_t>(number)];
}

const FileFormat& format_of_name(const std::string& path) {
  for (const FileFormat& format : FileFormat::family()) {
    if (format.is_ending_of(path)) return format;
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: the name of an output file must end in {}", path, known_endings()));
}

template <class T>
matrix::DistMatrix<T> read_matrix(const std::shared_ptr<const mpi::Comm>& comm,
                                  const std::string& path, const ReadOptions& options,
                                  ReadSummary* summary) {
  const FileFormat& format = format_of_content(*comm, path);
  return (*format.functions<T>().read_matrix)(comm, path, options, summary);
}

template <class T>
std::vector<T> read_vector(const Layout& layout, const std::string& path) {
  const FileFormat& format = format_of_content(layout.comm(), path);
  return (*format.functions<T>().read_vector)(layout, path);
}

template <class T>
Vectors<T> read_vectors(const Layout& layout, const std::string& path) {
  const FileFormat& format = format_of_content(layout.comm(), path);
  return (*format.functions<T>().read_vectors)(layout, path);
}

template <class T>
void write_matrix(const std::string& path, const matrix::DistMatrix<T>& A) {
  (*format_of_name(path).functions<T>().write_matrix)(path, A);
}

template <class T>
void write_vector(const std::string& path, const Layout& layout, std::span<const T> x) {
  (*format_of_name(path).functions<T>().write_vector)(path, layout, x);
}

void require_room_for_vectors(const std::string& path, int n_vectors) {
  if (n_vectors == 1) return;
  const FileFormat& format = format_of_name(path);
  if (format.holds_several_vectors()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: {} holds one vector, these are {}; let its name end in {}", path,
                          *format.file, n_vectors, for_several_vectors()));
}

template <class T>
void write_vectors(const std::string& path, const Layout& layout, std::span<const T> values,
                   int n_vectors) {
  require_room_for_vectors(path, n_vectors);
  if (n_vectors == 1) return write_vector(path, layout, values);
  (*format_of_name(path).functions<T>().write_vectors)(path, layout, values, n_vectors);
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
