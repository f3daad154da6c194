// The multigrid hierarchy: set up once for a matrix, applied as a preconditioner.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/amg/cycle/precision_choice.hpp"
#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/amg/options.hpp"
#include "nodewise/amg/setup/level_info.hpp"
#include "nodewise/amg/sparsify/sparsify.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solve/operator.hpp"

namespace nodewise::amg {

/// What rebuild() keeps of a hierarchy.
enum class Reuse {
  interpolation,  ///< splittings or aggregates, interpolations and restrictions
  splitting       ///< splittings or aggregates
};

template <class T>
struct Level;
template <class T>
struct SetUp;
template <class T>
class MixedPrecisionCycle;

/// Classical (Ruge-Stüben) multigrid in the parallel form of De Sterck, Yang, Heys 2006 (PMIS,
/// HMIS) and De Sterck, Falgout, Nolting, Yang 2008 (extended+i interpolation). apply() is one
/// cycle from a zero guess: a fixed linear map, unless it is a K-cycle, and symmetric when A is and
/// asymmetry_of() its options is empty.
template <class T>
class Hierarchy : public solve::Operator<T> {
 public:
  /// Collective. Throws the same Error on every rank: unsuitable_matrix where A is not square, has
  /// an entry that is not finite, an empty row, or a missing or zero diagonal entry (in an
  /// aggregation with a block smoother only where the point's diagonal block is singular); and
  /// invalid_argument where an option is outside its range (option_fields()), or options or
  /// knowledge differ between ranks; and, on the ranks where it is so, where A is null. Rows are
  /// counted from 1 in messages, as in files. A's entries are shared, not copied; its exchange()
  /// keeps its route, whatever the options say. A level whose setup takes another route than its
  /// solve plans both.
  Hierarchy(std::shared_ptr<const matrix::DistMatrix<T>> A, const Options& options,
            const LevelObserver& observe = {});
  /// The same with what is known of the problem besides its matrix. Throws invalid_argument where
  /// there are virtual ranks and the communicator has several ranks, or theirs are not all rows;
  /// with method aggregation also what check_aggregation() throws.
  Hierarchy(std::shared_ptr<const matrix::DistMatrix<T>> A, const Options& options,
            ProblemInfo<T> knowledge, const LevelObserver& observe = {});
  ~Hierarchy() override;
  Hierarchy(Hierarchy&&) noexcept;

  /// Collective. Sets up again for a matrix with the same pattern and other values, as in a time
  /// step. What depends on the values is computed again: coarse matrices, smoothers, coarse solver;
  /// splittings, interpolations and restrictions, the routes, and what `automatic` options were
  /// resolved to stay those of the first setup. With the values of the first setup it is, bit for
  /// bit, as it was then. Discovers nothing: the first call plans (for each level about the
  /// messages of a Galerkin product), every later one costs a reversed exchange of values on each
  /// level but the last, with a restriction of its own two exchanges, with an l1 smoother one more
  /// (relax::row_scales), and what the coarse solver's setup does; with the smoother chebyshev also
  /// an estimate of every level's spectral radius, which keeps a vector of each where A is
  /// symmetric (SpectralRadiusTracker). Where the first matrix was found to be symmetric, and not
  /// said to be (ProblemInfo::symmetric), the new values are looked at: a reversed exchange of the
  /// finest matrix and an allreduce. Reuse::splitting computes interpolations and restrictions from
  /// the new values, too. Their patterns may change, so that it costs a setup without its
  /// splittings (and without choices of routes), and the next call that keeps the interpolation
  /// plans again. Throws, on every rank, what the constructor throws, or dimension_mismatch or
  /// unsuitable_matrix where the pattern is another; the hierarchy is then as it was before. Copies
  /// of matrix() stay as they are.
  void rebuild(std::shared_ptr<const matrix::DistMatrix<T>> A, Reuse reuse = Reuse::interpolation);

  /// Collective. Puts entries back that coarse matrices have lost, on so many levels from the first
  /// on that has lost some: those that a tenth of its tolerance would have kept, and all below 0.01
  /// (Bienz 2018, algorithm 4.4). Returns the levels that changed, the same on every rank; none
  /// where none has lost any. The levels below are not made anew. Costs what relaxations of the
  /// levels cost, an allreduce or two for each, and planning where their route is not direct.
  /// Throws, on every rank, where memory does not suffice; levels that are done then keep what they
  /// got.
  std::vector<std::size_t> put_entries_back(int n_levels);

  const comm::Layout& layout() const override;
  void apply(std::span<const T> b, std::span<T> x) const override;
  /// Where A is a MatrixOperator of the finest matrix, or of another with its entries, cycles are
  /// not additive, and the last sweep is one of Gauss-Seidel by rows. The messages are those of
  /// both.
  bool saves_product_with(const solve::Operator<T>& A) const override;
  void apply_with_product(const solve::Operator<T>& A, std::span<const T> b, std::span<T> x,
                          std::span<T> y) const override;
  /// asymmetry_of() the options.
  std::string broken_symmetry() const override { return asymmetry_of(options_); }
  /// But for K-cycles.
  bool is_fixed() const override { return options_.cycle->is_fixed; }
  /// The messages of apply(), `width` times as long: every column is apply()'s up to the order of
  /// additions. Column by column in a K-cycle; the sweeps alone with the smoother ilu0.
  void apply_block(std::span<const T> B, std::span<T> X, int width,
                   std::span<T> work) const override;

  std::span<const LevelInfo> levels() const;
  /// The levels that got entries back in the setup, time after time. A hierarchy whose levels are
  /// made of what is left (SparsificationMethod::goes_on_with_rest) is set up again with less
  /// dropped on the first level that has lost entries, as put_entries_back() has it, as long as the
  /// direct solver finds the coarsest matrix symmetric and indefinite.
  const std::vector<std::vector<std::size_t>>& entries_back_in_setup() const {
    return back_in_setup_;
  }
  /// As the setup completed them.
  const Options& options() const { return options_; }
  /// The precision that apply() computes in, and why, where it was not given.
  const PrecisionChoice& precision() const { return precision_; }
  // Local, of a level, 0 being the finest; these four throw invalid_argument where there is none.
  // Matrices are on the communicator of the finest level, as it sees them where a level has one of
  // its own: their exchanges are then point to point.

  /// The matrix. Where the level is_single_precision, and rebuild() has not made its values anew,
  /// this may be a copy in T, made now of what the cycle has: to be held for as long as it is
  /// looked at.
  std::shared_ptr<const matrix::DistMatrix<T>> matrix(std::size_t level) const;
  /// The same with the entries that it lost, if it did: the Galerkin product. Then it is made at
  /// each call, on the direct route.
  std::shared_ptr<const matrix::DistMatrix<T>> galerkin_matrix(std::size_t level) const;
  /// The one of both that the next level was made of (SparsificationMethod::goes_on_with_rest).
  std::shared_ptr<const matrix::DistMatrix<T>> setup_matrix(std::size_t level) const {
    return options_.sparsification->goes_on_with_rest ? matrix(level) : galerkin_matrix(level);
  }
  /// The prolongation to the level from the next; null on the last level. Where the next level was
  /// moved by MoveMethod collective, its columns are laid out as the level was before, as are the
  /// rows of restriction().
  const matrix::DistMatrix<T>* interpolation(std::size_t level) const;
  /// The restriction to the next level where it is not the transpose of interpolation(), or null.
  const matrix::DistMatrix<T>* restriction(std::size_t level) const;
  /// This rank's rows of the level that are rows of the next, ascending: number k is row k there,
  /// unless the next level was moved to fewer ranks. Empty on the last level.
  std::span<const LocalIndex> coarse_rows(std::size_t level) const;
  /// Sum of rows (nonzeros) over the levels divided by those of the finest.
  double grid_complexity() const;
  double operator_complexity() const;
  /// Where the rows of the virtual ranks begin on a level; empty where there are none.
  std::span<const GlobalIndex> virtual_starts(std::size_t level) const;
  /// Local. The exchanges of a level's cycles: of its matrix, and of the transfers to the next one.
  /// None on ranks without a part of it.
  std::vector<comm::Exchange*> exchanges(std::size_t level) const;
  /// What apply() does, level by level.
  const MixedPrecisionCycle<T>& cycle() const { return *cycle_; }
  /// Bytes this rank holds for the levels; the finest matrix and what rebuild() keeps for the next
  /// time are not counted.
  std::size_t memory_bytes() const;

 private:
  std::optional<bool> symmetry_of_values(const matrix::DistMatrix<T>& A) const;
  void rebuild_values(std::shared_ptr<const matrix::DistMatrix<T>> A);
  void put_back(std::size_t level, double tolerance, LevelInfo& here);
  void take(SetUp<T>& made);
  bool drops_less();

  using Matrix = std::shared_ptr<const matrix::DistMatrix<T>>;
  struct LevelValues {
    std::vector<Matrix> matrices;
    std::vector<std::optional<sparsify::LostEntries<T>>> lost;
    std::vector<double> radii;
  };
  LevelValues matrices_for(Matrix A, std::optional<Error>& failure);
  Matrix matrix_here(std::size_t level) const;
  Matrix galerkin_matrix_here(std::size_t level) const;
  Matrix of_all(std::size_t level, const Matrix& A) const;
  comm::Layout rows_of_all(std::size_t level) const;
  comm::Layout rows_of_transfer(std::size_t level) const;
  const matrix::DistMatrix<T>* transfer_of_all(std::size_t level, const Matrix& M, Matrix& of_all,
                                               bool is_restriction) const;
  void rebuild_interpolations(std::shared_ptr<const matrix::DistMatrix<T>> A);

  std::vector<std::unique_ptr<Level<T>>> levels_;
  std::unique_ptr<MixedPrecisionCycle<T>> cycle_;
  std::vector<LevelInfo> info_;
  Options options_;
  PrecisionChoice precision_;
  std::optional<bool> symmetric_;  // the first matrix, if anything depends on it
  bool symmetry_is_given_ = false;
  bool keeps_symmetry_ = true;  // on the levels below
  // Whether a level was made of a matrix that has got entries back since.
  bool is_made_of_less_ = false;
  std::vector<std::vector<std::size_t>> back_in_setup_;
  int informant_ = 0;  // a rank that has a part of all levels
};

}  // namespace nodewise::amg
