// Distributed matrices whose entries are on devices, as a setup there makes and multiplies them.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/device/csr_matrix.hpp"
#include "nodewise/device/ghost_columns.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/offload/leaving.hpp"

namespace nodewise::offload {

/// A matrix of the host without entries, which brings the ghosts of another's vectors.
using Outline = std::shared_ptr<const matrix::DistMatrix<double>>;

/// This rank's rows. The columns of `local` are those that it owns, then `ghosts`: global indices,
/// ascending.
template <class Space>
struct DistCsr {
  comm::Layout rows, cols;
  std::vector<GlobalIndex> ghosts;
  device::CsrMatrix<double, Space> local;
  Outline outline = nullptr;  ///< null where it is only multiplied from the left
};

/// Where such matrices are worked with, and how their data get from there to other ranks.
template <class Space>
struct Workplace {
  Card<Space>* card = nullptr;
  device::Primitives<Space>* primitives = nullptr;  ///< on the card's queue
  Leaving leaving = {};
  comm::Route route = {};
  comm::Transport transport = {};

  device::Queue<Space>& queue() const { return card->queue; }
  /// Collective. mpi::collectively(), which takes in what failed on the card before.
  template <class Work>
  auto together(const mpi::Comm& comm, Work&& work) const {
    return mpi::collectively(comm, [&] {
      if (const auto failure = card->local.take()) throw Error(*failure);
      return work();
    });
  }
  /// Collective. The sums over the ranks of the numbers that `work` returns on each, an array.
  template <class Work>
  auto sums(const mpi::Comm& comm, Work&& work) const {
    decltype(work()) sums = {};
    card->local([&] { sums = work(); });
    mpi::agree_on_sums(comm, card->local.take(), std::span(sums));
    return sums;
  }
};

/// Collective. A copy of a matrix of the host, whose outline it is.
template <class Space>
DistCsr<Space> upload(const Workplace<Space>& at,
                      const std::shared_ptr<const matrix::DistMatrix<double>>& A);

/// Collective. The matrix on the host.
template <class Space>
matrix::DistMatrix<double> download(device::Queue<Space>& queue, const DistCsr<Space>& A);

/// Collective. Gives it an outline whose exchange is direct, and which has its rows or, where only
/// vectors are brought by it, none: those of a finest level's prolongation would take a host's
/// memory. Costs what the constructor of a matrix does, and a sum. Throws the same Error on every
/// rank.
enum class OutlineRows { all, none };
template <class Space>
void give_outline(DistCsr<Space>& A, OutlineRows has);

/// Collective. A B. The rows of B that A's ghosts stand for travel by A's outline. Ghosts that no
/// entry has are left out. Throws the same Error on every rank.
template <class Space>
DistCsr<Space> multiply(const Workplace<Space>& at, const DistCsr<Space>& A,
                        const DistCsr<Space>& B);

/// Rows of a matrix with those of other ranks behind them.
template <class Space>
struct WithGhostRows {
  device::CsrMatrix<double, Space> rows;
  std::vector<GlobalIndex> ghosts = {};            ///< of the columns of all rows
  device::Buffer<std::uint8_t, Space> marks = {};  ///< of the entries
};

/// Collective, on several ranks. The rows of B with those that A's ghosts stand for, which travel
/// by A's outline; their columns are in any order. With marks of the entries of B, if there are
/// any. Throws the same Error on every rank.
template <class Space>
WithGhostRows<Space> with_ghost_rows(const Workplace<Space>& at, const DistCsr<Space>& A,
                                     const DistCsr<Space>& B,
                                     const device::Buffer<std::uint8_t, Space>* marks = nullptr);

/// Local. Leaves out the ghosts that no entry has.
template <class Space>
void drop_unused_ghosts(device::Queue<Space>& queue, DistCsr<Space>& A);

/// Collective. The transposed matrix, entries ordered by rows of P in every row. They travel to the
/// owners of P's ghosts in one exchange of records; P's outline must be direct. Throws the same
/// Error on every rank.
template <class Space>
DistCsr<Space> transpose(const Workplace<Space>& at, const DistCsr<Space>& P);

}  // namespace nodewise::offload
