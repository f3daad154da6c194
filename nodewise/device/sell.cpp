#include "nodewise/device/sell.hpp"

#include "nodewise/device/groups.hpp"

namespace nodewise::device {

template <class T>
struct SellView {
  const Offset* slices;
  const LocalIndex* rows;
  const LocalIndex* lengths;
  const LocalIndex* cols;
  const T* vals;
};

namespace {

/// use(row, product with x) of the row at each place, one thread each.
template <class T, class Use>
struct ByOne {
  SellView<T> A;
  const T* x;
  Use use;
  NODEWISE_KERNEL void operator()(std::int64_t place) const {
    Offset at = load(A.slices + place / slice_rows) + place % slice_rows;
    const LocalIndex n = load(A.lengths + place);
    T sum = 0;
    for (LocalIndex k = 0; k < n; ++k, at += slice_rows) {
      sum += load(A.vals + at) * load(x + load(A.cols + at));
    }
    use(load(A.rows + place), sum);
  }
};

/// The same of each row, a group each.
template <class T, class Use>
struct ByLanes {
  SellView<T> A;
  const T* x;
  Use use;
  template <int lanes>
  NODEWISE_KERNEL void operator()(const Group<lanes>& group, NoTable& /*table*/,
                                  std::int64_t i) const {
    const Offset begin = load(A.slices + i);
    const T sum = sum_by_lanes<T>(group, load(A.slices + i + 1) - begin, [&](std::int64_t k) {
      return load(A.vals + begin + k) * load(x + load(A.cols + begin + k));
    });
    if (group.rank() == 0) use(static_cast<LocalIndex>(i), sum);
  }
};

template <class T>
struct Multiply {
  T* y;
  NODEWISE_KERNEL void operator()(LocalIndex i, T product) const { y[i] = product; }
};

template <class T>
struct MultiplyAdd {
  T* y;
  NODEWISE_KERNEL void operator()(LocalIndex i, T product) const { y[i] += product; }
};

template <class T>
struct Residual {
  const T* b;
  T* r;
  NODEWISE_KERNEL void operator()(LocalIndex i, T product) const { r[i] = b[i] - product; }
};

template <class T>
struct Relax {
  RelaxationStep<T> how;
  const T* inverse_diagonal;
  const T* b;
  const T* x;
  T* step;
  T* next;
  NODEWISE_KERNEL void operator()(LocalIndex i, T product) const {
    T s = how.take * load(inverse_diagonal + i) * (load(b + i) - product);
    if (how.keep != T{0}) s = how.keep * step[i] + s;
    if (how.leaves) step[i] = s;
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
      lanes_(layout.lanes),
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
template <class Use>
void SellMatrix<T, Space>::for_products(const T* x, const Use& use) const {
  if (lanes_ == 1) {
    launch(queue_, n_rows_, ByOne<T, Use>{view(), x, use});
  } else if (lanes_ == 8) {
    launch_groups<8, NoTable>(queue_, n_rows_, ByLanes<T, Use>{view(), x, use});
  } else {
    launch_groups<32, NoTable>(queue_, n_rows_, ByLanes<T, Use>{view(), x, use});
  }
}

template <class T, class Space>
void SellMatrix<T, Space>::multiply(const T* x, T* y) const {
  for_products(x, Multiply<T>{y});
}

template <class T, class Space>
void SellMatrix<T, Space>::multiply_add(const T* x, T* y) const {
  for_products(x, MultiplyAdd<T>{y});
}

template <class T, class Space>
void SellMatrix<T, Space>::residual(const T* x, const T* b, T* r) const {
  for_products(x, Residual<T>{b, r});
}

template <class T, class Space>
void SellMatrix<T, Space>::relax(RelaxationStep<T> how, const T* inverse_diagonal, const T* b,
                                 const T* x, T* step, T* next) const {
  for_products(x, Relax<T>{how, inverse_diagonal, b, x, step, next});
}

template class SellMatrix<float, Compiled>;
template class SellMatrix<double, Compiled>;

}  // namespace nodewise::device
