// Making distributed matrices: row by row in place, or from entries set and added on any rank.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::matrix {

/// Takes one entry of the row being generated.
template <class T>
using Emit = std::function<void(GlobalIndex column, T value)>;

/// One entry of a matrix, in global indices.
template <class T>
struct Triplet {
  GlobalIndex row;
  GlobalIndex col;
  T value;
};

/// Collective. Makes the matrix whose row i (global, owned by this rank) is what `row(i, emit)`
/// emits; `row` is called twice for each row and must emit the same both times, columns in any
/// order, repeated ones are added up. Nothing but the final arrays is held. Throws the same Error
/// on every rank where a column is outside `cols` or `row` throws.
/// `Row` is any callable taking (GlobalIndex, emit), emit being callable as emit(column, value).
template <class T, class Row>
DistMatrix<T> matrix_from_rows(const Layout& rows, const Layout& cols, Row&& row);

/// Gathers entries for rows of any rank, as finite-element assembly and file readers produce them.
/// In one round (up to finish()) every set() takes effect before any add(); where several ranks
/// set one entry, the highest rank's last value stands. Columns and rows are global, and count from
/// 0, in messages, too.
template <class T>
class Assembler {
 public:
  struct Statistics {
    GlobalIndex sent_elsewhere = 0;  ///< entries that went to another rank, over all ranks
    GlobalIndex duplicates = 0;  ///< entries added to one that was there already, over all ranks
  };

  Assembler(Layout rows, Layout cols) : rows_(std::move(rows)), cols_(std::move(cols)) {}
  /// Local. The first entry outside the layouts is kept as an error, which finish() throws on every
  /// rank: a rank that left its assembly alone would let the others wait.
  void set(GlobalIndex i, GlobalIndex j, T value) { put(sets_, i, j, value); }
  void add(GlobalIndex i, GlobalIndex j, T value) { put(adds_, i, j, value); }
  void reserve(std::size_t entries) { adds_.reserve(entries); }
  /// Collective. Sends entries to the owners of their rows (one sparse exchange) and makes the
  /// matrix. An error on one rank, of set() and add() too, is thrown on all: invalid_argument for
  /// an entry outside. The assembler is empty afterwards, in any case.
  DistMatrix<T> finish(Statistics* statistics = nullptr);

 private:
  void put(std::vector<Triplet<T>>& list, GlobalIndex i, GlobalIndex j, T value);

  Layout rows_, cols_;
  std::vector<Triplet<T>> sets_, adds_;
  std::optional<Error> error_;  // of the first entry that cannot be taken
};

}  // namespace nodewise::matrix

#include "nodewise/matrix/assemble_impl.hpp"
