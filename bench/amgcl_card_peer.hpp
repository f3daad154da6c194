// AMGCL on a card, loaded where its library was built and finds cuSPARSE.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nodewise/kernels/csr.hpp"

#include "measure.hpp"

namespace nodewise::bench {

struct AmgclRun {
  std::vector<double> x;
  Spread solve;        ///< seconds
  double setup_s = 0;  ///< on the host
  int iterations = 0;
};

/// Why there is no AMGCL here; empty where there is.
std::string why_no_amgcl();

/// On the current card. Throws internal where AMGCL fails, and index_overflow.
AmgclRun run_amgcl(const kernels::Csr<double>& A, std::span<const double> b, double tolerance,
                   int repeats);

}  // namespace nodewise::bench
