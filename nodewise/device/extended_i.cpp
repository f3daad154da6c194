#include "nodewise/device/extended_i.hpp"

#include <cmath>
#include <utility>

#include "nodewise/device/launch.hpp"
#include "nodewise/device/spgemm.hpp"

namespace nodewise::device {

namespace {

/// The points of a level, and how they are coupled.
struct LevelPoints {
  CsrView<double> A;
  const std::uint8_t* strong;
  const LocalIndex* numbers;
  const double* diagonals;  // null where none is asked for
  bool lumps_isolated;

  NODEWISE_KERNEL LocalIndex number(std::int64_t i) const {
    const LocalIndex c = load(numbers + i);
    return lumps_isolated && c == isolated_point ? fine_point : c;
  }
  NODEWISE_KERNEL bool is_strong(Offset k) const { return load(strong + k) != 0; }
  /// The value of an entry of row i if its sign is one to go through, else 0.
  NODEWISE_KERNEL static double through(double diagonal, double value) {
    return (diagonal < 0) != (value < 0) ? value : 0;
  }
};

/// The links of all points, and what is known of each.
struct Links {
  CsrView<double> all;
  const std::uint8_t* strong;
  const double* strong_sums;
  const LocalIndex* n_weak;
};

struct CountLinks {
  LevelPoints points;
  LocalIndex* lengths;
  NODEWISE_KERNEL bool is_link(Offset k, double diagonal) const {
    return points.number(points.A.col(k)) >= 0 &&
           (points.is_strong(k) || LevelPoints::through(diagonal, points.A.val(k)) != 0);
  }
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    LocalIndex n = 0;
    if (points.number(i) >= 0) {
      n = 1;
    } else {
      const double d = points.A.diagonal(i);
      const Offset end = points.A.end(i);
      for (Offset k = points.A.begin(i); k < end; ++k) n += is_link(k, d) ? 1 : 0;
    }
    lengths[i] = n;
  }
};

struct FillLinks {
  CountLinks which;
  const Offset* begins;
  LocalIndex* cols;
  double* vals;
  std::uint8_t* strong;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const LevelPoints& points = which.points;
    Offset to = load(begins + i);
    const LocalIndex own = points.number(i);
    if (own >= 0) return put(to, own, 1, true);
    const double d = points.A.diagonal(i);
    const Offset end = points.A.end(i);
    for (Offset k = points.A.begin(i); k < end; ++k) {
      if (!which.is_link(k, d)) continue;
      put(to++, points.number(points.A.col(k)), LevelPoints::through(d, points.A.val(k)),
          points.is_strong(k));
    }
  }
  NODEWISE_KERNEL void put(Offset to, LocalIndex c, double value, bool is_strong) const {
    cols[to] = c;
    vals[to] = value;
    strong[to] = is_strong ? 1 : 0;
  }
};

struct CountStrongLinks {
  CsrView<double> links;
  const std::uint8_t* strong;
  LocalIndex* lengths;
  LocalIndex* n_weak;
  double* sums;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    LocalIndex n = 0;
    double sum = 0;
    const Offset end = links.end(i);
    for (Offset k = links.begin(i); k < end; ++k) {
      if (load(strong + k) == 0) continue;
      ++n;
      sum += links.val(k);
    }
    lengths[i] = n;
    n_weak[i] = links.length(i) - n;
    sums[i] = sum;
  }
};

struct FillStrongLinks {
  CsrView<double> links;
  const std::uint8_t* strong;
  const Offset* begins;
  LocalIndex* cols;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    Offset to = load(begins + i);
    const Offset end = links.end(i);
    for (Offset k = links.begin(i); k < end; ++k) {
      if (load(strong + k) != 0) cols[to++] = links.col(k);
    }
  }
};

/// The points whose links make a row: those that it depends on, or also the coarse ones that it is
/// coupled to. That of a coarse point is itself.
struct CountNeighbours {
  LevelPoints points;
  bool strong_only;
  LocalIndex* lengths;
  NODEWISE_KERNEL bool is_one(Offset k) const {
    const LocalIndex c = points.number(points.A.col(k));
    return points.is_strong(k) ? c != isolated_point : !strong_only && c >= 0;
  }
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    LocalIndex n = 0;
    if (points.number(i) >= 0) {
      n = 1;
    } else {
      const Offset end = points.A.end(i);
      for (Offset k = points.A.begin(i); k < end; ++k) n += is_one(k) ? 1 : 0;
    }
    lengths[i] = n;
  }
};

struct FillNeighbours {
  CountNeighbours which;
  const Offset* begins;
  LocalIndex* cols;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const CsrView<double>& A = which.points.A;
    Offset to = load(begins + i);
    if (which.points.number(i) >= 0) {
      cols[to] = static_cast<LocalIndex>(i);
      return;
    }
    const Offset end = A.end(i);
    for (Offset k = A.begin(i); k < end; ++k) {
      if (which.is_one(k)) cols[to++] = A.col(k);
    }
  }
};

/// What the links of each neighbour are multiplied by, and what the sum of a row is. A fine
/// neighbour's coupling is shared out among the row's points that it is coupled to and the point
/// itself, a_ki being taken to be a_ik. First comes what is known without the row's points, then
/// the rest.
template <bool later>
struct ShareCouplings {
  LevelPoints points;
  Links links;
  CsrView<double> row_points;  // the places of the rows
  const Offset* begins;        // of the factors of each row
  double* factors;
  double* scales;

  NODEWISE_KERNEL bool has(std::int64_t i, LocalIndex c) const {
    Offset low = row_points.begin(i), high = row_points.end(i);
    const Offset last = high;
    while (low < high) {
      const Offset middle = low + (high - low) / 2;
      if (row_points.col(middle) < c) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < last && row_points.col(low) == c;
  }
  NODEWISE_KERNEL double share(LocalIndex k, double a, double sum, double& diagonal) const {
    const double back = LevelPoints::through(load(points.diagonals + k), a);
    const double all = sum + back;
    const double factor = all == 0 ? 0 : a / all;
    diagonal += all == 0 ? a : factor * back;
    return factor;
  }
  NODEWISE_KERNEL double sum_of_row_points(std::int64_t i, LocalIndex k) const {
    double sum = load(links.strong_sums + k);
    const Offset end = links.all.end(k);
    for (Offset p = links.all.begin(k); p < end; ++p) {
      if (load(links.strong + p) == 0 && has(i, links.all.col(p))) sum += links.all.val(p);
    }
    return sum;
  }
  /// Meanwhile a row's scale is what it is to be divided by.
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const Offset first = load(begins + i);
    if (points.number(i) >= 0) {
      factors[first] = 1;
      scales[i] = 1;
      return;
    }
    double diagonal = later ? scales[i] : points.A.diagonal(i);
    add_entries(i, first, diagonal);
    scales[i] = !later ? diagonal : diagonal == 0 ? 0 : -1 / diagonal;
  }
  NODEWISE_KERNEL void add_entries(std::int64_t i, Offset to, double& diagonal) const {
    const Offset end = points.A.end(i);
    for (Offset k = points.A.begin(i); k < end; ++k) {
      const LocalIndex j = points.A.col(k), c = points.number(j);
      const double a = points.A.val(k);
      if (points.is_strong(k) && c == fine_point) {
        const bool is_later = load(links.n_weak + j) > 0;
        if (is_later == later) {
          const double sum = later ? sum_of_row_points(i, j) : load(links.strong_sums + j);
          factors[to] = share(j, a, sum, diagonal);
        }
        ++to;
      } else if (c >= 0) {
        if (points.is_strong(k)) {
          factors[to] = a;
        } else if (later) {
          const bool is_there = has(i, c);
          factors[to] = is_there ? a : 0;
          if (!is_there) diagonal += a;
        }
        ++to;
      } else if (!later && j != i && c != isolated_point) {
        diagonal += a;
      }
    }
  }
};

struct ReadDiagonal {
  CsrView<double> A;
  double* diagonal;
  NODEWISE_KERNEL void operator()(std::int64_t i) const { diagonal[i] = A.diagonal(i); }
};

/// Places for values, or for columns alone.
template <class Space>
CsrMatrix<double, Space> rows_of(Primitives<Space>& primitives, LocalIndex n_cols,
                                 const Buffer<LocalIndex, Space>& lengths, bool with_values) {
  CsrMatrix<double, Space> M;
  M.n_rows = static_cast<LocalIndex>(lengths.size());
  M.n_cols = n_cols;
  M.begins = Buffer<Offset, Space>(lengths.size() + 1);
  M.nnz = primitives.scan(M.n_rows, lengths.data(), M.begins.data());
  M.cols = Buffer<LocalIndex, Space>(static_cast<std::size_t>(M.nnz));
  if (with_values) M.vals = Buffer<double, Space>(static_cast<std::size_t>(M.nnz));
  return M;
}

template <class Space>
CsrMatrix<double, Space> neighbours(Primitives<Space>& primitives, const LevelPoints& points,
                                    bool strong_only) {
  Queue<Space>& queue = primitives.queue();
  const LocalIndex n = points.A.n_rows;
  Buffer<LocalIndex, Space> lengths(static_cast<std::size_t>(n));
  const CountNeighbours count = {points, strong_only, lengths.data()};
  launch(queue, n, count);
  auto M = rows_of(primitives, points.A.n_cols, lengths, !strong_only);
  launch(queue, n, FillNeighbours{count, M.begins.data(), M.cols.data()});
  return M;
}

}  // namespace

template <class Space>
CoarseLinks<Space> coarse_links(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A,
                                const Buffer<std::uint8_t, Space>& strong,
                                const LocalIndex* numbers, LocalIndex n_coarse,
                                const InterpolationRules& rules) {
  const LevelPoints points = {A.view(), strong.data(), numbers, nullptr, rules.lumps_isolated};
  Buffer<LocalIndex, Space> lengths(static_cast<std::size_t>(A.n_rows));
  const CountLinks count = {points, lengths.data()};
  launch(primitives.queue(), A.n_rows, count);
  CoarseLinks<Space> links;
  links.rows = rows_of(primitives, n_coarse, lengths, true);
  links.strong = Buffer<std::uint8_t, Space>(static_cast<std::size_t>(links.rows.nnz));
  launch(primitives.queue(), A.n_rows,
         FillLinks{count, links.rows.begins.data(), links.rows.cols.data(), links.rows.vals.data(),
                   links.strong.data()});
  return links;
}

template <class Space>
CsrMatrix<double, Space> extended_i(Primitives<Space>& primitives,
                                    const CsrMatrix<double, Space>& A,
                                    const Buffer<std::uint8_t, Space>& strong,
                                    const KnownPoints& known, const CoarseLinks<Space>& links,
                                    const InterpolationRules& rules) {
  Queue<Space>& queue = primitives.queue();
  const LocalIndex n = A.n_rows, n_links = links.rows.n_rows;
  const auto size = static_cast<std::size_t>(n_links);
  const LevelPoints points = {A.view(), strong.data(), known.numbers, known.diagonals,
                              rules.lumps_isolated};
  Buffer<LocalIndex, Space> strong_lengths(size), n_weak(size);
  Buffer<double, Space> strong_sums(size), scales(static_cast<std::size_t>(n));
  const CsrView<double> all = links.rows.view();
  launch(queue, n_links,
         CountStrongLinks{all, links.strong.data(), strong_lengths.data(), n_weak.data(),
                          strong_sums.data()});
  CsrMatrix<double, Space> P;
  {
    CsrMatrix<double, Space> strong_links =
        rows_of(primitives, links.rows.n_cols, strong_lengths, false);
    launch(queue, n_links,
           FillStrongLinks{all, links.strong.data(), strong_links.begins.data(),
                           strong_links.cols.data()});
    P = product_places(primitives, neighbours(primitives, points, true), strong_links);
  }
  CsrMatrix<double, Space> factors = neighbours(primitives, points, false);
  const Links linked = {all, links.strong.data(), strong_sums.data(), n_weak.data()};
  const Offset* const begins = factors.begins.data();
  double* const values = factors.vals.data();
  launch(queue, n, ShareCouplings<false>{points, linked, P.view(), begins, values, scales.data()});
  launch(queue, n, ShareCouplings<true>{points, linked, P.view(), begins, values, scales.data()});
  multiply_again(primitives, factors, links.rows, P);
  return truncated(primitives, std::move(P), known.numbers, scales.data(), rules);
}

template <class Space>
void read_diagonal(Queue<Space>& queue, const CsrMatrix<double, Space>& A, double* diagonal) {
  launch(queue, A.n_rows, ReadDiagonal{A.view(), diagonal});
}

template CoarseLinks<Compiled> coarse_links(Primitives<Compiled>&,
                                            const CsrMatrix<double, Compiled>&,
                                            const Buffer<std::uint8_t, Compiled>&,
                                            const LocalIndex*, LocalIndex,
                                            const InterpolationRules&);
template CsrMatrix<double, Compiled> extended_i(Primitives<Compiled>&,
                                                const CsrMatrix<double, Compiled>&,
                                                const Buffer<std::uint8_t, Compiled>&,
                                                const KnownPoints&, const CoarseLinks<Compiled>&,
                                                const InterpolationRules&);
template void read_diagonal(Queue<Compiled>&, const CsrMatrix<double, Compiled>&, double*);

}  // namespace nodewise::device
