#include "nodewise/io/petsc_header.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "nodewise/io/big_endian.hpp"
#include "nodewise/io/byte_source.hpp"
#include "nodewise/io/collective.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

const char* name_of(PetscObject object) {
  return object == PetscObject::matrix ? "matrix" : "vector";
}

[[noreturn]] void refuse_petsc(const std::string& text) {
  throw Error(ErrorCode::file_format, text);
}

void read_sizes(const InputFile& file, PetscHeader& header) {
  const std::size_t count = header.object == PetscObject::matrix ? 3 : 1;
  std::array<GlobalIndex, 3> sizes = {0, 1, 0};
  const auto read = [&](Offset at, std::span<char> bytes) { file.read_all_at(at, bytes); };
  const auto into = std::span(sizes).first(count);
  if (header.index == PetscIndex::bits64) {
    read_big_endian<std::int64_t>(read, header.index_bytes(), into);
  } else {
    read_big_endian<std::int32_t>(read, header.index_bytes(), into);
  }
  header.rows = sizes[0];
  header.cols = sizes[1];
  header.nonzeros = sizes[2];
  if (header.nonzeros == -1) refuse_petsc("dense matrices are not supported");
  if (header.rows < 0 || header.cols < 0 || header.nonzeros < 0) {
    refuse_petsc(fmt::format("the sizes {} x {} with {} nonzeros are not possible", header.rows,
                             header.cols, header.nonzeros));
  }
}

PetscHeader read_checked(const std::string& path, PetscObject wanted) {
  const InputFile file(path);
  std::array<char, 8> beginning = {};
  if (file.size() == 0) refuse_petsc("the file is empty");
  file.read_at(0, beginning);
  std::optional<PetscHeader> header = recognise_petsc(beginning);
  if (!header) refuse_petsc("this is not a PETSc binary matrix or vector");
  if (header->object != wanted) {
    refuse_petsc(
        fmt::format("the file holds a {}, not a {}", name_of(header->object), name_of(wanted)));
  }
  read_sizes(file, *header);
  if (static_cast<double>(file.size()) < header->total_bytes()) {
    throw Error(ErrorCode::file_io, fmt::format("the file ends after {} of {:.0f} bytes",
                                                file.size(), header->total_bytes()));
  }
  return *header;
}

}  // namespace

double PetscHeader::total_bytes() const {
  const auto width = static_cast<double>(index_bytes());
  const auto n = static_cast<double>(rows);
  const auto entries = static_cast<double>(nonzeros);
  const double body = object == PetscObject::matrix ? (n + entries) * width + 8 * entries : 8 * n;
  return static_cast<double>(header_bytes()) + body;
}

std::optional<PetscHeader> recognise_petsc(std::span<const char> beginning) {
  PetscHeader header;
  const auto narrow_id = load_big_endian<std::int32_t>(beginning.data());
  const auto wide_id = load_big_endian<std::int64_t>(beginning.data());
  for (const PetscObject object : {PetscObject::vector, PetscObject::matrix}) {
    header.object = object;
    if (narrow_id == static_cast<std::int32_t>(object)) return header;
    header.index = PetscIndex::bits64;
    if (wide_id == static_cast<std::int32_t>(object)) return header;
    header.index = PetscIndex::bits32;
  }
  return std::nullopt;
}

std::optional<Error> with_path(const std::string& path, const std::optional<Error>& error) {
  if (!error || error->code() == ErrorCode::file_not_found) return error;
  return Error(error->code(), fmt::format("{}: {}", path, error->what()));
}

PetscHeader read_petsc_header(const mpi::Comm& comm, const std::string& path, PetscObject wanted) {
  PetscHeader header;
  std::optional<Error> error;
  if (comm.is_root()) error = mpi::caught([&] { header = read_checked(path, wanted); });
  share_error(comm, with_path(path, error), 0);
  header.object = wanted;
  header.index = mpi::broadcast(comm, header.index == PetscIndex::bits64 ? 1 : 0, 0) != 0
                     ? PetscIndex::bits64
                     : PetscIndex::bits32;
  header.rows = mpi::broadcast(comm, header.rows, 0);
  header.cols = mpi::broadcast(comm, header.cols, 0);
  header.nonzeros = mpi::broadcast(comm, header.nonzeros, 0);
  return header;
}

}  // namespace nodewise::io
