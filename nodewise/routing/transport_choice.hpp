// By which means of MPI the exchanges of a level travel, by a short trial of its own exchange.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::routing {

/// A trial takes as long as a solve at most, most of it to make channels, and often finds nothing:
/// it may cost a twentieth of the solves that it is made for.
inline constexpr int solves_for_a_trial = 25;

/// What one transport took.
struct TransportTrial {
  comm::Transport transport = "point_to_point";
  double seconds = 0;  ///< of an exchange of a vector: the median of some, of the slowest rank each
};

/// The choice for a level, the same on every rank.
struct TransportDecision {
  comm::Transport chosen = "point_to_point";
  std::vector<TransportTrial> trials;  ///< of those that were tried, point_to_point first
  std::string reason;                  ///< "4.1 us against 5.2 us point_to_point, 5 exchanges each"
};

/// The quickest of some trials if it takes a tenth less than the first, which must be of
/// point_to_point; otherwise that: trials are few, and noise must not choose.
TransportDecision quickest(std::vector<TransportTrial> trials);

template <class T>
struct ChosenTransport {
  std::shared_ptr<const matrix::DistMatrix<T>> A;  ///< over the transport that was chosen
  std::shared_ptr<const TransportDecision> decision;
};

/// Collective. Tries the transports that this MPI has and that are quick to make
/// (TransportMethod::may_be_tried) on the exchange of A as it is routed; one for messages on a node
/// only where there are such messages. Costs six exchanges over each, what making them costs, and
/// two reductions; one reduction where nobody sends anything, nothing on one rank. Where the matrix
/// is to serve fewer than `solves_for_a_trial` solves it stays as it is routed, point to point, at
/// no cost.
template <class T>
ChosenTransport<T> choose_transport(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                                    int solves);

}  // namespace nodewise::routing
