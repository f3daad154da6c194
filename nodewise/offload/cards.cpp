#include "nodewise/offload/cards.hpp"

#include <charconv>

#include "nodewise/base/error.hpp"

namespace nodewise::offload {

std::vector<int> read_device_map(const std::string& text) {
  std::vector<int> cards;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int card = -1;
    const auto [behind, code] = std::from_chars(at, end, card);
    const bool ends_well = behind == end || (*behind == ',' && behind + 1 < end);
    if (code != std::errc() || card < 0 || !ends_well) {
      throw Error(
          ErrorCode::invalid_argument,
          "`device_map " + text + "`: give the card of each rank of a node, such as 0,0,1,1");
    }
    cards.push_back(card);
    at = behind == end ? end : behind + 1;
  }
  return cards;
}

int card_of_rank(const mpi::Comm& comm, const std::vector<int>& map, int n_cards) {
  const std::size_t place = comm.topology().place_on_node(comm.rank());
  if (!map.empty()) return map[place % map.size()];
  return n_cards > 0 ? static_cast<int>(place % static_cast<std::size_t>(n_cards)) : 0;
}

std::shared_ptr<const mpi::Comm> ranks_of_card(const std::shared_ptr<const mpi::Comm>& comm,
                                               int card) {
  const std::vector<std::int32_t> cards = mpi::gather_all<std::int32_t>(*comm, card);
  std::vector<int> ranks;
  for (int rank = 0; rank < comm->size(); ++rank) {
    if (comm->topology().same_node(rank, comm->rank()) &&
        cards[static_cast<std::size_t>(rank)] == card) {
      ranks.push_back(rank);
    }
  }
  return mpi::Comm::subset(comm, ranks);
}

}  // namespace nodewise::offload
