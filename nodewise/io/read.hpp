// Matrices and vectors from and to files of any format that is known.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nodewise/io/file_format.hpp"
#include "nodewise/io/read_options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::io {

/// Local. The format a file of this name is written in: .mtx is Matrix Market, .mtx.gz the same
/// compressed, .petsc and .bin are PETSc binary. Throws invalid_argument, naming the endings, for
/// any other name.
const FileFormat& format_of_name(const std::string& path);

/// Collective. The format of a file, by its first bytes. What no format recognises, and is not
/// known to be something else, is left to the Matrix Market reader and its messages. Throws
/// file_not_found and, naming what the file is, file_format.
const FileFormat& format_of_content(const mpi::Comm& comm, const std::string& path);

/// Collective. Reads a matrix; the format (Matrix Market, plain or gzip, or PETSc binary) is told
/// by the first bytes, not by the name. Errors: see read_matrix_market() and read_petsc_matrix().
template <class T>
matrix::DistMatrix<T> read_matrix(const std::shared_ptr<const mpi::Comm>& comm,
                                  const std::string& path, const ReadOptions& options = {},
                                  ReadSummary* summary = nullptr);

/// Collective. Reads a vector of the layout's length, likewise, and returns this rank's part.
template <class T>
std::vector<T> read_vector(const comm::Layout& layout, const std::string& path);

/// Collective. Reads vectors of the layout's length, likewise: all columns of a Matrix Market file
/// of n x k, the one vector of a PETSc file.
template <class T>
Vectors<T> read_vectors(const comm::Layout& layout, const std::string& path);

/// Collective. Writes a matrix in the format that the name asks for. The file appears under its
/// name when it is complete, or not at all.
template <class T>
void write_matrix(const std::string& path, const matrix::DistMatrix<T>& A);

/// Collective. Writes a vector, likewise. x: this rank's part.
template <class T>
void write_vector(const std::string& path, const comm::Layout& layout, std::span<const T> x);

/// Local. Throws invalid_argument where the format that the name asks for cannot hold so many
/// vectors: a PETSc file holds one.
void require_room_for_vectors(const std::string& path, int n_vectors);

/// Collective. Writes several vectors, likewise. values: this rank's part, as in Vectors. Throws,
/// beside, what require_room_for_vectors() does.
template <class T>
void write_vectors(const std::string& path, const comm::Layout& layout, std::span<const T> values,
                   int n_vectors);

}  // namespace nodewise::io
