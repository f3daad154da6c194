// PETSc's binary files: one sparse matrix or one vector, big-endian, read and written in parallel.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nodewise/io/read_options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::io {

/// Integers in a PETSc file are as wide as the PetscInt of the PETSc that wrote it.
enum class PetscIndex { bits32, bits64 };

/// Collective. Reads the matrix at the beginning of a file: class number 1211216, rows, columns,
/// nonzeros, the length of every row, columns counted from 0, values in double. 32-bit and 64-bit
/// integers are told apart by the first bytes. Each rank reads its own rows, nothing else; what
/// follows the matrix in the file is left alone. Entries in the same place are added up.
/// Throws the same Error on every rank, with the path: file_not_found, file_format (no or another
/// class number, negative sizes or lengths, lengths that do not add up, a column outside the
/// matrix, a value that is not finite), file_io (the file is shorter than its sizes say),
/// index_overflow, out_of_memory, dimension_mismatch. Of several the one in the lowest row is
/// thrown. Source: the description of the format in the PETSc manual pages MatLoad and VecLoad.
template <class T>
matrix::DistMatrix<T> read_petsc_matrix(const std::shared_ptr<const mpi::Comm>& comm,
                                        const std::string& path, const ReadOptions& options = {},
                                        ReadSummary* summary = nullptr);

/// Collective. Reads the vector at the beginning of a file (class number 1211214, length, values)
/// and returns this rank's part. Throws likewise; dimension_mismatch where it has another length.
template <class T>
std::vector<T> read_petsc_vector(const comm::Layout& layout, const std::string& path);

/// Collective. Writes a matrix, each rank its own rows; see OutputFile for what happens on failure.
/// Throws the same Error on every rank: file_io; index_overflow where sizes do not fit the
/// integers; unsuitable_matrix where a value is not finite.
template <class T>
void write_petsc_matrix(const std::string& path, const matrix::DistMatrix<T>& A,
                        PetscIndex index = PetscIndex::bits32);

/// Collective. Writes a vector, likewise. x: this rank's part.
template <class T>
void write_petsc_vector(const std::string& path, const comm::Layout& layout, std::span<const T> x,
                        PetscIndex index = PetscIndex::bits32);

}  // namespace nodewise::io
