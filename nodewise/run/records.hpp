// What the reports of several kinds of runs have in common, as plain data.
#pragma once

#include <string>

#include "nodewise/base/types.hpp"

namespace nodewise::run {

/// What is said of a matrix.
struct MatrixSummary {
  std::string source;  ///< the file, or the model problem; empty where neither is known
  std::string format;  ///< of the file; empty where there is none
  bool graph_laplacian = false;
  GlobalIndex rows = 0;
  GlobalIndex nonzeros = 0;
  GlobalIndex duplicates = 0;  ///< entries of the file added to an earlier one in the same place
  bool symmetric = false;
  bool negative = false;  ///< symmetric, and 99 % of the diagonal entries are below zero
};

/// The longest over the ranks, in seconds.
struct Times {
  double read = 0;
  double setup = 0;
  double solve = 0;
};

/// An algorithm that a communicator uses, and why.
struct AlgorithmChoice {
  std::string algorithm;  ///< the one used, never "automatic"
  bool chosen = false;    ///< by the library; otherwise as the options say
  std::string reason;
};

struct CollectiveChoices {
  AlgorithmChoice dot_products;
  AlgorithmChoice sparse_exchange;  ///< that finds the pattern of the finest matrix
};

}  // namespace nodewise::run
