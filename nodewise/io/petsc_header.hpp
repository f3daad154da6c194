// The numbers at the beginning of a PETSc binary file and what they say about the places behind.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "nodewise/io/petsc_binary.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::io {

enum class PetscObject : std::int32_t { vector = 1211214, matrix = 1211216 };

struct PetscHeader {
  PetscObject object = PetscObject::matrix;
  PetscIndex index = PetscIndex::bits32;
  GlobalIndex rows = 0;
  GlobalIndex cols = 1;
  GlobalIndex nonzeros = 0;  ///< of a matrix

  Offset index_bytes() const { return index == PetscIndex::bits64 ? 8 : 4; }
  Offset header_bytes() const { return (object == PetscObject::matrix ? 4 : 2) * index_bytes(); }
  /// Returns the position of a row's length.
  Offset lengths_at(GlobalIndex row) const { return header_bytes() + row * index_bytes(); }
  /// Returns the position of an entry's column.
  Offset columns_at(Offset entry) const { return lengths_at(rows) + entry * index_bytes(); }
  /// Returns the position of the value of an entry or of a vector's element.
  Offset values_at(Offset entry) const {
    const Offset begin = object == PetscObject::matrix ? columns_at(nonzeros) : header_bytes();
    return begin + entry * 8;
  }
  /// Bytes of the whole object, in a type that cannot overflow for any 64-bit sizes.
  double total_bytes() const;
};

/// Local. Returns the kind of PETSc object that begins with these bytes (at least 8), if any.
std::optional<PetscHeader> recognise_petsc(std::span<const char> beginning);

/// Collective. Rank 0 reads and checks the header and the size of the file. Throws on every rank:
/// see petsc_binary.hpp.
PetscHeader read_petsc_header(const mpi::Comm& comm, const std::string& path, PetscObject wanted);

/// Local. The error with the path put before its text, where it is not there already.
std::optional<Error> with_path(const std::string& path, const std::optional<Error>& error);

}  // namespace nodewise::io
