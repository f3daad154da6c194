// Who solves the coarsest system, and how vectors come there and back.
#pragma once

#include <span>
#include <vector>

#include "nodewise/amg/options/cycle_method.hpp"
#include "nodewise/comm/layout.hpp"

namespace nodewise::amg {

/// Owns a communicator made of another.
class SubComm {
 public:
  SubComm() = default;
  /// Collective on comm. The ranks with the same color, in their order; none where it is negative.
  SubComm(const mpi::Comm& comm, int color);
  SubComm(SubComm&& other) noexcept;
  SubComm& operator=(SubComm&& other) noexcept;
  ~SubComm();

  MPI_Comm get() const { return comm_; }
  bool exists() const { return comm_ != MPI_COMM_NULL; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Every rank has a holder, which may be itself, and sends its part of the right-hand side there;
/// the holders exchange what they have, and send back the parts of the solution. A gathered vector
/// has the holders' ranks one after another, each with its rows.
class CoarseHolders {
 public:
  /// Local; connect() is to follow. `where` is direct.
  CoarseHolders(const comm::Layout& rows, const CoarseSolveMethod& where);
  /// Collective. Makes the communicators, two at most.
  void connect();

  /// Local. For each entry of a gathered vector its row, counted from the layout's first.
  std::span<const int> order() const { return order_; }
  /// Where the rows that this rank holds begin in a gathered vector, and how many there are: none
  /// on a rank that has another for a holder.
  int first_held() const { return first_held_; }
  int n_held() const { return n_held_; }

  /// Collective. The gathered vector, on the holders, of `width` numbers a row. At most one
  /// gathering among a holder's ranks and one among the holders.
  template <class T>
  void gather(std::span<const T> mine, std::span<T> all, int width) const;
  /// Collective. Brings every rank its part of what its holder holds: at most one scattering.
  template <class T>
  void scatter(std::span<const T> held, std::span<T> mine, int width) const;

 private:
  void place(const comm::Layout& rows);

  const mpi::Comm& comm_;
  const CoarseSolveMethod& where_;
  std::vector<int> holder_of_;  // every rank's
  std::vector<int> order_;
  int first_held_ = 0;
  int n_held_ = 0;
  SubComm group_;    // a holder and its ranks; none where all hold for themselves
  SubComm holders_;  // on these; none where there is one
  std::vector<int> group_counts_, group_starts_, holder_counts_, holder_starts_;
};

}  // namespace nodewise::amg
