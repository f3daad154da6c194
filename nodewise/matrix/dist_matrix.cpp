#include "nodewise/matrix/dist_matrix.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "nodewise/base/hash.hpp"
#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/route/direct.hpp"
#include "nodewise/kernels/cast_values.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::matrix {

namespace {

/// For every ghost of the block its new column: local where it is owned after all, otherwise
/// n_owned_cols + its place among the ascending ghosts that occur.
template <class T>
std::vector<LocalIndex> renumber_ghosts(const Layout& cols, const RowBlock<T>& block,
                                        std::vector<GlobalIndex>& ghosts) {
  std::vector<char> occurs(block.ghosts.size(), 0);
  for (const LocalIndex col : block.rows.cols) {
    if (col >= block.n_owned_cols) occurs[static_cast<std::size_t>(col - block.n_owned_cols)] = 1;
  }
  for (std::size_t g = 0; g < block.ghosts.size(); ++g) {
    if (occurs[g] && !cols.owns(block.ghosts[g])) ghosts.push_back(block.ghosts[g]);
  }
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  std::vector<LocalIndex> renumbered(block.ghosts.size(), -1);
  for (std::size_t g = 0; g < block.ghosts.size(); ++g) {
    if (!occurs[g]) continue;
    const GlobalIndex ghost = block.ghosts[g];
    const auto place = std::lower_bound(ghosts.begin(), ghosts.end(), ghost) - ghosts.begin();
    renumbered[g] = cols.owns(ghost) ? cols.to_local(ghost)
                                     : block.n_owned_cols + static_cast<LocalIndex>(place);
  }
  return renumbered;
}

/// Leaves the owned columns in the rows, which move up, and makes rows of their own of the others.
template <class T>
void split_columns(Csr<T> rows, LocalIndex n_owned_cols, std::span<const LocalIndex> renumbered,
                   SplitRows<T>& split) {
  const auto column = [&](LocalIndex col) {
    return col < n_owned_cols ? col : renumbered[static_cast<std::size_t>(col - n_owned_cols)];
  };
  std::size_t n_off = 0;
  for (const LocalIndex col : std::as_const(rows.cols)) n_off += column(col) >= n_owned_cols;
  split.off.cols.resize(n_off);
  split.off.vals.resize(n_off);
  LocalIndex* const cols = rows.cols.data();
  T* const vals = rows.vals.data();
  Offset* const row_ptr = rows.row_ptr.data();
  LocalIndex* const off_cols = split.off.cols.data();
  Offset* const off_row_ptr = split.off.row_ptr.data();
  std::size_t on = 0;
  std::size_t off = 0;
  Offset begin = 0;
  for (LocalIndex i = 0; i < rows.n_rows; ++i) {
    const Offset end = row_ptr[i + 1];
    for (Offset k = begin; k < end; ++k) {
      const LocalIndex col = column(cols[k]);
      if (col < n_owned_cols) {
        cols[on] = col;
        vals[on++] = vals[k];
      } else {
        off_cols[off] = col - n_owned_cols;
        split.off.vals[off++] = vals[k];
      }
    }
    begin = end;
    row_ptr[i + 1] = static_cast<Offset>(on);
    off_row_ptr[i + 1] = static_cast<Offset>(off);
  }
  rows.cols.resize(on);
  rows.vals.resize(on);
  split.on = std::move(rows);
}

/// Refuses rows that are not those of a matrix: what is made from them would read elsewhere.
template <class T>
void check_block(const RowBlock<T>& block) {
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorCode::dimension_mismatch, "matrix: " + what);
  };
  const Csr<T>& rows = block.rows;
  const std::span<const Offset> ptr(rows.row_ptr);
  if (rows.n_rows < 0 || ptr.size() != static_cast<std::size_t>(rows.n_rows) + 1 || ptr[0] != 0 ||
      !std::is_sorted(ptr.begin(), ptr.end())) {
    refuse("row_ptr does not ascend from 0 over " + std::to_string(rows.n_rows) + " rows");
  }
  if (std::cmp_not_equal(rows.cols.size(), ptr.back()) || rows.vals.size() != rows.cols.size()) {
    refuse("the rows end at " + std::to_string(ptr.back()) + ", with " +
           std::to_string(rows.cols.size()) + " columns and " + std::to_string(rows.vals.size()) +
           " values");
  }
  const auto n_cols = static_cast<GlobalIndex>(block.ghosts.size()) + block.n_owned_cols;
  for (const LocalIndex col : rows.cols) {
    if (col >= 0 && col < n_cols) continue;
    refuse("column " + std::to_string(col) + " is none of " + std::to_string(n_cols) +
           ", the rank's own and the ghosts");
  }
}

}  // namespace

template <class T>
SplitRows<T> split_rows(const Layout& cols, RowBlock<T> block) {
  SplitRows<T> split;
  const LocalIndex n_rows = block.rows.n_rows;
  if (block.ghosts.empty()) {
    split.on = std::move(block.rows);
    split.off = Csr<T>(n_rows, 0);
  } else {
    const std::vector<LocalIndex> renumbered = renumber_ghosts(cols, block, split.ghosts);
    split.off = Csr<T>(n_rows, narrow<LocalIndex>(split.ghosts.size(), "ghosts of a rank:"));
    split_columns<T>(std::move(block.rows), block.n_owned_cols, renumbered, split);
  }
  split.on.n_cols = block.n_owned_cols;
  kernels::sort_and_combine_rows(split.on);
  kernels::sort_and_combine_rows(split.off);
  return split;
}

template <class T>
typename DistMatrix<T>::OnNode DistMatrix<T>::find_on_node(const Layout& cols,
                                                           std::span<const GlobalIndex> ghosts) {
  const mpi::Comm& comm = cols.comm();
  const auto n_ghosts = narrow<LocalIndex>(ghosts.size(), "ghosts of a rank:");
  OnNode result{{}, n_ghosts};
  if (comm.topology().n_nodes() <= 1) return result;
  result.is_on_node.reserve(ghosts.size());
  result.count = 0;
  for (const GlobalIndex ghost : ghosts) {
    const bool here = comm.topology().same_node(comm.rank(), cols.owner(ghost));
    result.is_on_node.push_back(here ? 1 : 0);
    if (here) ++result.count;
  }
  if (result.count == 0 || result.count == n_ghosts) result.is_on_node.clear();
  return result;
}

template <class T>
DistMatrix<T>::DistMatrix(Layout rows, Layout cols, RowBlock<T> block)
    : DistMatrix(rows, cols, [&] {
        check_block(block);
        return split_rows(cols, std::move(block));
      }) {}

template <class T>
DistMatrix<T>::DistMatrix(Layout rows, Layout cols, SplitRows<T> split)
    : rows_(std::move(rows)), cols_(std::move(cols)) {
  build(std::move(split), {});
}

template <class T>
void DistMatrix<T>::build(SplitRows<T> split, const std::optional<Error>& error) {
  const mpi::Scope scope(comm(), "new_matrix");
  const mpi::Same layouts = {hash64(rows_.fingerprint(), cols_.fingerprint()),
                             "matrix: its layouts"};
  std::array<std::int64_t, 3> sums{};  // of entries; for the comparison of layouts
  const std::span<std::int64_t, 3> all(sums);
  comm::detail::Riders riders{all};
  const auto wanted = [&] {
    if (error) throw Error(*error);
    take(std::move(split));
    const auto compared = mpi::to_compare(layouts);
    sums = {nnz_local(), compared[0], compared[1]};
    return ghosts();
  };
  const comm::Requests requests = comm::exchange_requests(cols_, wanted, &riders);
  if (riders.are_summed) mpi::require_same(comm(), layouts, all.last<2>());
  const auto failure = mpi::error_of([&] {
    exchange_ = std::make_shared<comm::Exchange>(
        shared_comm(), comm::route::direct(comm::make_pattern(cols_, requests)));
  });
  if (!riders.are_summed) {
    mpi::agree_on_sums(comm(), failure, all.first<1>(), layouts);
  } else if (!riders.is_small) {
    mpi::agree(comm(), failure);
  } else if (failure) {
    throw Error(*failure);
  }
  nnz_global_ = sums[0];
}

template <class T>
void DistMatrix<T>::take(SplitRows<T> split) {
  auto blocks = std::make_shared<Blocks>();
  blocks->split = std::move(split);
  const Csr<T>& on = blocks->split.on;
  const Csr<T>& off = blocks->split.off;
  if (on.n_rows != rows_.n_local() || off.n_rows != on.n_rows || on.n_cols != cols_.n_local() ||
      std::cmp_not_equal(off.n_cols, blocks->split.ghosts.size())) {
    throw Error(ErrorCode::dimension_mismatch, "matrix: the rows given do not fit the layout");
  }
  for (LocalIndex i = 0; i < off.n_rows && off.nnz() > 0; ++i) {
    if (off.end(i) > off.begin(i)) blocks->boundary_rows.push_back(i);
  }
  blocks_ = std::move(blocks);
  on_node_ = std::make_shared<const OnNode>(find_on_node(cols_, ghosts()));
}

template <class T>
DistMatrix<T> DistMatrix<T>::with_pattern(Layout rows, Layout cols, SplitRows<T> split,
                                          const comm::Pattern& pattern) {
  DistMatrix result(std::move(rows), std::move(cols));
  result.take(std::move(split));
  result.exchange_ =
      std::make_shared<comm::Exchange>(result.shared_comm(), comm::route::direct(pattern));
  return result;
}

template <class T>
DistMatrix<T> DistMatrix<T>::counted(GlobalIndex nnz_global) const {
  DistMatrix result = *this;
  result.nnz_global_ = nnz_global;
  return result;
}

template <class T>
DistMatrix<T> DistMatrix<T>::with_route(const comm::Route& route,
                                        const comm::Transport& transport) const {
  comm::require_route(route);
  DistMatrix other = *this;
  other.block_matrix_ = nullptr;
  other.route_ = route;
  const auto goes_straight = [this](const comm::Route& r) {
    return comm::goes_straight(r, comm().topology());
  };
  const bool same_plan = route == route_ || (goes_straight(route) && goes_straight(route_));
  if (same_plan && transport == this->transport()) {
    other.block_matrix_ = block_matrix_;
    return other;
  }
  const mpi::Scope scope(comm(), "planning");
  comm::Plan plan;
  if (same_plan) {
    plan = exchange().plan();
  } else {
    const comm::Pattern pattern = route_->goes_straight ? comm::route::pattern_of(exchange().plan())
                                                        : comm::discover_pattern(cols_, ghosts());
    plan = comm::make_plan(comm(), pattern, route);
  }
  other.exchange_ = std::make_shared<comm::Exchange>(shared_comm(), std::move(plan), transport);
  return other;
}

template <class T>
DistMatrix<T> DistMatrix<T>::with_values(Array<T> on, Array<T> off) const {
  return mpi::collectively(comm(),
                           [&] { return with_local_values(std::move(on), std::move(off)); });
}

template <class T>
DistMatrix<T> DistMatrix<T>::with_local_values(Array<T> on, Array<T> off) const {
  if (on.size() != this->on().cols.size() || off.size() != this->off().cols.size()) {
    throw Error(ErrorCode::dimension_mismatch,
                "matrix: " + std::to_string(on.size()) + " and " + std::to_string(off.size()) +
                    " values for " + std::to_string(this->on().cols.size()) + " and " +
                    std::to_string(this->off().cols.size()) + " entries");
  }
  const auto with = [](const Csr<T>& part, Array<T>& values) {
    Csr<T> result;
    result.n_rows = part.n_rows;
    result.n_cols = part.n_cols;
    result.row_ptr = part.row_ptr;
    result.cols = part.cols;
    result.vals = std::move(values);
    return result;
  };
  const SplitRows<T>& split = blocks_->split;
  DistMatrix other = *this;
  other.block_matrix_ = nullptr;
  other.blocks_ = std::make_shared<const Blocks>(
      Blocks{{with(split.on, on), with(split.off, off), split.ghosts}, blocks_->boundary_rows});
  return other;
}

template <class T>
template <class To>
DistMatrix<To> DistMatrix<T>::with_type(double factor) const {
  DistMatrix<To> other(rows_, cols_);
  const auto cast = [factor](const Csr<T>& from) {
    Csr<To> to;
    to.n_rows = from.n_rows;
    to.n_cols = from.n_cols;
    to.row_ptr = from.row_ptr;
    to.cols = from.cols;
    to.vals = kernels::cast_values<To>(from.vals, factor);
    return to;
  };
  const SplitRows<T>& split = blocks_->split;
  using OtherBlocks = typename DistMatrix<To>::Blocks;
  using OtherOnNode = typename DistMatrix<To>::OnNode;
  other.blocks_ = std::make_shared<const OtherBlocks>(
      OtherBlocks{{cast(split.on), cast(split.off), split.ghosts}, blocks_->boundary_rows});
  other.on_node_ =
      std::make_shared<const OtherOnNode>(OtherOnNode{on_node_->is_on_node, on_node_->count});
  other.route_ = route_;
  other.exchange_ = exchange_;
  other.nnz_global_ = nnz_global_;
  if (block_matrix_) {
    other.block_matrix_ =
        std::make_shared<const BlockMatrix<To>>(block_matrix_->template with_type<To>(factor));
  }
  return other;
}

template <class T>
DistMatrix<T> DistMatrix<T>::with_exchange_of(const DistMatrix& other) const {
  DistMatrix result = *this;
  result.route_ = other.route_;
  result.exchange_ = other.exchange_;
  result.block_matrix_ = nullptr;
  return result;
}

template <class T>
DistMatrix<T> DistMatrix<T>::with_comm(const Layout& rows, const Layout& cols,
                                       std::span<const int> ranks) const {
  DistMatrix result = *this;
  result.rows_ = rows;
  result.cols_ = cols;
  result.exchange_ = std::make_shared<comm::Exchange>(result.shared_comm(),
                                                      comm::with_ranks(exchange().plan(), ranks));
  if (block_matrix_) {
    result.block_matrix_ = std::make_shared<const BlockMatrix<T>>(
        block_matrix_->with_comm(result.shared_comm(), ranks));
  }
  return result;
}

template <class T>
DistMatrix<T> DistMatrix<T>::without_rows(Layout rows, Layout cols, GlobalIndex nnz_global) {
  DistMatrix result(std::move(rows), std::move(cols));
  result.take({Csr<T>(0, 0), Csr<T>(0, 0), {}});
  result.exchange_ = std::make_shared<comm::Exchange>(result.shared_comm(), comm::Plan());
  result.nnz_global_ = nnz_global;
  return result;
}

template <class T>
DistMatrix<T> DistMatrix<T>::with_blocks(int block) const {
  return with_blocks(make_blocks(*this, block));
}

template <class T>
DistMatrix<T> DistMatrix<T>::with_blocks(std::shared_ptr<const BlockMatrix<T>> blocks) const {
  DistMatrix result = *this;
  result.block_matrix_ = std::move(blocks);
  return result;
}

template <class T>
DistMatrix<T> DistMatrix<T>::with_blocks_of(const DistMatrix& other) const {
  DistMatrix result = *this;
  result.block_matrix_ = nullptr;
  if (other.block_matrix_ == nullptr) return result;
  result.block_matrix_ = mpi::collectively(comm(), [&] {
    return std::make_shared<const BlockMatrix<T>>(other.block_matrix_->with_values(*this));
  });
  return result;
}

template <class T>
std::size_t DistMatrix<T>::memory_bytes() const {
  const std::size_t per_entry = sizeof(T) + sizeof(LocalIndex);
  const auto row_ptr_bytes = [](const Csr<T>& part) {  // those of no entries are shared
    return part.nnz() > 0 ? part.row_ptr.size() * sizeof(Offset) : 0;
  };
  return static_cast<std::size_t>(nnz_local()) * per_entry + row_ptr_bytes(on()) +
         row_ptr_bytes(off()) + ghosts().size() * sizeof(GlobalIndex) +
         boundary_rows().size() * sizeof(LocalIndex) +
         (block_matrix_ ? block_matrix_->memory_bytes() : 0);
}

#define NODEWISE_INSTANTIATE(T)                                      \
  template SplitRows<T> split_rows(const Layout&, RowBlock<T>);      \
  template class DistMatrix<T>;                                      \
  template DistMatrix<float> DistMatrix<T>::with_type(double) const; \
  template DistMatrix<double> DistMatrix<T>::with_type(double) const;
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::matrix
