// What is computed while the messages of a level travel, by a short trial of its own product.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nodewise/comm/overlap.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::routing {

/// What a product took.
struct OverlapTrial {
  comm::Overlap overlap = comm::Overlap::naive;
  double seconds = 0;  ///< the median of some, of the slowest rank each
};

/// The choice for a level, the same on every rank.
struct OverlapDecision {
  comm::Overlap chosen = comm::Overlap::naive;
  std::vector<OverlapTrial> trials;  ///< naive first; empty where nothing was worth a trial
  std::string reason;                ///< "81 us against 130 us naive in 5 products each"
};

/// The quickest of some trials if it takes a tenth less than the first, which must be naive;
/// otherwise that: trials are few, and noise must not choose.
OverlapDecision quickest_overlap(std::vector<OverlapTrial> trials);

/// Collective. Tries the modes on products with A, as they are routed: `task` only where every rank
/// has several threads and MPI allows one to talk beside the others. Costs three products and two
/// reductions where naive waits for less than a tenth of a product's time, since no other mode
/// saves more than that; otherwise up to 18 more and another reduction. Nothing on one rank, one
/// reduction where nobody sends anything.
template <class T>
std::shared_ptr<const OverlapDecision> choose_overlap(const matrix::DistMatrix<T>& A);

}  // namespace nodewise::routing
