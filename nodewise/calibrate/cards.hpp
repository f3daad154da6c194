// Measuring copies between cards and host, and messages between cards.
#pragma once

#include <string>

#include "nodewise/calibrate/record.hpp"
#include "nodewise/calibrate/stopwatch.hpp"

namespace nodewise::calibrate {

/// The cards of the ranks, as all of them agree.
struct Cards {
  std::string name;         ///< of the first rank's
  int of_a_node = 0;        ///< of the first rank's node
  std::string why_none;     ///< where some rank has none
  std::string no_messages;  ///< why MPI is not given their memory; empty where it is
};

/// Collective. Those that this build can use.
Cards find_cards(const mpi::Comm& comm);

/// Collective. Where every rank has a card: copies of the first rank to it and from it, and of
/// several ranks of the first node to and from one card at once; messages from card to card, for
/// each locality, where MPI takes their memory. Ranks of a node are dealt to its cards in turn.
void measure_cards(Stopwatch& stopwatch, const Cards& cards, double largest, Record& record);

/// Likewise of the memory of a space, whatever `cards` say of themselves.
template <class Space>
void measure_cards_in(Stopwatch& stopwatch, const Cards& cards, double largest, Record& record);

}  // namespace nodewise::calibrate
