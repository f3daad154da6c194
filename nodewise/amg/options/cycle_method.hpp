// What a cycle and a coarse solve say of themselves. methods.cpp lists them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "nodewise/base/answer.hpp"
#include "nodewise/base/family.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::amg {

/// Sweeps on a level before and after the coarse correction.
struct SweepCounts {
  int pre_sweeps = 1;
  int post_sweeps = 1;
};
std::span<const Field<SweepCounts>> sweep_count_fields();

struct CycleMethod;

/// What a cycle does where it visits a level from the one above.
enum class CoarseVisit {
  cycle,    ///< a cycle of the level's own
  iterate,  ///< two steps of a Krylov method, preconditioned by that
  add       ///< the sum of what sweeps make of the right-hand side there and below
};

/// What is true of a cycle.
struct CycleFacts {
  Required<CoarseVisit> visit;
  /// The cycle by which a coarse level is visited a second time, from what the first has left;
  /// null: it is not.
  Required<const CycleMethod& (*)()> second_visit;
  /// Whether it is a symmetric operator where its sweeps are.
  Required<bool> is_symmetric;
  /// Whether it is the same map for every vector.
  Required<bool> is_fixed;
  /// How often a level is visited, 0 being the finest, were it not the last.
  Required<Answer<double (*)(std::size_t level)>> visits;
};

struct CycleMethod : MethodInfo, CycleFacts {
  static Family<CycleMethod>& family();
};

/// Those of the cycle, or the defaults where it has none.
SweepCounts sweep_counts(const Choice<CycleMethod>& cycle);

/// Who solves the coarsest system.
struct CoarseSolveFacts {
  /// The rank that holds the rows of rank r of the inverse; null: nobody does.
  Required<int (*)(const mpi::Topology& topology, int r)> holder;
  /// Whether ranks have others hold their rows, and whether there are several such holders.
  Required<bool> has_groups, has_several_holders;
  /// Whether it is solved by factors, which are spread over the ranks, in place of an inverse.
  Required<bool> has_factors;
  Required<std::string> place;  ///< how a report says it: " on every node"
};

struct CoarseSolveMethod : MethodInfo, CoarseSolveFacts {
  bool is_direct() const { return *holder != nullptr || has_factors; }

  static Family<CoarseSolveMethod>& family();
};

/// The one that was chosen; the first of the family where that was left open.
const CoarseSolveMethod& chosen(const Choice<CoarseSolveMethod>& coarse_solve);

}  // namespace nodewise::amg
