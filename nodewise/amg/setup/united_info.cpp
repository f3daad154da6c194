#include "nodewise/amg/setup/united_info.hpp"

#include <vector>

#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg {

namespace {

constexpr std::size_t traffic_counts = 6;

void append(std::vector<std::int64_t>& counts, const comm::Traffic& t) {
  counts.insert(counts.end(), {t.messages_on_node, t.messages_off_node, t.entries_on_node,
                               t.entries_off_node, t.messages_on_domain, t.entries_on_domain});
}

comm::Traffic take_traffic(std::vector<std::int64_t>::const_iterator& counts) {
  const auto c = counts;
  counts += traffic_counts;
  return {c[0], c[1], c[2], c[3], c[4], c[5]};
}

}  // namespace

void unite(const mpi::Comm& comm, std::span<LevelInfo> levels, std::optional<Error> failure) {
  std::vector<std::int64_t> sums, most;
  const auto collect = [&] {
    sums.clear();
    for (const LevelInfo& info : levels) {
      append(sums, info.traffic);
      append(sums, info.gather_traffic);
      append(sums, info.sparsity ? info.sparsity->before : comm::Traffic());
      append(sums, info.sparsity ? info.sparsity->after : comm::Traffic());
      sums.push_back(info.active_ranks);
      most.push_back(info.max_messages);
    }
  };
  constexpr std::size_t numbers_a_level = 4 * traffic_counts + 1;
  if (!failure) failure = mpi::caught(collect);
  if (failure) sums.assign(numbers_a_level * levels.size(), 0);
  sums.push_back(failure ? 1 : 0);
  mpi::sum_in_place(comm, std::span(sums));
  if (sums.back() > 0) mpi::agree(comm, failure);
  mpi::max_in_place(comm, std::span(most));
  auto sum = sums.cbegin();
  for (std::size_t l = 0; l < levels.size(); ++l) {
    levels[l].traffic = take_traffic(sum);
    levels[l].gather_traffic = take_traffic(sum);
    const comm::Traffic before = take_traffic(sum), after = take_traffic(sum);
    if (const auto& here = levels[l].sparsity) {
      levels[l].sparsity = std::make_shared<const Sparsity>(
          Sparsity{here->tolerance, here->nonzeros, before, after});
    }
    levels[l].active_ranks = static_cast<int>(*sum++);
    levels[l].max_messages = most[l];
  }
}

}  // namespace nodewise::amg
