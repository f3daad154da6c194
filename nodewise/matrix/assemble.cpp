#include "nodewise/matrix/assemble.hpp"

#include <utility>

#include "nodewise/base/row_text.hpp"
#include "nodewise/comm/discovery.hpp"
#include "nodewise/matrix/ghost_numbering.hpp"

namespace nodewise::matrix {

namespace detail {

void throw_outside(GlobalIndex row, GlobalIndex column, const Layout& rows, const Layout& cols) {
  const auto range = [](const Layout& layout) {
    return " is outside [" + std::to_string(layout.first()) + ", " + std::to_string(layout.last()) +
           ")";
  };
  const std::string row_outside = rows.contains(row) ? ": " : "," + range(rows);
  const std::string column_outside =
      rows.contains(row) ? "column " + std::to_string(column) + range(cols) : "";
  throw Error(ErrorCode::invalid_argument, row_text(row) + row_outside + column_outside);
}

}  // namespace detail

namespace {

/// Splits a list into messages to the owners of the rows and frees it.
template <class T>
comm::Messages<Triplet<T>> address(const Layout& rows, std::vector<Triplet<T>>& list) {
  std::vector<int> owners(list.size());
  for (std::size_t k = 0; k < list.size(); ++k) owners[k] = rows.owner(list[k].row);
  auto messages = comm::group_by_rank(std::span<const int>(owners),
                                      std::span<const Triplet<T>>(list), rows.comm().size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    narrow<int>(messages.offsets[i + 1] - messages.offsets[i], "entries for one rank:");
  }
  std::vector<Triplet<T>>().swap(list);
  return messages;
}

/// Orders triplets by row, stably, in compressed rows with global columns numbered.
template <class T>
Csr<T> to_rows(const Layout& rows, GhostNumbering& columns, std::span<const Triplet<T>> triplets) {
  Csr<T> block(rows.n_local(), 0);
  for (const Triplet<T>& t : triplets) {
    ++block.row_ptr[static_cast<std::size_t>(rows.to_local(t.row)) + 1];
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(block.n_rows); ++i) {
    block.row_ptr[i + 1] += block.row_ptr[i];
  }
  block.cols.resize(triplets.size());
  block.vals.resize(triplets.size());
  std::vector<Offset> next(block.row_ptr.begin(), block.row_ptr.end() - 1);
  for (const Triplet<T>& t : triplets) {
    const auto p = static_cast<std::size_t>(next[static_cast<std::size_t>(rows.to_local(t.row))]++);
    block.cols[p] = columns.number(t.col);
    block.vals[p] = t.value;
  }
  block.n_cols = columns.size();
  return block;
}

/// Keeps the last of equal columns in each row. Columns need not be sorted.
template <class T>
void keep_last(Csr<T>& rows) {
  std::vector<Offset> last(static_cast<std::size_t>(rows.n_cols), -1);
  Offset out = 0;
  Offset begin = 0;
  for (LocalIndex i = 0; i < rows.n_rows; ++i) {
    const Offset end = rows.end(i);
    const Offset row_out = out;
    for (Offset k = begin; k < end; ++k) {
      const auto p = static_cast<std::size_t>(k);
      Offset& place = last[static_cast<std::size_t>(rows.cols[p])];
      if (place < row_out) {
        place = out++;
        rows.cols[static_cast<std::size_t>(place)] = rows.cols[p];
      }
      rows.vals[static_cast<std::size_t>(place)] = rows.vals[p];
    }
    begin = end;
    rows.row_ptr[static_cast<std::size_t>(i) + 1] = out;
  }
  rows.cols.resize(static_cast<std::size_t>(out));
  rows.vals.resize(static_cast<std::size_t>(out));
}

/// Row by row the entries of a, then those of b.
template <class T>
Csr<T> join_rows(const Csr<T>& a, const Csr<T>& b, LocalIndex n_cols) {
  Csr<T> joined(a.n_rows, n_cols);
  joined.cols.reserve(a.cols.size() + b.cols.size());
  joined.vals.reserve(a.cols.size() + b.cols.size());
  for (LocalIndex i = 0; i < a.n_rows; ++i) {
    for (const Csr<T>* part : {&a, &b}) {
      joined.cols.append(part->cols.begin() + part->begin(i), part->cols.begin() + part->end(i));
      joined.vals.insert(joined.vals.end(), part->vals.begin() + part->begin(i),
                         part->vals.begin() + part->end(i));
    }
    joined.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(joined.cols.size());
  }
  return joined;
}

}  // namespace

template <class T>
void Assembler<T>::put(std::vector<Triplet<T>>& list, GlobalIndex i, GlobalIndex j, T value) {
  if (rows_.contains(i) && cols_.contains(j)) {
    list.push_back({i, j, value});
  } else if (!error_) {
    error_ = mpi::caught([&] { detail::throw_outside(i, j, rows_, cols_); });
  }
}

template <class T>
DistMatrix<T> Assembler<T>::finish(Statistics* statistics) {
  const mpi::Comm& comm = rows_.comm();
  const auto elsewhere = [&](const std::vector<Triplet<T>>& list) {
    return std::count_if(list.begin(), list.end(),
                         [&](const Triplet<T>& t) { return !rows_.owns(t.row); });
  };
  std::vector<Triplet<T>> set_here = std::exchange(sets_, {});
  std::vector<Triplet<T>> added_here = std::exchange(adds_, {});
  const std::optional<Error> error = std::exchange(error_, std::nullopt);
  GlobalIndex counts[2] = {elsewhere(set_here) + elsewhere(added_here), 0};
  // Ordered by source rank, so "the highest rank's last value" is the last in the list.
  const auto sets = comm::exchange_sparse(comm, [&] {
    if (error) throw *error;
    return address(rows_, set_here);
  });
  auto adds = comm::exchange_sparse(comm, [&] { return address(rows_, added_here); });
  SplitRows<T> split;
  const auto make = [&] {
    GhostNumbering columns(cols_);
    RowBlock<T> block;
    block.n_owned_cols = cols_.n_local();
    block.rows = to_rows(rows_, columns, std::span<const Triplet<T>>(adds.data));
    std::vector<Triplet<T>>().swap(adds.data);
    if (!sets.data.empty()) {
      Csr<T> set_rows = to_rows(rows_, columns, std::span<const Triplet<T>>(sets.data));
      keep_last(set_rows);
      block.rows = join_rows(set_rows, block.rows, columns.size());
    }
    block.ghosts = columns.ghosts();
    const Offset before = block.rows.nnz();
    split = split_rows(cols_, std::move(block));
    counts[1] = before - split.on.nnz() - split.off.nnz();
  };
  mpi::agree_on_sums(comm, mpi::caught(make), counts);
  if (statistics != nullptr) *statistics = {counts[0], counts[1]};
  return DistMatrix<T>(rows_, cols_, std::move(split));
}

template class Assembler<float>;
template class Assembler<double>;

}  // namespace nodewise::matrix
