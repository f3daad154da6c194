#include "nodewise/matrix/block_matrix.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/points.hpp"
#include "nodewise/comm/route/direct.hpp"
#include "nodewise/kernels/cast_values.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::matrix {

namespace {

using kernels::Bsr;

/// Blocks are worth their zeros while they are fewer than this: with 12 bytes an entry in
/// compressed rows and a little over 8 a place in blocks, those would be read as fast at 0.7.
constexpr double worthwhile_fill = 0.8;

/// The points of ghosts, ascending, each once.
std::vector<GlobalIndex> points_of_ghosts(std::span<const GlobalIndex> ghosts, GlobalIndex first,
                                          int block) {
  std::vector<GlobalIndex> points;
  for (const GlobalIndex ghost : ghosts) {
    const GlobalIndex point = (ghost - first) / block;
    if (points.empty() || points.back() != point) points.push_back(point);
  }
  return points;
}

/// A.off() with all unknowns of the ghost points for columns.
template <class T>
Csr<T> off_by_points(const DistMatrix<T>& A, std::span<const GlobalIndex> points, int block) {
  std::vector<LocalIndex> column;
  std::size_t p = 0;
  for (const GlobalIndex ghost : A.ghosts()) {
    const GlobalIndex row = ghost - A.cols().first();
    while (points[p] != row / block) ++p;
    column.push_back(
        narrow<LocalIndex>(static_cast<GlobalIndex>(p) * block + row % block, "ghosts of a rank:"));
  }
  Csr<T> off;
  off.n_rows = A.off().n_rows;
  off.n_cols = narrow<LocalIndex>(std::ssize(points) * block, "ghosts of a rank:");
  off.row_ptr = A.off().row_ptr;
  Array<LocalIndex> cols(A.off().cols.size());
  std::transform(A.off().cols.begin(), A.off().cols.end(), cols.begin(),
                 [&](LocalIndex g) { return column[static_cast<std::size_t>(g)]; });
  off.cols = std::move(cols);
  off.vals = A.off().vals;
  return off;
}

/// One side of a pattern by points: as many messages, in the same order of entries. `point_of` is
/// of the k-th entry. Both sides of a message name the same points, since they name the same rows.
template <class PointOf>
std::vector<LocalIndex> compress(std::vector<LocalIndex>& offsets, PointOf&& point_of) {
  std::vector<LocalIndex> points;
  std::size_t k = 0;
  for (std::size_t m = 1; m < offsets.size(); ++m) {
    const std::size_t begin = points.size();
    for (; std::cmp_less(k, offsets[m]); ++k) {
      const LocalIndex point = point_of(k);
      if (points.size() == begin || points.back() != point) points.push_back(point);
    }
    offsets[m] = static_cast<LocalIndex>(points.size());
  }
  return points;
}

/// Local. The pattern of the points from that of the rows.
comm::Pattern by_points(comm::Pattern rows, std::span<const GlobalIndex> ghosts, GlobalIndex first,
                        int block) {
  comm::Pattern points = std::move(rows);
  points.n_owned /= block;
  points.send_entries =
      compress(points.send_offsets, [&](std::size_t k) { return points.send_entries[k] / block; });
  // Numbers of points, which need not fit a local index: it is told only whether they differ.
  LocalIndex number = 0;
  compress(points.recv_offsets, [&](std::size_t k) {
    if (k > 0 && (ghosts[k] - first) / block != (ghosts[k - 1] - first) / block) ++number;
    return number;
  });
  points.n_ghosts = points.recv_offsets.back();
  return points;
}

}  // namespace

template <class T>
BlockMatrix<T>::BlockMatrix(Bsr<T> on, Bsr<T> off, std::vector<GlobalIndex> ghosts,
                            std::shared_ptr<comm::Exchange> exchange, double fill)
    : on_(std::move(on)),
      off_(std::move(off)),
      ghosts_(std::move(ghosts)),
      exchange_(std::move(exchange)),
      fill_(fill) {
  for (LocalIndex i = 0; i < off_.n_rows; ++i) {
    if (off_.end(i) > off_.begin(i)) boundary_points_.push_back(i);
  }
}

template <class T>
std::size_t BlockMatrix<T>::memory_bytes() const {
  return (on_.vals.size() + off_.vals.size()) * sizeof(T) +
         (on_.cols.size() + off_.cols.size() + boundary_points_.size()) * sizeof(LocalIndex) +
         (on_.row_ptr.size() + off_.row_ptr.size()) * sizeof(Offset) +
         ghosts_.size() * sizeof(GlobalIndex);
}

template <class T>
BlockMatrix<T> BlockMatrix<T>::with_comm(std::shared_ptr<const mpi::Comm> comm,
                                         std::span<const int> ranks) const {
  return {
      on_, off_, ghosts_,
      std::make_shared<comm::Exchange>(std::move(comm), comm::with_ranks(exchange().plan(), ranks)),
      fill_};
}

template <class T>
BlockMatrix<T> BlockMatrix<T>::with_values(const DistMatrix<T>& A) const {
  return {kernels::with_values_of(on_, A.on()),
          kernels::with_values_of(off_, off_by_points<T>(A, ghosts_, block())), ghosts_, exchange_,
          fill_};
}

template <class T>
template <class To>
BlockMatrix<To> BlockMatrix<T>::with_type(double factor) const {
  const auto cast = [factor](const Bsr<T>& from) {
    Bsr<To> to;
    to.block = from.block;
    to.n_rows = from.n_rows;
    to.n_cols = from.n_cols;
    to.row_ptr = from.row_ptr;
    to.cols = from.cols;
    to.vals = kernels::cast_values<To>(from.vals, factor);
    return to;
  };
  return {cast(on_), cast(off_), ghosts_, exchange_, fill_};
}

template <class T>
std::shared_ptr<const BlockMatrix<T>> make_blocks(const DistMatrix<T>& A, int block,
                                                  double min_fill) {
  if (block < kernels::min_block || block > kernels::max_block) {
    throw Error(ErrorCode::unsupported,
                "a matrix in blocks of " + std::to_string(block) + " rows: they must have 2 to 6");
  }
  comm::require_whole_points(A.rows(), block);
  comm::require_whole_points(A.cols(), block);
  const mpi::Scope scope(A.comm(), "new_matrix");
  const bool direct = A.route()->goes_straight;
  Bsr<T> on, off;
  std::vector<GlobalIndex> ghosts;
  comm::Plan plan;
  const auto failure = mpi::caught([&] {
    ghosts = points_of_ghosts(A.ghosts(), A.cols().first(), block);
    on = kernels::to_bsr(A.on(), block);
    off = kernels::to_bsr(off_by_points<T>(A, ghosts, block), block);
    if (!direct) return;
    plan = comm::route::direct(by_points(comm::route::pattern_of(A.exchange().plan()), A.ghosts(),
                                         A.cols().first(), block));
  });
  std::int64_t places[] = {static_cast<std::int64_t>(on.vals.size() + off.vals.size())};
  mpi::agree_on_sums(A.comm(), failure, places);
  const double fill =
      places[0] > 0 ? static_cast<double>(A.nnz_global()) / static_cast<double>(places[0]) : 0;
  if (fill < min_fill) return nullptr;
  if (!direct) {
    const auto pattern = comm::discover_pattern(comm::points_of(A.cols(), block), ghosts);
    const mpi::Scope planning(A.comm(), "planning");
    plan = comm::make_plan(A.comm(), pattern, A.route());
  }
  return std::make_shared<const BlockMatrix<T>>(
      std::move(on), std::move(off), std::move(ghosts),
      std::make_shared<comm::Exchange>(A.shared_comm(), std::move(plan), A.transport()), fill);
}

template <class T>
std::shared_ptr<const DistMatrix<T>> with_blocks_where_full(std::shared_ptr<const DistMatrix<T>> A,
                                                            int unknowns) {
  if (unknowns < kernels::min_block || unknowns > kernels::max_block) return A;
  if (A->blocks() != nullptr && A->blocks()->block() == unknowns) return A;
  if (!comm::has_whole_points(A->rows(), unknowns)) return A;
  if (!comm::has_whole_points(A->cols(), unknowns)) return A;
  auto blocks = make_blocks(*A, unknowns, worthwhile_fill);
  return blocks ? std::make_shared<const DistMatrix<T>>(A->with_blocks(std::move(blocks))) : A;
}

#define NODEWISE_INSTANTIATE(T)                                                                  \
  template class BlockMatrix<T>;                                                                 \
  template BlockMatrix<float> BlockMatrix<T>::with_type(double) const;                           \
  template BlockMatrix<double> BlockMatrix<T>::with_type(double) const;                          \
  template std::shared_ptr<const BlockMatrix<T>> make_blocks(const DistMatrix<T>&, int, double); \
  template std::shared_ptr<const DistMatrix<T>> with_blocks_where_full(                          \
      std::shared_ptr<const DistMatrix<T>>, int);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::matrix
