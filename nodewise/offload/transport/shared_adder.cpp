#include "nodewise/offload/transport/shared_adder.hpp"

#include <algorithm>

namespace nodewise::offload {

SumParts::SumParts(const std::shared_ptr<const mpi::Comm>& comm,
                   const std::shared_ptr<const mpi::Comm>& sharing) {
  const std::vector<std::int32_t> places = mpi::gather_all<std::int32_t>(*comm, sharing->rank());
  n_ = mpi::min(*comm, sharing->size());
  if (sharing->rank() >= n_) return;
  std::vector<int> ranks;
  for (int rank = 0; rank < comm->size(); ++rank) {
    if (places[static_cast<std::size_t>(rank)] == sharing->rank()) ranks.push_back(rank);
  }
  same_part_ = mpi::Comm::subset(comm, ranks);
}

std::size_t SumParts::begin(int k, std::size_t n) const {
  return n * static_cast<std::size_t>(std::min(k, n_)) / static_cast<std::size_t>(n_);
}

void SumParts::add_over_cards(std::span<double> part) const {
  if (same_part_ != nullptr) mpi::sum_in_place(*same_part_, part);
}

}  // namespace nodewise::offload
