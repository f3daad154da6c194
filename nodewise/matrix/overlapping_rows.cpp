#include "nodewise/matrix/overlapping_rows.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/matrix/row_exchange.hpp"

namespace nodewise::matrix {

namespace {

using Matrix = DistMatrix<double>;

/// Sorted, each once, none of this rank's, and with all rows of their blocks.
std::vector<GlobalIndex> whole_blocks(const Layout& layout, std::vector<GlobalIndex> rows,
                                      int block) {
  for (GlobalIndex& row : rows) row -= (row - layout.first()) % block;
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::erase_if(rows, [&](GlobalIndex row) { return layout.owns(row); });
  std::vector<GlobalIndex> all;
  all.reserve(rows.size() * static_cast<std::size_t>(block));
  for (const GlobalIndex row : rows) {
    for (int r = 0; r < block; ++r) all.push_back(row + r);
  }
  return all;
}

/// Rows of which the first has an entry for each of the ghosts: a matrix with these ghosts.
SplitRows<double> rows_for(LocalIndex n_rows, const std::vector<GlobalIndex>& ghosts) {
  SplitRows<double> split;
  const auto n_ghosts = narrow<LocalIndex>(ghosts.size(), "overlapping rows of a rank:");
  split.on = Csr<double>(n_rows, n_rows);
  split.off = Csr<double>(n_rows, n_ghosts);
  Array<Offset> row_ptr(static_cast<std::size_t>(n_rows) + 1, n_ghosts);
  row_ptr[0] = 0;
  Array<LocalIndex> cols(ghosts.size());
  for (std::size_t g = 0; g < ghosts.size(); ++g) cols[g] = static_cast<LocalIndex>(g);
  split.off.row_ptr = std::move(row_ptr);
  split.off.cols = std::move(cols);
  split.off.vals.resize(ghosts.size());
  std::fill(split.off.vals.begin(), split.off.vals.end(), 1.0);
  split.ghosts = ghosts;
  return split;
}

/// Collective. `ghosts` with what their rows are coupled to.
std::vector<GlobalIndex> one_layer_more(const Matrix& A, const RowOverlap& overlap) {
  std::optional<Error> failure;
  const auto records = fetch_records(overlap.carrier->exchange(), A, failure);
  return mpi::collectively(A.comm(), [&] {
    if (failure) throw Error(*failure);
    std::vector<GlobalIndex> ghosts = overlap.ghosts;
    for (std::size_t g = 0; g < records.size(); ++g) {
      for_each_entry_of_runs(
          records[g], [&](GlobalIndex col, double) { ghosts.push_back(A.cols().first() + col); });
    }
    return ghosts;
  });
}

/// Local numbers of global columns: those of this rank, behind them the overlap's, -1 for others.
class OverlapNumbering {
 public:
  OverlapNumbering(const Layout& layout, const std::vector<GlobalIndex>& ghosts)
      : layout_(layout), ghosts_(ghosts) {}

  LocalIndex operator()(GlobalIndex col) const {
    if (layout_.owns(col)) return layout_.to_local(col);
    const auto place = std::lower_bound(ghosts_.begin(), ghosts_.end(), col);
    const bool is_there = place != ghosts_.end() && *place == col;
    return is_there ? layout_.n_local() + static_cast<LocalIndex>(place - ghosts_.begin()) : -1;
  }

 private:
  const Layout& layout_;
  const std::vector<GlobalIndex>& ghosts_;
};

/// Local. The rows of both, in one numbering.
Csr<double> join_rows(const Matrix& A, const std::vector<GlobalIndex>& ghosts,
                      const comm::Records<RowWord<double>>& fetched) {
  const auto n = narrow<LocalIndex>(static_cast<std::size_t>(A.n_local()) + ghosts.size(),
                                    "rows of a rank with its overlap:");
  Csr<double> rows(n, n);
  const std::size_t room = static_cast<std::size_t>(A.nnz_local()) +
                           entries_of(std::span<const RowWord<double>>(fetched.data));
  Array<Offset> row_ptr = {0};
  Array<LocalIndex> cols;
  row_ptr.reserve(static_cast<std::size_t>(n) + 1);
  cols.reserve(room);
  rows.vals.reserve(room);
  const OverlapNumbering number(A.cols(), ghosts);
  const auto push = [&](LocalIndex col, double value) {
    if (col < 0) return;
    cols.push_back(col);
    rows.vals.push_back(value);
  };
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    for (auto p = static_cast<std::size_t>(A.on().begin(i)); std::cmp_less(p, A.on().end(i)); ++p) {
      push(A.on().cols[p], A.on().vals[p]);
    }
    for (auto p = static_cast<std::size_t>(A.off().begin(i)); std::cmp_less(p, A.off().end(i));
         ++p) {
      push(number(A.ghosts()[static_cast<std::size_t>(A.off().cols[p])]), A.off().vals[p]);
    }
    row_ptr.push_back(static_cast<Offset>(cols.size()));
  }
  for (std::size_t g = 0; g < fetched.size(); ++g) {
    for_each_entry_of_runs(fetched[g], [&](GlobalIndex col, double value) {
      push(number(A.cols().first() + col), value);
    });
    row_ptr.push_back(static_cast<Offset>(cols.size()));
  }
  rows.row_ptr = std::move(row_ptr);
  rows.cols = std::move(cols);
  kernels::sort_and_combine_rows(rows);
  return rows;
}

}  // namespace

RowOverlap find_overlap(const std::shared_ptr<const Matrix>& A, int layers, int block) {
  RowOverlap overlap;
  if (layers == 0 || A->comm().size() == 1) return overlap;
  overlap.ghosts = mpi::collectively(
      A->comm(), [&] { return std::vector<GlobalIndex>(A->ghosts().begin(), A->ghosts().end()); });
  overlap.carrier = A;
  for (int layer = 1; layer <= layers; ++layer) {
    if (layer > 1) overlap.ghosts = one_layer_more(*A, overlap);
    if (layer == 1 && block == 1) continue;
    const Matrix carrier(A->rows(), A->cols(), [&] {
      overlap.ghosts = whole_blocks(A->cols(), std::move(overlap.ghosts), block);
      return rows_for(A->n_local(), overlap.ghosts);
    });
    overlap.carrier =
        std::make_shared<const Matrix>(carrier.with_route(A->route(), A->transport()));
  }
  return overlap;
}

Csr<double> rows_with_overlap(const Matrix& A, const RowOverlap& overlap) {
  std::optional<Error> failure;
  comm::Records<RowWord<double>> fetched;
  if (overlap.carrier) fetched = fetch_records(overlap.carrier->exchange(), A, failure);
  return mpi::collectively(A.comm(), [&] {
    if (failure) throw Error(*failure);
    return join_rows(A, overlap.ghosts, fetched);
  });
}

}  // namespace nodewise::matrix
