// Reading and writing Matrix Market files in parallel, plain and gzip.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nodewise/io/read_options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::io {

/// Collective. Reads a matrix: real, integer and pattern (values 1); general, symmetric and
/// skew-symmetric; coordinate and array. A plain file is read in ranges of bytes, one a rank; a
/// gzip one, told by its first bytes, is decompressed on rank 0 and dealt to all. No rank holds the
/// file. Entries off the diagonal of a symmetric or skew-symmetric file are mirrored once. Entries
/// in the same place are added up. Stored zeros of a coordinate file are kept; those of an array
/// file, which must write every entry, are not. Sent: each entry once, to the owner of its row.
/// Throws the same Error on every rank, with the path and mostly the line: file_not_found,
/// file_format (malformed line, index outside the matrix, entry above the diagonal of a symmetric
/// file, value not finite, too few or too many entries, unsupported header, line longer than
/// max_line_bytes), file_io (corrupt gzip data), index_overflow, out_of_memory,
/// dimension_mismatch (a layout of another size). Of several errors in the file the one on the
/// lowest line is thrown.
template <class T>
matrix::DistMatrix<T> read_matrix_market(const std::shared_ptr<const mpi::Comm>& comm,
                                         const std::string& path, const ReadOptions& options = {},
                                         ReadSummary* summary = nullptr);

/// Collective. Reads a vector of n_global() elements, a file of n x 1 in array or coordinate format
/// (elements without an entry are 0, entries in the same place are added up), and returns this
/// rank's part. Element k of the file belongs to global index layout.first() + k. Throws as
/// read_matrix_market(), and dimension_mismatch where the file has another length or is not n x 1.
template <class T>
std::vector<T> read_vector_market(const comm::Layout& layout, const std::string& path,
                                  const ReadOptions& options = {});

/// Collective. Likewise for a file of n x k, k vectors of n_global() elements, 1 <= k <= 1000.
template <class T>
Vectors<T> read_vectors_market(const comm::Layout& layout, const std::string& path,
                               const ReadOptions& options = {});

/// Collective. Writes a matrix as "coordinate real general" with the shortest numbers that read
/// back exactly, rows and columns ascending: the same file on any number of ranks. Each rank
/// formats and writes its own rows, twice (first to learn their length). See OutputFile for what
/// happens on failure. Throws the same Error on every rank: file_io, or unsuitable_matrix for a
/// value that is not finite, which could not be read back.
template <class T>
void write_matrix_market(const std::string& path, const matrix::DistMatrix<T>& A);

/// Collective. Writes a vector as "array real general", n x 1, likewise. x: this rank's part.
template <class T>
void write_vector_market(const std::string& path, const comm::Layout& layout, std::span<const T> x);

/// Collective. Writes several vectors as "array real general", n x n_vectors, likewise. values:
/// this rank's part, row-major as in Vectors.
template <class T>
void write_vectors_market(const std::string& path, const comm::Layout& layout,
                          std::span<const T> values, int n_vectors);

}  // namespace nodewise::io
