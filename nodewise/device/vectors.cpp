#include "nodewise/device/vectors.hpp"

#include "nodewise/device/groups.hpp"

namespace nodewise::device {

namespace {

template <class T>
struct RelaxFromZero {
  T take;
  const T* inverse_diagonal;
  const T* b;
  T* step;
  T* x;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const T s = take * load(inverse_diagonal + i) * load(b + i);
    if (step != nullptr) step[i] = s;
    x[i] = s;
  }
};

template <class T>
struct MultiplyDense {
  std::int64_t n;
  const T* M;
  const T* x;
  T* y;
  NODEWISE_KERNEL void operator()(const Group<32>& group, NoTable& /*table*/,
                                  std::int64_t i) const {
    const T* row = M + i * n;
    const T sum =
        sum_by_lanes<T>(group, n, [&](std::int64_t j) { return load(row + j) * load(x + j); });
    if (group.rank() == 0) y[i] = sum;
  }
};

template <class To, class From>
struct ScaleInto {
  const double* factor;
  const From* from;
  To* to;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    to[i] = static_cast<To>(load(factor) * static_cast<double>(load(from + i)));
  }
};

}  // namespace

template <class T, class Space>
void relax_from_zero(Queue<Space>& queue, std::int64_t n, T take, const T* inverse_diagonal,
                     const T* b, T* step, T* x) {
  launch(queue, n, RelaxFromZero<T>{take, inverse_diagonal, b, step, x});
}

template <class T, class Space>
void multiply_dense(Queue<Space>& queue, std::int64_t n, const T* M, const T* x, T* y) {
  launch_groups<32, NoTable>(queue, n, MultiplyDense<T>{n, M, x, y});
}

template <class To, class From, class Space>
void scale_into(Queue<Space>& queue, std::int64_t n, const double* factor, const From* from,
                To* to) {
  launch(queue, n, ScaleInto<To, From>{factor, from, to});
}

#define NODEWISE_FOR_TYPE(T)                                                                    \
  template void relax_from_zero(Queue<Compiled>&, std::int64_t, T, const T*, const T*, T*, T*); \
  template void multiply_dense(Queue<Compiled>&, std::int64_t, const T*, const T*, T*);         \
  template void scale_into(Queue<Compiled>&, std::int64_t, const double*, const double*, T*);
NODEWISE_FOR_TYPE(float)
NODEWISE_FOR_TYPE(double)
#undef NODEWISE_FOR_TYPE
template void scale_into(Queue<Compiled>&, std::int64_t, const double*, const float*, double*);

}  // namespace nodewise::device
