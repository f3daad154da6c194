// The multigrid cycle: what a hierarchy does with a right-hand side.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/amg/cycle/arrival.hpp"
#include "nodewise/amg/cycle/coarse_solver.hpp"
#include "nodewise/amg/cycle/smoother.hpp"
#include "nodewise/base/array.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

/// Forward and backward sweeps on a last level too large to be solved directly.
inline constexpr int last_level_sweeps = 4;

/// The levels below some of a cycle, in a form of their own, such as another precision.
template <class T>
class LowerLevels {
 public:
  virtual ~LowerLevels() = default;
  /// Collective. What a cycle of this method has them do: from a right-hand side to the correction.
  virtual void visit(const CycleMethod& method, std::span<const T> b, std::span<T> x) const = 0;
  /// Collective. The same for `width` vectors side by side, row-major, for which there is room.
  virtual void visit(const CycleMethod& method, std::span<const T> B, std::span<T> X,
                     int width) const = 0;
  /// Local.
  virtual void reserve_workspace(int width) const = 0;
};

/// What a cycle needs of a level.
template <class T>
struct CycleLevel {
  using Matrix = std::shared_ptr<const matrix::DistMatrix<T>>;

  Matrix A;
  Matrix P;  ///< from the next level; null on the last
  Matrix R;  ///< to the next level; null: the transpose of P
  /// In place of P in a restriction: to copies of the next level (LevelCopies::to_copies).
  Matrix to_copies;
  /// Where the next level is on other ranks than the columns of P and the rows of R.
  mutable std::optional<Arrival<T>> arrival;
  std::shared_ptr<const Smoother<T>> smoother;
  std::shared_ptr<const CoarseSolver<T>> direct;  ///< on the last level, if it is small enough
  /// In place of all others: what stands for this level and those below it.
  std::shared_ptr<const LowerLevels<T>> lower;
  // Work space: the right-hand side and solution of this level (empty where they are the caller's),
  // its residual, and what a K-cycle iterates with.
  mutable Array<T> b, x, r;
  mutable std::array<Array<T>, 4> k;
  /// The same for several vectors: B, X and R; they grow to what was needed.
  mutable std::array<Array<T>, 3> together;

  /// Whether other ranks have this level, and those below it, and this one none.
  bool is_elsewhere() const { return !A && !lower; }
  /// Local. Makes the work space; with b and x where they are not the caller's, and what a K-cycle
  /// iterates with where it does on this level.
  void reserve(bool has_vectors, bool iterates);
  /// Local. Another matrix of the same rows, and a relaxation of it.
  void replace_matrix(Matrix matrix, const Options& options, const relax::MatrixFacts& facts);
  /// Local. b and x alone, of n numbers.
  void reserve_vectors(std::size_t n);
  std::size_t memory_bytes() const;
};

/// Levels, finest first, and the order they are visited in. V, W and F: Trottenberg, Oosterlee,
/// Schüller, "Multigrid", 2001, section 2.4. K: two steps of a Krylov method on each coarse level,
/// preconditioned by the level's own cycle: Notay, Vassilevski, "Recursive Krylov-based multigrid
/// cycles", 2008; flexible conjugate gradients for a symmetric matrix, GCR for another. Additive:
/// Bramble, Pasciak, Xu 1990; symmetric sweeps on all levels, each on what is left of the
/// right-hand side there.
template <class T>
class Cycle {
 public:
  Cycle() = default;
  /// `first_depth`: the number of the first level, under which it is reported.
  Cycle(const CycleMethod& method, bool symmetric_matrix, int first_depth = 0)
      : method_(&method), symmetric_(symmetric_matrix), first_depth_(first_depth) {}

  /// Collective. One cycle from x = 0.
  void apply(std::span<const T> b, std::span<T> x) const { visit(0, *method_, true, b, x); }
  /// Collective. The same and the product y = A x with the finest matrix, where saves_product().
  void apply_with_product(std::span<const T> b, std::span<T> x, std::span<T> y) const {
    visit(0, *method_, true, b, x, y);
  }
  /// Whether that is cheaper than the two by themselves.
  bool saves_product() const {
    return method_->visit != CoarseVisit::add && !is_last(0) &&
           levels.front().smoother->saves_product();
  }
  /// Collective. One cycle for each of `width` vectors side by side, row-major, in the messages of
  /// one. Not for a K-cycle: see shares_messages().
  void apply(std::span<const T> B, std::span<T> X, int width) const;
  /// Collective. What a cycle of this method on a finer level has these do: from the b of the first
  /// to its x, or from its together[0] to its together[1], for which there is room.
  void visit_below(const CycleMethod& method) const { visit_coarse(0, method); }
  void visit_below(const CycleMethod& method, int width) const {
    visit_coarse_block(0, method, width);
  }
  /// Local. Makes room for several vectors, and asks for no memory for as many or fewer afterwards.
  void reserve_workspace(int width) const;
  /// Local. Gives the arrays of several vectors the length for so many.
  void resize_together(int width) const;
  /// Whether several vectors can go through the cycle together; in a K-cycle each takes steps of
  /// its own.
  bool shares_messages() const { return method_->visit != CoarseVisit::iterate; }

  std::vector<CycleLevel<T>> levels;

 private:
  /// Where A x is to go, if it is wanted: there may be no rows on a rank, but messages to pass on.
  using Product = std::optional<std::span<T>>;

  bool is_last(std::size_t l) const { return levels[l].P == nullptr; }
  mpi::Scope scope(std::size_t l, const char* operation) const;
  void visit(std::size_t l, const CycleMethod& method, bool from_zero, std::span<const T> b,
             std::span<T> x, Product product = {}) const;
  void visit_coarse(std::size_t l, const CycleMethod& method) const;
  void iterate_coarse(std::size_t l) const;
  void add(std::size_t l, std::span<const T> b, std::span<T> x) const;
  void solve_last(std::size_t l, std::span<const T> b, std::span<T> x) const;
  void presmooth(std::size_t l, bool from_zero, std::span<const T> b, std::span<T> x,
                 std::span<T> r) const;
  /// By whose transpose a restriction goes.
  const matrix::DistMatrix<T>& transposed_restriction(std::size_t l) const {
    return levels[l].to_copies ? *levels[l].to_copies : *levels[l].P;
  }
  /// Where a restriction from level l, whose result is to be coarse_b, leaves it.
  std::span<T> arriving(std::size_t l, std::span<T> coarse_b, int width) const {
    return levels[l].arrival ? levels[l].arrival->between(width) : coarse_b;
  }
  void gather(std::size_t l, std::span<T> coarse_b, int width) const;
  std::span<const T> scattered(std::size_t l, std::span<const T> coarse_x, int width) const;
  void restrict_to_next(std::size_t l, std::span<const T> r) const;
  void correct(std::size_t l, std::span<T> x) const;
  void postsmooth(std::size_t l, std::span<const T> b, std::span<T> x, Product product) const;

  /// What visit() and add() do, for several vectors.
  void visit_block(std::size_t l, const CycleMethod& method, bool from_zero, std::span<const T> B,
                   std::span<T> X, int width) const;
  void visit_coarse_block(std::size_t l, const CycleMethod& method, int width) const;
  void add_together(std::size_t l, std::span<const T> B, std::span<T> X, int width) const;
  void restrict_block(std::size_t l, std::span<const T> R, int width) const;
  void correct_block(std::size_t l, std::span<T> X, int width) const;
  template <class F>
  void for_each_together(int width, F&& f) const;

  const CycleMethod* method_ = nullptr;
  bool symmetric_ = true;
  int first_depth_ = 0;
  mutable int width_ = 0;  // so many vectors have room
};

}  // namespace nodewise::amg
