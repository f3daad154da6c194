#include "nodewise/device/sell.hpp"

#include "nodewise/device/launch.hpp"

namespace nodewise::device {

template <class T>
struct SellView {
  const Offset* slices;
  const LocalIndex* rows;
  const LocalIndex* lengths;
  const LocalIndex* cols;
  const T* vals;

  NODEWISE_KERNEL LocalIndex row(std::int64_t place) const { return load(rows + place); }

  /// The product of the row at a place with x.
  NODEWISE_KERNEL T product(std::int64_t place, const T* x) const {
    Offset at = load(slices + place / slice_rows) + place % slice_rows;
    const LocalIndex n = load(lengths + place);
    T sum = 0;
    for (LocalIndex k = 0; k < n; ++k, at += slice_rows) {
      sum += load(vals + at) * load(x + load(cols + at));
    }
    return sum;
  }
};

namespace {

template <class T>
struct Multiply {
  SellView<T> A;
  const T* x;
  T* y;
  NODEWISE_KERNEL void operator()(std::int64_t place) const {
    y[A.row(place)] = A.product(place, x);
  }
};

template <class T>
struct MultiplyAdd {
  SellView<T> A;
  const T* x;
  T* y;
  NODEWISE_KERNEL void operator()(std::int64_t place) const {
    y[A.row(place)] += A.product(place, x);
  }
};

template <class T>
struct Residual {
  SellView<T> A;
  const T* x;
  const T* b;
  T* r;
  NODEWISE_KERNEL void operator()(std::int64_t place) const {
    const LocalIndex i = A.row(place);
    r[i] = b[i] - A.product(place, x);
  }
};

template <class T>
struct Relax {
  SellView<T> A;
  RelaxationStep<T> how;
  const T* inverse_diagonal;
  const T* b;
  const T* x;
  T* step;
  T* next;
  NODEWISE_KERNEL void operator()(std::int64_t place) const {
    const LocalIndex i = A.row(place);
    T s = how.take * load(inverse_diagonal + i) * (load(b + i) - A.product(place, x));
    if (how.keep != T{0}) s = how.keep * step[i] + s;
    step[i] = s;
    next[i] = load(x + i) + s;
  }
};

}  // namespace

template <class T, class Space>
SellMatrix<T, Space>::SellMatrix(Queue<Space>& queue, const SellLayout<T>& layout)
    : queue_(queue),
      n_rows_(layout.n_rows),
      n_cols_(layout.n_cols),
      nnz_(layout.nnz),
      padding_(layout.padding()),
      slices_(queue, std::span<const Offset>(layout.slices)),
      rows_(queue, std::span<const LocalIndex>(layout.rows)),
      lengths_(queue, std::span<const LocalIndex>(layout.lengths)),
      cols_(queue, std::span<const LocalIndex>(layout.cols)),
      vals_(queue, std::span<const T>(layout.vals)) {}

template <class T, class Space>
std::size_t SellMatrix<T, Space>::bytes() const {
  return slices_.bytes() + rows_.bytes() + lengths_.bytes() + cols_.bytes() + vals_.bytes();
}

template <class T, class Space>
SellView<T> SellMatrix<T, Space>::view() const {
  return {slices_.data(), rows_.data(), lengths_.data(), cols_.data(), vals_.data()};
}

template <class T, class Space>
void SellMatrix<T, Space>::multiply(const T* x, T* y) const {
  launch(queue_, n_rows_, Multiply<T>{view(), x, y});
}

template <class T, class Space>
void SellMatrix<T, Space>::multiply_add(const T* x, T* y) const {
  launch(queue_, n_rows_, MultiplyAdd<T>{view(), x, y});
}

template <class T, class Space>
void SellMatrix<T, Space>::residual(const T* x, const T* b, T* r) const {
  launch(queue_, n_rows_, Residual<T>{view(), x, b, r});
}

template <class T, class Space>
void SellMatrix<T, Space>::relax(RelaxationStep<T> how, const T* inverse_diagonal, const T* b,
                                 const T* x, T* step, T* next) const {
  launch(queue_, n_rows_, Relax<T>{view(), how, inverse_diagonal, b, x, step, next});
}

template class SellMatrix<float, Compiled>;
template class SellMatrix<double, Compiled>;

}  // namespace nodewise::device
