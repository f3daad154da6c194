// Sweeps from x = 0, apart from the others: compilers inline the products of rows only into so much
// code of one file.
#include <algorithm>

#include "nodewise/amg/relax/row_sweeps.hpp"

namespace nodewise::amg::relax {

using kernels::RowBlocks;

/// A forward sweep from x = 0, which calls follow(i, x_i) behind every row.
template <class T>
template <class F>
void RowSweeps<T>::sweep_first(LocalIndex first, LocalIndex last, const RowBlocks<T>& ahead,
                               const T* b, T* x, F&& follow) const {
  with_form([&](auto product, auto is_chained) {
    const View A = view();
    T previous{};
    const auto relax = [=, &previous](LocalIndex begin_row, LocalIndex end_row) {
      for (LocalIndex i = begin_row; i < end_row; ++i) {
        const Offset begin = A.row_ptr[i];
        Offset end = begin + A.lower[i];
        T to_previous{};
        if (is_chained && end > begin && A.cols[end - 1] == i - 1) {
          to_previous = A.vals[--end] * A.inverse[i];
          if (i == first) previous = x[i - 1];
        }
        const T others = product.of(A.cols, A.vals, begin, end, x);
        const T now = (b[i] - others) * A.inverse[i];
        previous = is_chained ? now - to_previous * previous : now;
        x[i] = previous;
        follow(i, previous);
      }
    };
    ahead.upwards(first, last, relax);
  });
}

template <class T>
void RowSweeps<T>::first(LocalIndex first, LocalIndex last, const RowBlocks<T>& ahead, const T* b,
                         T* x) const {
  sweep_first(first, last, ahead, b, x, [](LocalIndex, T) {});
}

template <class T>
void RowSweeps<T>::first_with_residual(LocalIndex first, LocalIndex last, const RowBlocks<T>& ahead,
                                       const T* b, T* x, T* r) const {
  const View A = view();
  sweep_first(first, last, ahead, b, x, [=](LocalIndex i, T now) {
    const Offset begin = A.row_ptr[i];
    r[i] = T{};
    kernels::subtract_multiple(A.cols, A.vals, begin, begin + A.lower[i], now, r);
  });
}

template <class T>
void RowSweeps<T>::backward_with_residual(LocalIndex first, LocalIndex last,
                                          const RowBlocks<T>& ahead, const T* shift, const T* b,
                                          T* x, T* r) const {
  with_form([&](auto product, auto is_chained) {
    const View A = view();
    T previous{};
    const auto relax = [=, &previous](LocalIndex begin_row, LocalIndex end_row) {
      for (LocalIndex i = end_row - 1; i >= begin_row; --i) {
        const Offset end = A.row_ptr[i + 1];
        const Offset middle = A.row_ptr[i] + A.lower[i];
        const Offset upper = std::min(middle + 1, end);
        const T diagonal = middle < end ? A.vals[middle] : T{};
        const bool has_neighbour = is_chained && upper < end && A.cols[upper] == i + 1;
        const T to_previous = has_neighbour ? A.vals[upper] : T{};
        if (has_neighbour && i == last - 1) previous = x[i + 1];
        const T above = product.of(A.cols, A.vals, upper + (has_neighbour ? 1 : 0), end, x);
        const T shifted = shift != nullptr ? shift[i] * x[i] : T{};
        const T now = x[i] + (shifted - above) * A.inverse[i];
        const T sum = is_chained ? above + to_previous * previous : above;
        previous = is_chained ? now - to_previous * A.inverse[i] * previous : now;
        x[i] = previous;
        r[i] = b[i] - sum - diagonal * previous;
        kernels::subtract_multiple(A.cols, A.vals, upper, end, previous, r);
      }
    };
    ahead.downwards(first, last, relax);
  });
}

template <class T>
void RowSweeps<T>::upper_residual(LocalIndex first, LocalIndex last, const RowBlocks<T>& ahead,
                                  const T* x, T* r) const {
  with_form([&](auto product, auto) {
    const View A = view();
    const auto subtract = [=](LocalIndex begin_row, LocalIndex end_row) {
      for (LocalIndex i = begin_row; i < end_row; ++i) {
        const Offset end = A.row_ptr[i + 1];
        const Offset begin = std::min(A.row_ptr[i] + A.lower[i] + 1, end);
        r[i] = -product.of(A.cols, A.vals, begin, end, x);
      }
    };
    ahead.upwards(first, last, subtract);
  });
}

#define NODEWISE_INSTANTIATE(T)                                                                   \
  template void RowSweeps<T>::first(LocalIndex, LocalIndex, const RowBlocks<T>&, const T*, T*)    \
      const;                                                                                      \
  template void RowSweeps<T>::first_with_residual(LocalIndex, LocalIndex, const RowBlocks<T>&,    \
                                                  const T*, T*, T*) const;                        \
  template void RowSweeps<T>::backward_with_residual(LocalIndex, LocalIndex, const RowBlocks<T>&, \
                                                     const T*, const T*, T*, T*) const;           \
  template void RowSweeps<T>::upper_residual(LocalIndex, LocalIndex, const RowBlocks<T>&,         \
                                             const T*, T*) const;
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::relax
