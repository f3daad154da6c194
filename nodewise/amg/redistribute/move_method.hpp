// How the rows of a level get to fewer ranks. methods.cpp lists the ways.
#pragma once

#include "nodewise/base/family.hpp"

namespace nodewise::amg {

struct MoveMethod : MethodInfo {
  /// Whether the level is first made on the ranks that compute it, where P and R stay: its matrix
  /// is moved in the setup, its right-hand sides and corrections in every cycle. Otherwise P and R
  /// are laid out for the ranks that are to have it, and nothing is moved later.
  Required<bool> moves_vectors;

  static Family<MoveMethod>& family();
};

}  // namespace nodewise::amg
