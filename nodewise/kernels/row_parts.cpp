#include "nodewise/kernels/row_parts.hpp"

#include <algorithm>

namespace nodewise::kernels {

template <class T>
Csr<T> stack_rows(std::vector<Csr<T>> pieces) {
  std::vector<LocalIndex> first_row = {0};
  std::vector<Offset> first_entry = {0};
  for (const Csr<T>& piece : pieces) {
    first_row.push_back(first_row.back() + piece.n_rows);
    first_entry.push_back(first_entry.back() + piece.nnz());
  }
  Csr<T> all;
  all.n_rows = first_row.back();
  all.n_cols = pieces.front().n_cols;
  all.row_ptr.resize(static_cast<std::size_t>(all.n_rows) + 1);
  all.cols.resize(static_cast<std::size_t>(first_entry.back()));
  all.vals.resize(static_cast<std::size_t>(first_entry.back()));
  Offset* row_ptr = all.row_ptr.data();
  LocalIndex* cols = all.cols.data();
  row_ptr[0] = 0;
  parallel::run(static_cast<int>(pieces.size()), [&](int part) {
    const auto u = static_cast<std::size_t>(part);
    const Csr<T>& piece = pieces[u];
    for (LocalIndex i = 0; i < piece.n_rows; ++i) {
      row_ptr[first_row[u] + i + 1] = first_entry[u] + piece.end(i);
    }
    std::copy_n(piece.cols.begin(), piece.nnz(), cols + first_entry[u]);
    std::copy_n(piece.vals.begin(), piece.nnz(), all.vals.data() + first_entry[u]);
    pieces[u] = {};
  });
  return all;
}

template Csr<float> stack_rows(std::vector<Csr<float>>);
template Csr<double> stack_rows(std::vector<Csr<double>>);

}  // namespace nodewise::kernels
