// Solves by AMGCL on a card, to compare with. What is here, a library of its own has to understand,
// too.
#pragma once

#include <cstddef>

/// A matrix of n rows by compressed rows, a right-hand side, and what comes of them.
struct AmgclCardCall {
  std::ptrdiff_t n;
  const std::ptrdiff_t* begins;
  const int* cols;
  const double* vals;
  const double* b;
  double tolerance;
  int repeats;
  double* x;        ///< n numbers
  double* solve_s;  ///< of each repeat
  double setup_s;   ///< on the host, for it is there
  int iterations;
  char message[256];  ///< what failed
};

/// Local. Solves on the current card. Returns 0, or 1 where it failed.
extern "C" int nodewise_amgcl_card(AmgclCardCall* call);
