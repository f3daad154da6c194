// What all readers of matrix files take and tell.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nodewise/comm/layout.hpp"
#include "nodewise/io/line_reader.hpp"

namespace nodewise::io {

struct ReadOptions {
  /// How rows and columns are laid out; uniform where not given. With one given, a square matrix
  /// takes it for both.
  std::optional<comm::Layout> rows = {};
  std::optional<comm::Layout> cols = {};
  /// Of a layout that is not given: so many successive rows (columns) stay on one rank, such as the
  /// unknowns of a point. At least 1.
  int together = 1;
  /// What a rank reads at once, at least 1.
  std::size_t piece_bytes = default_piece_bytes;
  /// Called on rank 0 while a Matrix Market file is read, with the share of its part that is read.
  /// It must not throw.
  std::function<void(double share)> progress = {};
};

/// What was found in a file.
struct ReadSummary {
  std::string format;  ///< such as "Matrix Market, coordinate real symmetric, gzip"
  GlobalIndex rows = 0;
  GlobalIndex cols = 0;
  GlobalIndex entries = 0;     ///< entries in the file
  GlobalIndex nonzeros = 0;    ///< entries of the matrix, those of the other triangle included
  GlobalIndex duplicates = 0;  ///< entries of the file added to an earlier one in the same place
  bool symmetric = false;      ///< the file holds one triangle of a symmetric matrix
};

/// This rank's part of some vectors: value (i, c) of vector c at local row i is
/// values[i * n_vectors + c].
template <class T>
struct Vectors {
  int n_vectors = 0;
  std::vector<T> values;
};

/// Row and column layouts of a matrix about to be read.
struct MatrixLayouts {
  comm::Layout rows, cols;
};

/// Collective. The layouts the options ask for. Throws on every rank, naming the path:
/// dimension_mismatch where a layout has another size, index_overflow where a rank would get more
/// rows than it can count, out_of_memory where the row pointers alone do not fit into a node.
MatrixLayouts choose_layouts(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path,
                             GlobalIndex n_rows, GlobalIndex n_cols, const ReadOptions& options);

}  // namespace nodewise::io
