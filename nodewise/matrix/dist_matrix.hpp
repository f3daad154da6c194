// The distributed sparse matrix: rows split over ranks, columns on-process or ghost.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/layout.hpp"
#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/kernels/csr.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::matrix {

using comm::Layout;
using kernels::Csr;

/// This rank's rows before their columns are sorted out: columns below n_owned_cols are local
/// numbers of the column layout, column n_owned_cols + g stands for the global index ghosts[g].
/// Ghosts come in any order, repeated or unused; a column may occur twice in a row: values add up.
template <class T>
struct RowBlock {
  Csr<T> rows;
  LocalIndex n_owned_cols = 0;
  std::vector<GlobalIndex> ghosts;
};

/// This rank's rows, split as DistMatrix holds them: columns ascending and distinct in every row.
template <class T>
struct SplitRows {
  Csr<T> on, off;
  std::vector<GlobalIndex> ghosts;  ///< ascending
};

/// Local. Splits, sorts and combines a block's entries; ghosts that do not occur are dropped.
template <class T>
SplitRows<T> split_rows(const Layout& cols, RowBlock<T> block);

template <class T>
class BlockMatrix;

/// Rows are laid out by rows(), the vectors it multiplies by cols(). A row's entries are split into
/// on(): columns this rank owns, local numbers, and off(): columns of other ranks, numbered as in
/// ghosts() (ascending global indices). Columns ascend and are distinct in every row of either.
/// Immutable, so that copies share their entries. T is double or float.
template <class T>
class DistMatrix {
 public:
  using value_type = T;

  /// Collective. Takes this rank's rows. One sparse exchange to find the communication pattern, and
  /// one allreduce. Throws the same Error on every rank: dimension_mismatch where the rows do not
  /// fit the layouts, internal where ghosts do not.
  DistMatrix(Layout rows, Layout cols, RowBlock<T> block);
  /// Collective. Takes rows that are split already.
  DistMatrix(Layout rows, Layout cols, SplitRows<T> split);
  /// Collective. Takes the SplitRows<T> that `make()` returns: local work; what it throws on one
  /// rank all throw, without an agreement of its own.
  template <std::invocable Make>
  DistMatrix(Layout rows, Layout cols, Make&& make)
      : rows_(std::move(rows)), cols_(std::move(cols)) {
    SplitRows<T> split;
    const auto error = mpi::caught([&] { split = make(); });
    build(std::move(split), error);
  }

  /// Collective. The same matrix, its entries shared, whose exchange() takes another route or goes
  /// over another transport; costs what comm::make_plan does. Where they are those it has, a copy
  /// without messages. Throws unsupported, on every rank, where comm::require_available() does, and
  /// invalid_argument for route automatic.
  DistMatrix with_route(const comm::Route& route,
                        const comm::Transport& transport = "point_to_point") const;
  const comm::Route& route() const { return route_; }
  const comm::Transport& transport() const { return exchange_->transport(); }

  /// Local. A matrix whose direct pattern is known, which must bring the ghosts of `split`, as
  /// those of other ranks must say. Its nnz_global() is 0 until counted().
  static DistMatrix with_pattern(Layout rows, Layout cols, SplitRows<T> split,
                                 const comm::Pattern& pattern);
  /// Local. The same matrix with so many entries over all ranks.
  DistMatrix counted(GlobalIndex nnz_global) const;

  /// Collective. The matrix that has its entries at the same places and other values, given in the
  /// order of on().vals and off().vals. Its exchange() is this one's; the places are shared. No
  /// messages but an agreement: throws dimension_mismatch, on every rank, where a number of values
  /// is wrong.
  DistMatrix with_values(Array<T> on, Array<T> off) const;
  /// Local. Likewise; throws on this rank alone.
  DistMatrix with_local_values(Array<T> on, Array<T> off) const;
  /// Local. The matrix with values of another type, `factor` times these, at the same places, which
  /// are shared, as is the exchange.
  template <class To>
  DistMatrix<To> with_type(double factor = 1) const;
  /// Local. The same matrix, its entries shared, with the exchange and route of `other`, which must
  /// have the same ghosts on every rank.
  DistMatrix with_exchange_of(const DistMatrix& other) const;
  /// Local. The same matrix, its entries shared, on another communicator, where rank r of this one
  /// is ranks[r], ascending: `rows` and `cols` lay its rows and columns out there. Its exchanges
  /// take the same route, point to point. To go to fewer ranks, name any for one that is not
  /// there: it must have neither rows nor columns, and pass nothing on, as on route direct.
  DistMatrix with_comm(const Layout& rows, const Layout& cols, std::span<const int> ranks) const;
  /// Local. This rank's part where it has neither rows nor columns of a matrix with so many
  /// entries.
  static DistMatrix without_rows(Layout rows, Layout cols, GlobalIndex nnz_global);
  /// Collective. The same matrix, which besides has its entries in dense blocks of `block` rows and
  /// columns (block_matrix.hpp): products with vectors, residuals, and Galerkin products with a P
  /// in blocks (galerkin_rows.hpp) go through these. A copy of the entries, and of the exchange by
  /// points, which takes this matrix's route; one agreement, and what comm::make_plan() costs where
  /// the route is not direct. Throws, the same on every rank, what comm::require_whole_points()
  /// throws, and unsupported unless 2 <= block <= 6. Of the other forms of a matrix only
  /// with_type() keeps the blocks.
  DistMatrix with_blocks(int block) const;
  /// Local. The same with blocks of it that are at hand.
  DistMatrix with_blocks(std::shared_ptr<const BlockMatrix<T>> blocks) const;
  /// Collective. The same with the places and the exchange of other.blocks(), where it has any:
  /// for new values on the pattern and the route of `other`. An agreement.
  DistMatrix with_blocks_of(const DistMatrix& other) const;

  const Layout& rows() const { return rows_; }
  const Layout& cols() const { return cols_; }
  const mpi::Comm& comm() const { return rows_.comm(); }
  const std::shared_ptr<const mpi::Comm>& shared_comm() const { return rows_.shared_comm(); }
  LocalIndex n_local() const { return on().n_rows; }
  LocalIndex n_ghosts() const { return off().n_cols; }
  const Csr<T>& on() const { return blocks_->split.on; }
  const Csr<T>& off() const { return blocks_->split.off; }
  std::span<const GlobalIndex> ghosts() const { return blocks_->split.ghosts; }
  /// The local rows that have entries in off(), ascending.
  std::span<const LocalIndex> boundary_rows() const { return blocks_->boundary_rows; }
  /// For each ghost whether this rank's node owns it; empty where all or none are.
  std::span<const char> ghosts_on_node() const { return on_node_->is_on_node; }
  /// How many of them, which says whether a route brings them all before the others.
  LocalIndex n_ghosts_on_node() const { return on_node_->count; }
  /// Brings the ghosts of a vector laid out by cols(). Shared by all users of the matrix, since
  /// running it does not change the matrix.
  comm::Exchange& exchange() const { return *exchange_; }

  /// Local, the same on every rank. Whether the other is this matrix or made of it by a function
  /// that shares the entries.
  bool shares_entries_with(const DistMatrix& other) const { return blocks_ == other.blocks_; }

  /// The entries in dense blocks; null without.
  const BlockMatrix<T>* blocks() const { return block_matrix_.get(); }
  const std::shared_ptr<const BlockMatrix<T>>& shared_blocks() const { return block_matrix_; }

  /// Entries of local row i, in both blocks.
  Offset row_length(LocalIndex i) const { return on().length(i) + off().length(i); }
  Offset nnz_local() const { return on().nnz() + off().nnz(); }
  /// Over all ranks; summed once, when the matrix is made.
  GlobalIndex nnz_global() const { return nnz_global_; }
  /// Bytes this rank holds for the matrix, blocks included, its exchange not counted.
  std::size_t memory_bytes() const;

 private:
  template <class Other>
  friend class DistMatrix;
  DistMatrix(Layout rows, Layout cols) : rows_(std::move(rows)), cols_(std::move(cols)) {}

  struct Blocks {
    SplitRows<T> split;
    std::vector<LocalIndex> boundary_rows;
  };
  struct OnNode {
    std::vector<char> is_on_node;  // of each ghost; empty where all or none are
    LocalIndex count = 0;
  };
  static OnNode find_on_node(const Layout& cols, std::span<const GlobalIndex> ghosts);

  /// Collective. The rest of a constructor; `error` is what kept this rank from making its rows.
  void build(SplitRows<T> split, const std::optional<Error>& error);
  /// Local.
  void take(SplitRows<T> split);

  Layout rows_, cols_;
  std::shared_ptr<const Blocks> blocks_;
  std::shared_ptr<const OnNode> on_node_;
  comm::Route route_ = "direct";
  std::shared_ptr<comm::Exchange> exchange_;
  std::shared_ptr<const BlockMatrix<T>> block_matrix_;
  GlobalIndex nnz_global_ = 0;
};

}  // namespace nodewise::matrix
