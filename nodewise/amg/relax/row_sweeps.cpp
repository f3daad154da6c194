#include "nodewise/amg/relax/row_sweeps.hpp"

#include <algorithm>

namespace nodewise::amg::relax {

using kernels::RowBlocks;

template <class T>
RowSweeps<T>::RowSweeps(const kernels::Csr<T>& A, std::span<const LocalIndex> lower,
                        std::span<const T> inverse)
    : A_(A), lower_(lower), inverse_(inverse), form_(form()) {}

/// Chained where a wrong guess of whether the row before is a neighbour is rare: looks at a
/// thousand rows from all over.
template <class T>
auto RowSweeps<T>::form() const -> Form {
  const LocalIndex step = A_.n_rows / 1024 + 1;
  LocalIndex rows = 0, coupled = 0;
  for (LocalIndex i = 0; i < A_.n_rows; i += step, ++rows) {
    const LocalIndex below = lower_[static_cast<std::size_t>(i)];
    coupled += below > 0 && A_.cols[static_cast<std::size_t>(A_.begin(i) + below - 1)] == i - 1;
  }
  if (coupled > 0.9 * rows && A_.nnz() < Offset{16} * A_.n_rows) return Form::chained;
  return kernels::ends_are_unpredictable(A_.row_ptr, 0, A_.n_rows) ? Form::unguessed
                                                                   : Form::guessed;
}

/// x += inverse (b - A x) in row i, where `neighbour` would be the entry at the row `before`, whose
/// x is `previous`; what this x becomes.
template <class T>
template <class Product, bool is_chained>
T RowSweeps<T>::relax_row(const View& A, LocalIndex i, LocalIndex before, const T* b, const T* x,
                          bool is_first, T previous) {
  Offset begin = A.row_ptr[i];
  const Offset end = A.row_ptr[i + 1];
  T r = b[i];
  T to_previous{};
  if constexpr (is_chained) {
    const Offset neighbour = begin + A.lower[i] + (before - i);
    if (neighbour >= begin && neighbour < end && A.cols[neighbour] == before) {
      to_previous = A.vals[neighbour] * A.inverse[i];
      r -= Product::of(A.cols, A.vals, begin, neighbour, x);
      begin = neighbour + 1;
      if (is_first) previous = x[before];
    }
  }
  r -= Product::of(A.cols, A.vals, begin, end, x);
  const T now = x[i] + r * A.inverse[i];
  return is_chained ? now - to_previous * previous : now;
}

template <class T>
void RowSweeps<T>::forward(LocalIndex first, LocalIndex last, const T* b, T* x) const {
  with_form([&](auto product, auto is_chained) {
    const View A = view();
    T previous{};
    const auto relax = [=, &previous](LocalIndex begin, LocalIndex end) {
      for (LocalIndex i = begin; i < end; ++i) {
        previous =
            relax_row<decltype(product), is_chained.value>(A, i, i - 1, b, x, i == first, previous);
        x[i] = previous;
      }
    };
    RowBlocks<T>(A_, first, last).upwards(first, last, relax);
  });
}

template <class T>
void RowSweeps<T>::backward(LocalIndex first, LocalIndex last, const T* b, T* x) const {
  with_form([&](auto product, auto is_chained) {
    const View A = view();
    T previous{};
    const auto relax = [=, &previous](LocalIndex begin, LocalIndex end) {
      for (LocalIndex i = end - 1; i >= begin; --i) {
        previous = relax_row<decltype(product), is_chained.value>(A, i, i + 1, b, x, i == last - 1,
                                                                  previous);
        x[i] = previous;
      }
    };
    RowBlocks<T>(A_, first, last).downwards(first, last, relax);
  });
}

template <class T>
void RowSweeps<T>::backward_with_upper(LocalIndex first, LocalIndex last, const RowBlocks<T>& ahead,
                                       const T* b, T* x, T* y) const {
  with_form([&](auto product, auto is_chained) {
    const View A = view();
    T previous{};
    const auto relax = [=, &previous](LocalIndex begin_row, LocalIndex end_row) {
      for (LocalIndex i = end_row - 1; i >= begin_row; --i) {
        const Offset begin = A.row_ptr[i], end = A.row_ptr[i + 1];
        const Offset middle = begin + A.lower[i];
        Offset upper = std::min(middle + 1, end);
        const T diagonal = middle < end ? A.vals[middle] : T{};
        T to_previous{};
        if (is_chained && upper < end && A.cols[upper] == i + 1) {
          to_previous = A.vals[upper++];
          if (i == last - 1) previous = x[i + 1];
        }
        const T above = product.of(A.cols, A.vals, upper, end, x);
        const T below = product.of(A.cols, A.vals, begin, middle, x);
        const T now = x[i] + (b[i] - below - diagonal * x[i] - above) * A.inverse[i];
        const T sum = is_chained ? above + to_previous * previous : above;
        previous = is_chained ? now - to_previous * A.inverse[i] * previous : now;
        x[i] = previous;
        y[i] = sum + diagonal * previous;
      }
    };
    ahead.downwards(first, last, relax);
  });
}

template <class T>
void RowSweeps<T>::add_lower(LocalIndex first, LocalIndex last, const RowBlocks<T>& ahead,
                             const T* x, T* y) const {
  with_form([&](auto product, auto) {
    const View A = view();
    const auto add = [=](LocalIndex begin_row, LocalIndex end_row) {
      for (LocalIndex i = end_row - 1; i >= begin_row; --i) {
        const Offset begin = A.row_ptr[i];
        y[i] += product.of(A.cols, A.vals, begin, begin + A.lower[i], x);
      }
    };
    ahead.downwards(first, last, add);
  });
}

#define NODEWISE_INSTANTIATE(T)                                                                    \
  template RowSweeps<T>::RowSweeps(const kernels::Csr<T>&, std::span<const LocalIndex>,            \
                                   std::span<const T>);                                            \
  template void RowSweeps<T>::forward(LocalIndex, LocalIndex, const T*, T*) const;                 \
  template void RowSweeps<T>::backward(LocalIndex, LocalIndex, const T*, T*) const;                \
  template void RowSweeps<T>::backward_with_upper(LocalIndex, LocalIndex, const RowBlocks<T>&,     \
                                                  const T*, T*, T*) const;                         \
  template void RowSweeps<T>::add_lower(LocalIndex, LocalIndex, const RowBlocks<T>&, const T*, T*) \
      const;
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::relax
