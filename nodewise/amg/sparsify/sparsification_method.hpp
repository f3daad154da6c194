// Which coarse matrices lose entries. methods.cpp lists the ways.
#pragma once

#include "nodewise/amg/sparsify/lumping_method.hpp"
#include "nodewise/base/family.hpp"

namespace nodewise::amg {

struct SparsificationMethod : MethodInfo {
  /// Whether coarse matrices lose entries.
  Required<bool> drops_entries;
  /// Whether the next level is made of what is left, and not of the Galerkin product.
  Required<bool> goes_on_with_rest;
  /// Whether the minimal pattern of the next matrix is that of what is left.
  Required<bool> pattern_of_rest;
  /// Whether costs decide what is dropped, level by level, and not the options.
  Required<bool> asks_costs;

  static Family<SparsificationMethod>& family();
};

/// The options of those that drop entries.
struct SparsificationOptions {
  Choice<sparsify::DropRule> drop = "entries";
  Choice<sparsify::LumpingMethod> lumping = "diagonal";
  bool adaptive = false;
  int adaptive_iterations = 3;
  int adaptive_levels = 1;
  double adaptive_factor = 0.6;
};

using Sparsification = Choice<SparsificationMethod>;

/// Local. The tolerance of a level, 0 being the finest, which loses nothing (DropRule::tolerance).
double drop_tolerance_of(const Sparsification& sparsification, int level);

}  // namespace nodewise::amg
