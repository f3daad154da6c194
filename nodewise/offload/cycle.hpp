// The V-cycle of a hierarchy on a device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "nodewise/amg/cycle/cycle.hpp"
#include "nodewise/offload/dist_product.hpp"

namespace nodewise::offload {

/// How often a cycle relaxes.
struct Sweeps {
  int before = 1;
  int after = 1;
};

/// Collective. How the data of a level leave the device: by the exchange of its matrix, and the
/// bytes of a number. Called once for each level, the finest first.
using LeavingOf = std::function<Leaving(const comm::Exchange& exchange, std::size_t item_bytes)>;

/// A level: its matrix, transfers, relaxation and vectors, all on the device.
template <class T, class Space>
struct CycleLevel {
  template <class Number>
  using Buffer = device::Buffer<Number, Space>;

  std::int64_t n = 0;                 ///< rows on this rank
  DistProductPointer<T, Space> A;     ///< none where the level is solved directly
  DistProductPointer<T, Space> P, R;  ///< from and to the next level; none on the last
  Buffer<T> inverse_diagonal;
  std::vector<device::RelaxationStep<T>> steps;  ///< of a sweep
  Buffer<T> inverse;                             ///< of the last matrix, by rows, on a single rank
  std::shared_ptr<const amg::CoarseSolver<T>> solver;  ///< of the host, where there are several
  Buffer<T> b, x, other, step, r;                      ///< all but `step` have room for ghosts

  std::size_t bytes() const;
};

/// Collective. The restrictions of a host's cycle: the transposes of its prolongations where it has
/// no others.
template <class T>
std::vector<std::shared_ptr<const matrix::DistMatrix<T>>> restrictions_of(
    const amg::Cycle<T>& host);

/// What amg::Cycle does, with the matrices and relaxations that it has. All vectors stay on the
/// device; where there are several ranks, what they exchange and the last level's solve go through
/// the host.
template <class T, class Space>
class Cycle {
 public:
  using Restrictions = std::vector<std::shared_ptr<const matrix::DistMatrix<T>>>;

  /// Collective. Throws the same Error on every rank: unsupported where a level's relaxation has no
  /// diagonal_steps(), or the level is on other ranks, and out_of_memory. `restrictions` are those
  /// of the levels but the last; `leaving` tells how data leave the device. The host's cycle is
  /// read now.
  Cycle(Card<Space>& card, const amg::Cycle<T>& host, const Restrictions& restrictions,
        Sweeps sweeps, const LeavingOf& leaving);
  /// Collective. Of levels that have all but their vectors. Throws the same Error on every rank,
  /// out_of_memory.
  Cycle(Card<Space>& card, const mpi::Comm& comm, std::vector<CycleLevel<T, Space>> levels,
        Sweeps sweeps);
  Cycle(const Cycle&) = delete;
  Cycle& operator=(const Cycle&) = delete;

  /// The right-hand side, to be written before run(), and the solution after it.
  T* b() { return levels_.front().b.data(); }
  const T* x() const { return solution_; }
  /// Collective. One cycle from x = 0. On one rank it was recorded as one graph. What fails on this
  /// rank is left in the card's LocalWork.
  void run();
  std::size_t bytes() const;

 private:
  using Level = CycleLevel<T, Space>;

  void add_level(const amg::CycleLevel<T>& from, const matrix::DistMatrix<T>* R,
                 const LeavingOf& leaving_of);
  void give_rest(Level& level, const amg::CycleLevel<T>& from);
  void complete(const mpi::Comm& comm);
  void give_vectors();
  void give_vectors(Level& level, std::size_t places);
  void record();
  T* visit(std::size_t l);
  T* relax(Level& level, int sweeps, T* x, T* other);
  void step(Level& level, device::RelaxationStep<T> how, T*& x, T*& other);
  T* relax_from_zero(Level& level, int sweeps);
  T* solve_last(Level& level);

  Card<Space>& card_;
  Sweeps sweeps_;
  std::vector<Level> levels_;
  std::vector<T> coarse_b_, coarse_x_;  // on the host
  T* solution_ = nullptr;
  std::optional<device::Graph<Space>> graph_;
};

}  // namespace nodewise::offload
