// Which rank of a node uses which of its cards.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::offload {

/// Local. The cards that a text such as "0,0,1,1" names, for the ranks of a node in their order;
/// none of an empty text. Throws invalid_argument where it is no such list.
std::vector<int> read_device_map(const std::string& text);

/// Local. The card of this rank. A map with fewer numbers than the node has ranks begins again;
/// without one the ranks go round the cards of the node, of which there are n_cards: where there
/// are none, as on the host, all use the same.
int card_of_rank(const mpi::Comm& comm, const std::vector<int>& map, int n_cards);

/// Collective. The ranks of this node that have this card. One number of every rank, and what
/// mpi::Comm::subset() costs.
std::shared_ptr<const mpi::Comm> ranks_of_card(const std::shared_ptr<const mpi::Comm>& comm,
                                               int card);

}  // namespace nodewise::offload
