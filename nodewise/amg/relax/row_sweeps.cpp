#include "nodewise/amg/relax/row_sweeps.hpp"

#include <algorithm>
#include <type_traits>

#include "nodewise/kernels/row_product.hpp"

namespace nodewise::amg::relax {

using kernels::GuessedProduct;
using kernels::RowBlocks;
using kernels::UnguessedProduct;

/// Few pointers and no indirection: the loops below need all registers.
template <class T>
struct RowSweeps<T>::View {
  const Offset* row_ptr;
  const LocalIndex* cols;
  const T* vals;
  const LocalIndex* lower;
  const T* inverse;
};

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

/// Calls f(product, is_chained) as the form is.
template <class T>
template <class F>
void RowSweeps<T>::with_form(F&& f) const {
  switch (form_) {
    case Form::chained:
      return f(GuessedProduct(), std::true_type());
    case Form::guessed:
      return f(GuessedProduct(), std::false_type());
    case Form::unguessed:
      return f(UnguessedProduct(), std::false_type());
  }
}

template <class T>
auto RowSweeps<T>::view() const -> View {
  return {A_.row_ptr.data(), A_.cols.data(), A_.vals.data(), lower_.data(), inverse_.data()};
}

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

template class RowSweeps<float>;
template class RowSweeps<double>;

}  // namespace nodewise::amg::relax
