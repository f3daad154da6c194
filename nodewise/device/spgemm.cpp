#include "nodewise/device/spgemm.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "nodewise/device/hash_places.hpp"
#include "nodewise/device/row_bins.hpp"

namespace nodewise::device {

namespace {

constexpr LocalIndex longest = std::numeric_limits<LocalIndex>::max();

/// A table of a group, in the fastest memory that there is.
template <int slots>
struct Table {
  LocalIndex columns[slots];
};

template <int slots>
struct TableWithSums {
  LocalIndex columns[slots];
  double sums[slots];
};

struct Product {
  CsrView<double> A, B;
};

/// How many entries a row of the product has at most.
struct Bound {
  Product of;
  LocalIndex* bounds;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    Offset sum = 0;
    const Offset end = of.A.end(i);
    for (Offset k = of.A.begin(i); k < end; ++k) sum += of.B.length(of.A.col(k));
    bounds[i] = sum < of.B.n_cols ? static_cast<LocalIndex>(sum) : of.B.n_cols;
  }
};

/// Where the columns of a row go.
struct Places {
  LocalIndex* lengths;   // counted here
  const Offset* begins;  // null: they are counted, and no more
  LocalIndex* cols;      // in any order
  LocalIndex* places;    // of a row so many have been filled
};

/// The columns of a row into a table, and from there to their places.
template <class G>
NODEWISE_KERNEL void find_columns(const G& group, const HashPlaces& table,
                                  const LocalIndex* columns, std::uint32_t slots, const Product& of,
                                  std::int64_t row, const Places& to) {
  table.clear(group);
  group.sync();
  LocalIndex added = 0;
  const Offset end = of.A.end(row);
  for (Offset k = of.A.begin(row) + group.rank(); k < end; k += group.size()) {
    const LocalIndex j = of.A.col(k);
    const Offset last = of.B.end(j);
    for (Offset q = of.B.begin(j); q < last; ++q) table.add(of.B.col(q), added);
  }
  if (to.begins == nullptr) {
    if (added > 0) add_to(to.lengths + row, added);
    return;
  }
  group.sync();
  LocalIndex* const cols = to.cols + load(to.begins + row);
  for (std::int64_t s = group.rank(); s < slots; s += group.size()) {
    if (columns[s] != no_column) cols[add_to(to.places + row, 1)] = columns[s];
  }
}

template <int slots>
struct FindColumns {
  Product of;
  const LocalIndex* rows;
  Places to;
  template <class G>
  NODEWISE_KERNEL void operator()(const G& group, Table<slots>& table, std::int64_t r) const {
    find_columns(group, HashPlaces(table.columns, slots - 1), table.columns, slots, of,
                 load(rows + r), to);
  }
};

/// Of long rows, whose tables are side by side.
struct FindManyColumns {
  Product of;
  const LocalIndex* rows;
  Places to;
  LocalIndex* tables;
  std::uint32_t slots;
  template <class G>
  NODEWISE_KERNEL void operator()(const G& group, NoTable&, std::int64_t r) const {
    LocalIndex* const columns = tables + r * slots;
    find_columns(group, HashPlaces(columns, slots - 1), columns, slots, of, load(rows + r), to);
  }
};

// A table has twice as many places as a row has columns. Threads for a row: so many that a block's
// tables fit into its memory.
constexpr LocalIndex short_row = 32, middle_row = 256, long_row = 2048;

/// Visits the columns of all rows.
template <class Space>
class ColumnFinder {
 public:
  ColumnFinder(Primitives<Space>& primitives, const Product& of)
      : primitives_(primitives), of_(of), bounds_(static_cast<std::size_t>(of.A.n_rows)) {
    launch(primitives.queue(), of.A.n_rows, Bound{of, bounds_.data()});
  }

  void run(const Places& to) {
    Queue<Space>& queue = primitives_.queue();
    RowBins<Space> bins(primitives_, of_.A.n_rows, bounds_.data());
    LocalIndex n = bins.choose(0, short_row);
    launch_groups<8, Table<64>>(queue, n, FindColumns<64>{of_, bins.rows(), to});
    n = bins.choose(short_row, middle_row);
    launch_groups<32, Table<512>>(queue, n, FindColumns<512>{of_, bins.rows(), to});
    n = bins.choose(middle_row, long_row);
    launch_groups<256, Table<4096>>(queue, n, FindColumns<4096>{of_, bins.rows(), to});
    n = bins.choose(long_row, longest);
    if (n > 0) run_longest(bins.rows(), n, to);
  }

 private:
  /// In batches, so that tables take no more than a little of the memory.
  void run_longest(const LocalIndex* rows, LocalIndex n, const Places& to) {
    constexpr std::int64_t all_slots = std::int64_t{1} << 26;
    const LocalIndex most = primitives_.max(of_.A.n_rows, bounds_.data());
    std::int64_t slots = 1;
    while (slots < 2 * std::int64_t{most}) slots *= 2;
    const auto batch =
        static_cast<LocalIndex>(std::clamp<std::int64_t>(all_slots / slots, 1, std::int64_t{n}));
    Buffer<LocalIndex, Space> tables(static_cast<std::size_t>(batch * slots));
    for (LocalIndex first = 0; first < n; first += batch) {
      launch_groups<256, NoTable>(
          primitives_.queue(), std::min(batch, n - first),
          FindManyColumns{of_, rows + first, to, tables.data(), static_cast<std::uint32_t>(slots)});
      if (n - first <= batch) break;
    }
  }

  Primitives<Space>& primitives_;
  Product of_;
  Buffer<LocalIndex, Space> bounds_;
};

/// use(column, term) of all terms of a row of the product. Those of one sum come one after another:
/// the group takes the entries of A's row in their order, and syncs behind each.
template <class G, class Use>
NODEWISE_KERNEL void for_terms(const G& group, const Product& of, LocalIndex row, const Use& use) {
  const Offset end = of.A.end(row);
  for (Offset k = of.A.begin(row); k < end; ++k) {
    const LocalIndex j = of.A.col(k);
    const double a = of.A.val(k);
    const Offset j_end = of.B.end(j);
    for (Offset q = of.B.begin(j) + group.rank(); q < j_end; q += group.size()) {
      use(of.B.col(q), a * of.B.val(q));
    }
    group.sync();
  }
}

/// The sums of a row whose columns are known, in a table.
template <int slots>
struct AddUp {
  Product of;
  const LocalIndex* rows;
  const Offset* begins;
  const LocalIndex* cols;
  double* vals;
  template <class G>
  NODEWISE_KERNEL void operator()(const G& group, TableWithSums<slots>& table,
                                  std::int64_t r) const {
    const LocalIndex row = load(rows + r);
    const HashPlaces places(table.columns, slots - 1);
    const Offset first = load(begins + row), last = load(begins + row + 1);
    places.clear(group);
    group.sync();
    LocalIndex added = 0;
    for (Offset c = first + group.rank(); c < last; c += group.size()) {
      table.sums[places.add(load(cols + c), added)] = 0;
    }
    group.sync();
    for_terms(group, of, row, [&](LocalIndex column, double term) {
      const std::uint32_t s = places.find(column);
      if (s != places.none()) table.sums[s] += term;
    });
    for (Offset c = first + group.rank(); c < last; c += group.size()) {
      vals[c] = table.sums[places.find(load(cols + c))];
    }
  }
};

/// Of a long row, where they are to be; a column is looked for by halves.
struct AddUpInPlace {
  Product of;
  const LocalIndex* rows;
  const Offset* begins;
  const LocalIndex* cols;
  double* vals;
  NODEWISE_KERNEL Offset place(LocalIndex column, Offset low, Offset high) const {
    while (low < high) {
      const Offset middle = low + (high - low) / 2;
      if (load(cols + middle) < column) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  template <class G>
  NODEWISE_KERNEL void operator()(const G& group, NoTable&, std::int64_t r) const {
    const LocalIndex row = load(rows + r);
    const Offset first = load(begins + row), last = load(begins + row + 1);
    for (Offset c = first + group.rank(); c < last; c += group.size()) vals[c] = 0;
    group.sync();
    for_terms(group, of, row, [&](LocalIndex column, double term) {
      const Offset at = place(column, first, last);
      if (at < last && load(cols + at) == column) vals[at] += term;
    });
  }
};

struct Lengths {
  const Offset* begins;
  LocalIndex* lengths;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    lengths[i] = static_cast<LocalIndex>(load(begins + i + 1) - load(begins + i));
  }
};

}  // namespace

template <class Space>
CsrMatrix<double, Space> product_places(Primitives<Space>& primitives,
                                        const CsrMatrix<double, Space>& A,
                                        const CsrMatrix<double, Space>& B) {
  const Product of = {A.view(), B.view()};
  Queue<Space>& queue = primitives.queue();
  const auto n = static_cast<std::size_t>(of.A.n_rows);
  ColumnFinder<Space> finder(primitives, of);
  Buffer<LocalIndex, Space> lengths(n);
  queue.clear(lengths.data(), lengths.bytes());
  finder.run({lengths.data(), nullptr, nullptr, nullptr});
  Buffer<Offset, Space> begins(n + 1);
  const Offset nnz = primitives.scan(of.A.n_rows, lengths.data(), begins.data());
  CsrMatrix<double, Space> C(of.A.n_rows, of.B.n_cols, std::move(begins), nnz);
  Buffer<LocalIndex, Space> cols(static_cast<std::size_t>(nnz));
  queue.clear(lengths.data(), lengths.bytes());
  finder.run({nullptr, C.begins.data(), cols.data(), lengths.data()});
  primitives.sort_segments(of.A.n_rows, C.begins.data(), nnz, cols.data(), C.cols.data());
  return C;
}

template <class Space>
void multiply_again(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A,
                    const CsrMatrix<double, Space>& B, CsrMatrix<double, Space>& C) {
  Queue<Space>& queue = primitives.queue();
  const Product of = {A.view(), B.view()};
  Buffer<LocalIndex, Space> lengths(static_cast<std::size_t>(C.n_rows));
  launch(queue, C.n_rows, Lengths{C.begins.data(), lengths.data()});
  RowBins<Space> bins(primitives, C.n_rows, lengths.data());
  const Offset* const begins = C.begins.data();
  const LocalIndex* const cols = C.cols.data();
  double* const vals = C.vals.data();
  LocalIndex n = bins.choose(0, short_row);
  launch_groups<8, TableWithSums<64>>(queue, n, AddUp<64>{of, bins.rows(), begins, cols, vals});
  n = bins.choose(short_row, middle_row);
  launch_groups<32, TableWithSums<512>>(queue, n, AddUp<512>{of, bins.rows(), begins, cols, vals});
  n = bins.choose(middle_row, longest);
  launch_groups<32, NoTable>(queue, n, AddUpInPlace{of, bins.rows(), begins, cols, vals});
}

template <class Space>
CsrMatrix<double, Space> multiply(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A,
                                  const CsrMatrix<double, Space>& B) {
  CsrMatrix<double, Space> C = product_places(primitives, A, B);
  multiply_again(primitives, A, B, C);
  return C;
}

template CsrMatrix<double, Compiled> multiply(Primitives<Compiled>&,
                                              const CsrMatrix<double, Compiled>&,
                                              const CsrMatrix<double, Compiled>&);
template CsrMatrix<double, Compiled> product_places(Primitives<Compiled>&,
                                                    const CsrMatrix<double, Compiled>&,
                                                    const CsrMatrix<double, Compiled>&);
template void multiply_again(Primitives<Compiled>&, const CsrMatrix<double, Compiled>&,
                             const CsrMatrix<double, Compiled>&, CsrMatrix<double, Compiled>&);

}  // namespace nodewise::device
