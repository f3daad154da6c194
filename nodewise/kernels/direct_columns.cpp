#include "nodewise/kernels/direct_columns.hpp"

#include <vector>

namespace nodewise::kernels {

template <class T>
Array<LocalIndex> direct_columns(const ExtendedRows<T>& B) {
  Array<LocalIndex> direct(static_cast<std::size_t>(B.n_rows()));
  std::vector<char> is_taken(static_cast<std::size_t>(B.n_cols), 0);
  for (std::size_t k = 0; k < direct.size(); ++k) {
    Offset length = 0;
    LocalIndex column = 0;
    T value{};
    B.for_each_piece(static_cast<LocalIndex>(k),
                     [&](const LocalIndex* js, const T* bs, Offset n, LocalIndex shift) {
                       if (n > 0) column = js[0] + shift;
                       if (n > 0) value = bs[0];
                       length += n;
                     });
    direct[k] = B.n_cols;
    if (length != 1 || value != T{1} || is_taken[static_cast<std::size_t>(column)] != 0) continue;
    is_taken[static_cast<std::size_t>(column)] = 1;
    direct[k] = column;
  }
  return direct;
}

template Array<LocalIndex> direct_columns(const ExtendedRows<float>&);
template Array<LocalIndex> direct_columns(const ExtendedRows<double>&);

}  // namespace nodewise::kernels
