// The matrices of a level that are sparser than the Galerkin product.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "nodewise/amg/options.hpp"
#include "nodewise/amg/setup/level.hpp"
#include "nodewise/amg/setup/level_info.hpp"

namespace nodewise::amg {

/// What is left of a level's Galerkin matrix, where it loses entries, and why, where costs decided.
template <class T>
struct SparserNext {
  std::optional<sparsify::Sparsified<T>> sparse;
  std::shared_ptr<const sparsify::SparsityDecision> choice;
};

/// Collective. What is left of `next`, the product of the level's matrix for the setup, A, as the
/// options say, or costs where they are asked; `knowledge` is what is known of that level besides.
/// `earlier` is the level that it became in an earlier setup, whose rule and tolerance hold. A
/// matrix that will be solved directly keeps all: nothing is saved there.
template <class T>
SparserNext<T> sparser_next(Level<T>& level, const MatrixPointer<T>& A,
                            const MatrixPointer<T>& next, const ProblemInfo<T>& knowledge,
                            const Options& options, const LevelInfo* earlier, FinerLevels& finer);

/// Collective. What the finest level takes in a cycle, where that decides on others' entries.
template <class T>
double finest_level_s(const Level<T>& level, const MatrixPointer<T>& A, const Options& options);

/// Collective. The same for new values `A` of the level's Galerkin matrix, without those that went
/// before: `left` is what was left.
template <class T>
sparsify::Sparsified<T> sparser_again(const Level<T>& level, const MatrixPointer<T>& A,
                                      const MatrixPointer<T>& left, const Options& options);

/// The tolerances of levels 0, 1, ... when entries are to come back on so many levels from the
/// first on that has lost some: a tenth of what they were, and below 0.01 none (Bienz 2018,
/// algorithm 4.4 and example 4.1). The list as it is where none has.
std::vector<double> lower_tolerances(std::vector<double> tolerances, int n_levels);

/// Collective on the level's communicator. What is left of a level by a lower tolerance, on the
/// direct route; `left` is what was left. All where the lumping cannot put a part back.
template <class T>
sparsify::Sparsified<T> denser_level(const Level<T>& level, const MatrixPointer<T>& left,
                                     double tolerance, const Options& options);

/// Local. Puts what is left of a level on the communicator of the level's own ranks, where the
/// Galerkin matrix `full` is already.
template <class T>
void follow_to_active_ranks(const Level<T>& level, const MatrixPointer<T>& full,
                            sparsify::Sparsified<T>& sparse);

/// Local. Of messages this rank's part. Both matrices must take the direct route.
template <class T>
std::shared_ptr<const Sparsity> sparsity_of(const matrix::DistMatrix<T>& full,
                                            const sparsify::Sparsified<T>& sparse);

}  // namespace nodewise::amg
