// The layout of sell_layout.hpp, made on a device.
#include "nodewise/device/launch.hpp"
#include "nodewise/device/sell.hpp"

namespace nodewise::device {

namespace {

/// Sorted by these, rows are by length, longest first, in each stretch of sorted_rows.
struct LengthKeys {
  CsrView<double> A;
  std::uint64_t* keys;
  LocalIndex* rows;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const auto stretch = static_cast<std::uint64_t>(i / sorted_rows);
    keys[i] = (stretch << 32) | (0x7fffffffu - static_cast<std::uint32_t>(A.length(i)));
    rows[i] = static_cast<LocalIndex>(i);
  }
};

struct LengthsOfPlaces {
  CsrView<double> A;
  const LocalIndex* rows;
  LocalIndex* lengths;
  NODEWISE_KERNEL void operator()(std::int64_t place) const {
    lengths[place] = A.length(load(rows + place));
  }
};

/// Of each slice, that of its first row.
struct Widths {
  const LocalIndex* lengths;
  LocalIndex* widths;
  NODEWISE_KERNEL void operator()(std::int64_t s) const {
    widths[s] = load(lengths + s * slice_rows);
  }
};

struct TimesSliceRows {
  Offset* slices;
  NODEWISE_KERNEL void operator()(std::int64_t s) const { slices[s] *= slice_rows; }
};

template <class T>
struct FillSlices {
  CsrView<double> A;
  double factor;
  const LocalIndex* rows;
  const Offset* slices;
  LocalIndex* cols;
  T* vals;
  NODEWISE_KERNEL void operator()(std::int64_t place) const {
    const LocalIndex i = load(rows + place);
    Offset at = load(slices + place / slice_rows) + place % slice_rows;
    const Offset end = A.end(i);
    for (Offset k = A.begin(i); k < end; ++k, at += slice_rows) {
      cols[at] = A.col(k);
      vals[at] = static_cast<T>(factor * A.val(k));
    }
  }
};

template <class T>
struct CopyValues {
  double factor;
  const double* from;
  T* to;
  NODEWISE_KERNEL void operator()(std::int64_t k) const {
    to[k] = static_cast<T>(factor * load(from + k));
  }
};

}  // namespace

template <class T, class Space>
SellMatrix<T, Space>::SellMatrix(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A,
                                 double factor)
    : queue_(primitives.queue()),
      n_rows_(A.n_rows),
      n_cols_(A.n_cols),
      nnz_(A.nnz),
      lanes_(lanes_of_rows(A.n_rows, A.nnz)),
      padding_(1) {
  if (lanes_ == 1) {
    make_slices(primitives, A, factor);
    return;
  }
  slices_ = Buffer<Offset, Space>(A.begins.size());
  cols_ = Buffer<LocalIndex, Space>(A.cols.size());
  vals_ = Buffer<T, Space>(A.vals.size());
  queue_.copy_within(slices_.data(), A.begins.data(), slices_.bytes());
  queue_.copy_within(cols_.data(), A.cols.data(), cols_.bytes());
  launch(queue_, nnz_, CopyValues<T>{factor, A.vals.data(), vals_.data()});
}

template <class T, class Space>
void SellMatrix<T, Space>::make_slices(Primitives<Space>& primitives,
                                       const CsrMatrix<double, Space>& A, double factor) {
  const auto n = static_cast<std::size_t>(A.n_rows);
  const std::int64_t n_slices = (A.n_rows + std::int64_t{slice_rows} - 1) / slice_rows;
  rows_ = Buffer<LocalIndex, Space>(n);
  lengths_ = Buffer<LocalIndex, Space>(n);
  {
    Buffer<std::uint64_t, Space> keys(n), sorted(n);
    Buffer<LocalIndex, Space> numbers(n);
    launch(queue_, n_rows_, LengthKeys{A.view(), keys.data(), numbers.data()});
    const int bits = 32 + bits_of(static_cast<std::uint64_t>(n_rows_ / sorted_rows));
    primitives.sort_pairs(n_rows_, bits, keys.data(), numbers.data(), sorted.data(), rows_.data());
  }
  launch(queue_, n_rows_, LengthsOfPlaces{A.view(), rows_.data(), lengths_.data()});
  slices_ = Buffer<Offset, Space>(static_cast<std::size_t>(n_slices) + 1);
  Buffer<LocalIndex, Space> widths(static_cast<std::size_t>(n_slices));
  launch(queue_, n_slices, Widths{lengths_.data(), widths.data()});
  const Offset width = primitives.scan(n_slices, widths.data(), slices_.data());
  launch(queue_, n_slices + 1, TimesSliceRows{slices_.data()});
  const auto places = static_cast<std::size_t>(width * slice_rows);
  if (nnz_ > 0) padding_ = static_cast<double>(places) / static_cast<double>(nnz_);
  cols_ = Buffer<LocalIndex, Space>(places);
  vals_ = Buffer<T, Space>(places);
  if (places == 0) return;
  queue_.clear(cols_.data(), cols_.bytes());
  queue_.clear(vals_.data(), vals_.bytes());
  launch(queue_, n_rows_,
         FillSlices<T>{A.view(), factor, rows_.data(), slices_.data(), cols_.data(), vals_.data()});
}

template <class T, class Space>
SellLayout<T> SellMatrix<T, Space>::layout() const {
  SellLayout<T> layout;
  layout.n_rows = n_rows_;
  layout.n_cols = n_cols_;
  layout.nnz = nnz_;
  layout.lanes = lanes_;
  const auto fill = [this](auto& values, const auto& from) {
    values.resize(from.size());
    from.get(queue_, std::span(values.data(), values.size()));
  };
  fill(layout.slices, slices_);
  fill(layout.rows, rows_);
  fill(layout.lengths, lengths_);
  fill(layout.cols, cols_);
  fill(layout.vals, vals_);
  return layout;
}

template SellMatrix<float, Compiled>::SellMatrix(Primitives<Compiled>&,
                                                 const CsrMatrix<double, Compiled>&, double);
template SellMatrix<double, Compiled>::SellMatrix(Primitives<Compiled>&,
                                                  const CsrMatrix<double, Compiled>&, double);
template SellLayout<float> SellMatrix<float, Compiled>::layout() const;
template SellLayout<double> SellMatrix<double, Compiled>::layout() const;

}  // namespace nodewise::device
