#include "nodewise/amg/redistribute/level_copies.hpp"

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "nodewise/amg/redistribute/copy_holders.hpp"
#include "nodewise/matrix/ghost_numbering.hpp"
#include "nodewise/matrix/products.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

using comm::Layout;
using matrix::DistMatrix;

namespace {

/// Of every rank of a communicator, where `owner` has the level (holders_of_copies()).
std::vector<int> holders_on(const mpi::Comm& comm, int owner) {
  std::vector<int> ranks(static_cast<std::size_t>(comm.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return holders_of_copies(comm.topology(), ranks, owner);
}

/// Collective. The matrix whose row i of every copy has a one in column i. Throws on every rank
/// what `failure` says on any.
template <class T>
std::shared_ptr<const DistMatrix<T>> make_copier(const Layout& copies, const Layout& rows,
                                                 const std::optional<Error>& failure) {
  return std::make_shared<const DistMatrix<T>>(copies, rows, [&] {
    if (failure) throw Error(*failure);
    matrix::GhostNumbering columns(rows);
    kernels::Csr<T> ones;
    ones.n_rows = copies.n_local();
    ones.row_ptr.resize(static_cast<std::size_t>(ones.n_rows) + 1);
    for (LocalIndex i = 0; i < ones.n_rows; ++i) {
      ones.row_ptr[static_cast<std::size_t>(i) + 1] = i + 1;
      ones.cols.push_back(columns.number(rows.first() + i));
      ones.vals.push_back(T{1});
    }
    ones.n_cols = columns.size();
    return matrix::split_rows(
        rows, matrix::RowBlock<T>{std::move(ones), rows.n_local(), columns.ghosts()});
  });
}

/// Local. The layout of the rows of this rank's node on the communicator of the node.
Layout rows_of_node(const Layout& rows) {
  const mpi::Comm& comm = rows.comm();
  std::vector<GlobalIndex> starts = {0};
  for (const int r : comm.topology().ranks_on(comm.topology().node(comm.rank()))) {
    starts.push_back(starts.back() + rows.end(r) - rows.begin(r));
  }
  return {std::shared_ptr<const mpi::Comm>(rows.shared_comm(), &comm.node()), std::move(starts)};
}

template <class T>
std::shared_ptr<const DistMatrix<T>> shared(DistMatrix<T> M) {
  return std::make_shared<const DistMatrix<T>>(std::move(M));
}

/// Collective on the node. Its rows of P, whose columns `holder` has.
template <class T>
std::shared_ptr<const DistMatrix<T>> on_node(const DistMatrix<T>& P, int holder) {
  const mpi::Topology& topology = P.comm().topology();
  const Layout rows = rows_of_node(P.rows());
  std::vector<GlobalIndex> starts = {0};
  for (const int r : topology.ranks_on(topology.node(P.comm().rank()))) {
    starts.push_back(starts.back() + (r == holder ? P.cols().n_global() : 0));
  }
  return shared(matrix::on_other_ranks(P, rows, {rows.shared_comm(), std::move(starts)}));
}

/// Collective. Values of the level's rows, from the rank that has them to the copies.
template <class V, class T>
void copy_values(V& values, int width, const LevelCopies<T>& copies) {
  using Value = typename V::value_type;
  const DistMatrix<T>& copier = *copies.copier;
  V arrived;
  mpi::collectively(copier.comm(), [&] {
    arrived.resize(static_cast<std::size_t>(copier.n_ghosts()) * static_cast<std::size_t>(width));
  });
  copier.exchange().template forward<Value>(values, arrived, width);
  if (copies.alone) values = std::move(arrived);
}

/// Collective. Likewise where there may be none, which copies do not know.
template <class V, class T>
void copy_if_known(V& values, const LevelCopies<T>& copies) {
  const std::int32_t is_known = values.empty() ? 0 : 1;
  if (mpi::max(copies.copier->comm(), is_known) > 0) copy_values(values, 1, copies);
}

template <class T>
void copy_near_null_space(NearNullSpace<T>& space, const LevelCopies<T>& copies) {
  space.n_vectors = mpi::max(copies.copier->comm(), static_cast<std::int32_t>(space.n_vectors));
  if (space.n_vectors > 0) copy_values(space.values, space.n_vectors, copies);
}

}  // namespace

template <class T>
std::shared_ptr<LevelCopies<T>> make_copies(const GridTransfer<T>& transfer,
                                            const LevelCopies<T>* earlier) {
  const DistMatrix<T>& P = *transfer.P;
  const mpi::Comm& comm = P.comm();
  const std::optional<int> owner = only_holder(P.cols().starts());
  if (!owner || comm.topology().n_nodes() < 2) return nullptr;
  const mpi::Scope scope(comm, "redistribution");
  const std::vector<int> holders = holders_on(comm, *owner);
  const Layout all(P.cols().shared_comm(), starts_of_copies(holders, P.cols().n_global()));
  auto copies = std::make_shared<LevelCopies<T>>();
  const int holder = holders[static_cast<std::size_t>(comm.rank())];
  // On each node by itself: what fails there the others have to hear.
  const auto failure = mpi::error_of([&] { copies->from_copy = on_node(P, holder); });
  copies->copier = make_copier<T>(all, P.cols(), failure);
  const auto routed_as = [](DistMatrix<T> M, const DistMatrix<T>& other) {
    return shared(M.with_route(other.route(), other.transport()));
  };
  if (transfer.R) {
    copies->R = routed_as(matrix::multiply(*copies->copier, *transfer.R), *transfer.R);
  } else {
    copies->to_copies = routed_as(matrix::with_repeated_columns(P, all), P);
  }
  if (holder == comm.rank() && holder != *owner) {
    const int self[] = {holder};
    copies->alone = earlier ? earlier->alone : mpi::Comm::subset(P.shared_comm(), self);
  }
  return copies;
}

template <class T>
void fill_copies_again(GridTransfer<T>& transfer, const DistMatrix<T>& A) {
  LevelCopies<T>& copies = *transfer.copies;
  const mpi::Scope scope(A.comm(), "redistribution");
  const DistMatrix<T> rows = matrix::multiply(*copies.copier, A);
  copy_if_known(transfer.coarse_sizes, copies);
  if (!copies.alone) return;
  const Layout here(copies.alone, {0, A.rows().n_global()});
  copies.A = shared(matrix::on_other_ranks(rows, here, here));
}

template <class T>
void fill_copies(GridTransfer<T>& transfer, const DistMatrix<T>& A) {
  const LevelCopies<T>& copies = *transfer.copies;
  const mpi::Scope scope(A.comm(), "redistribution");
  copy_near_null_space(transfer.coarse_near_null_space, copies);
  copy_near_null_space(transfer.coarse_left_near_null_space, copies);
  copy_if_known(transfer.coarse_unknown_of_row, copies);
  fill_copies_again(transfer, A);
}

#define NODEWISE_INSTANTIATE(T)                                                \
  template std::shared_ptr<LevelCopies<T>> make_copies(const GridTransfer<T>&, \
                                                       const LevelCopies<T>*); \
  template void fill_copies(GridTransfer<T>&, const DistMatrix<T>&);           \
  template void fill_copies_again(GridTransfer<T>&, const DistMatrix<T>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg
