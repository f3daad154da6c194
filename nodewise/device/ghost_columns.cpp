#include "nodewise/device/ghost_columns.hpp"

#include <utility>

#include "nodewise/device/atomics.hpp"
#include "nodewise/device/launch.hpp"

namespace nodewise::device {

namespace {

struct NameColumns {
  const LocalIndex* cols;
  ColumnNames of;
  GlobalIndex* names;
  NODEWISE_KERNEL void operator()(std::int64_t k) const {
    const LocalIndex j = load(cols + k);
    names[k] = j < of.n_owned ? of.first + j : load(of.ghosts + (j - of.n_owned));
  }
};

struct LocalNumbers {
  const GlobalIndex* numbers;
  GlobalIndex first;
  LocalIndex n_owned;
  const GlobalIndex* ghosts;
  LocalIndex n_ghosts;
  LocalIndex* local;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const GlobalIndex c = load(numbers + i);
    if (c < 0) {
      local[i] = static_cast<LocalIndex>(c);
    } else if (c >= first && c < first + n_owned) {
      local[i] = static_cast<LocalIndex>(c - first);
    } else {
      LocalIndex low = 0, high = n_ghosts;
      while (low < high) {
        const LocalIndex middle = low + (high - low) / 2;
        if (load(ghosts + middle) < c) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      local[i] = n_owned + low;
    }
  }
};

/// What it reads may be what it writes.
struct RenumberGhosts {
  LocalIndex n_owned;
  const LocalIndex* numbers;
  const LocalIndex* cols;
  LocalIndex* to;
  NODEWISE_KERNEL void operator()(std::int64_t k) const {
    const LocalIndex j = cols[k];
    to[k] = j < n_owned ? j : n_owned + load(numbers + (j - n_owned));
  }
};

struct CountGhosts {
  LocalIndex n_owned;
  const LocalIndex* cols;
  LocalIndex* counts;
  NODEWISE_KERNEL void operator()(std::int64_t k) const {
    const LocalIndex j = load(cols + k);
    if (j >= n_owned) add_to(counts + (j - n_owned), 1);
  }
};

struct Take {
  const Offset* places;
  const double* from;
  double* to;
  NODEWISE_KERNEL void operator()(std::int64_t k) const { to[k] = load(from + load(places + k)); }
};

struct LengthsBeside {
  CsrView<double> left, right;
  LocalIndex* lengths;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    lengths[i] = left.length(i) + right.length(i);
  }
};

struct PlaceBeside {
  CsrView<double> left, right;
  const Offset* begins;
  LocalIndex* cols;
  double* vals;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    Offset to = load(begins + i);
    for (Offset k = left.begin(i); k < left.end(i); ++k, ++to) {
      cols[to] = left.col(k);
      vals[to] = left.val(k);
    }
    for (Offset k = right.begin(i); k < right.end(i); ++k, ++to) {
      cols[to] = left.n_cols + right.col(k);
      vals[to] = right.val(k);
    }
  }
};

}  // namespace

template <class Space>
void name_columns(Queue<Space>& queue, Offset n, const LocalIndex* cols, const ColumnNames& of,
                  GlobalIndex* names) {
  launch(queue, n, NameColumns{cols, of, names});
}

template <class Space>
void local_numbers(Queue<Space>& queue, LocalIndex n, const GlobalIndex* numbers, GlobalIndex first,
                   LocalIndex n_owned, const GlobalIndex* ghosts, LocalIndex n_ghosts,
                   LocalIndex* local) {
  launch(queue, n, LocalNumbers{numbers, first, n_owned, ghosts, n_ghosts, local});
}

template <class Space>
void renumber_ghosts(Queue<Space>& queue, Offset n, LocalIndex n_owned, const LocalIndex* numbers,
                     const LocalIndex* cols, LocalIndex* to) {
  launch(queue, n, RenumberGhosts{n_owned, numbers, cols, to});
}

template <class Space>
void count_ghosts(Queue<Space>& queue, Offset n, LocalIndex n_owned, const LocalIndex* cols,
                  LocalIndex* counts) {
  launch(queue, n, CountGhosts{n_owned, cols, counts});
}

template <class Space>
void take(Queue<Space>& queue, Offset n, const Offset* places, const double* from, double* to) {
  launch(queue, n, Take{places, from, to});
}

template <class Space>
CsrMatrix<double, Space> beside(Primitives<Space>& primitives, LocalIndex n_rows,
                                const CsrMatrix<double, Space>& left,
                                const CsrMatrix<double, Space>& right) {
  Queue<Space>& queue = primitives.queue();
  Buffer<Offset, Space> begins(static_cast<std::size_t>(n_rows) + 1);
  Offset nnz = 0;
  {
    Buffer<LocalIndex, Space> lengths(static_cast<std::size_t>(n_rows));
    launch(queue, n_rows, LengthsBeside{left.view(), right.view(), lengths.data()});
    nnz = primitives.scan(n_rows, lengths.data(), begins.data());
  }
  CsrMatrix<double, Space> M(n_rows, left.n_cols + right.n_cols, std::move(begins), nnz);
  launch(queue, n_rows,
         PlaceBeside{left.view(), right.view(), M.begins.data(), M.cols.data(), M.vals.data()});
  return M;
}

template void name_columns(Queue<Compiled>&, Offset, const LocalIndex*, const ColumnNames&,
                           GlobalIndex*);
template void local_numbers(Queue<Compiled>&, LocalIndex, const GlobalIndex*, GlobalIndex,
                            LocalIndex, const GlobalIndex*, LocalIndex, LocalIndex*);
template void renumber_ghosts(Queue<Compiled>&, Offset, LocalIndex, const LocalIndex*,
                              const LocalIndex*, LocalIndex*);
template void count_ghosts(Queue<Compiled>&, Offset, LocalIndex, const LocalIndex*, LocalIndex*);
template void take(Queue<Compiled>&, Offset, const Offset*, const double*, double*);
template CsrMatrix<double, Compiled> beside(Primitives<Compiled>&, LocalIndex,
                                            const CsrMatrix<double, Compiled>&,
                                            const CsrMatrix<double, Compiled>&);

}  // namespace nodewise::device
