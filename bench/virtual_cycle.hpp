// A V-cycle whose sweeps are those that the virtual ranks of a hierarchy would make.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/solve/operator.hpp"

#include "problem.hpp"

namespace nodewise::bench {

/// The levels of a hierarchy that one process holds for virtual ranks, some with sparser matrices
/// than it has.
struct StudiedLevels {
  const amg::Hierarchy<double>& hierarchy;
  std::vector<std::shared_ptr<const Matrix>> sparser = {};  ///< by level; null: the hierarchy's

  std::size_t size() const { return hierarchy.levels().size(); }
  std::shared_ptr<const Matrix> matrix(std::size_t level) const {
    return level < sparser.size() && sparser[level] ? sparser[level] : hierarchy.matrix(level);
  }
};

/// Collective, for a hierarchy with all entries. The matrices that it would have with this
/// sparsification, whose setup goes on with the Galerkin products: so that one setup serves many.
StudiedLevels sparser_levels(const amg::Hierarchy<double>& hierarchy,
                             const amg::Sparsification& sparsification);

/// A V(1,1)-cycle over such levels. Sweeps are hybrid symmetric Gauss-Seidel: forward, then
/// backward, inside of each virtual rank, with what the others had before the sweep. As hypre's
/// relaxation 6: one exchange a sweep. The coarsest matrix is solved directly.
class VirtualCycle final : public solve::Operator<double> {
 public:
  /// Keeps a reference. Entries that come back in the hierarchy are seen by the next apply().
  VirtualCycle(const StudiedLevels& levels, bool l1);

  const comm::Layout& layout() const override { return levels_.hierarchy.layout(); }
  void apply(std::span<const double> b, std::span<double> x) const override;

 private:
  void visit(std::size_t level, std::span<const double> b, std::span<double> x) const;
  void solve_coarsest(std::span<const double> b, std::span<double> x) const;

  const StudiedLevels& levels_;
  bool l1_;
  std::vector<double> inverse_;  // of the coarsest matrix, by columns
};

}  // namespace nodewise::bench
