// Local matrices made by several threads, a range of rows by each.
#pragma once

#include <span>
#include <vector>

#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/csr.hpp"

namespace nodewise::kernels {

/// Local. The matrix whose rows are those of the pieces, one piece below the other; all have as
/// many columns. The pieces are used up.
template <class T>
Csr<T> stack_rows(std::vector<Csr<T>> pieces);

/// Local. The rows that make(begin, end) makes of ranges of the rows that `row_ptr` counts entries
/// of, so that each thread has about as many of these. The same matrix on any number of threads if
/// make() makes the same rows.
template <class T, class Make>
Csr<T> rows_in_parts(std::span<const Offset> row_ptr, const Make& make) {
  const auto n_rows = static_cast<LocalIndex>(row_ptr.size() - 1);
  const int parts = parallel::parts_of(static_cast<std::size_t>(row_ptr.back()) + row_ptr.size());
  if (parts == 1) return make(LocalIndex{0}, n_rows);
  std::vector<Csr<T>> pieces(static_cast<std::size_t>(parts));
  parallel::run(parts, [&](int part) {
    pieces[static_cast<std::size_t>(part)] = make(parallel::row_part(row_ptr, parts, part),
                                                  parallel::row_part(row_ptr, parts, part + 1));
  });
  return stack_rows(std::move(pieces));
}

}  // namespace nodewise::kernels
