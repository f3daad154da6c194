#include "nodewise/model/redistribution_cost.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "nodewise/base/error.hpp"

namespace nodewise::model {

namespace {

[[noreturn]] void refuse_redistribution(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "cost of a redistribution: " + what);
}

void check_starts(std::span<const GlobalIndex> starts, int n_ranks, const char* name) {
  if (!std::cmp_equal(starts.size(), n_ranks + 1)) {
    refuse_redistribution(std::to_string(starts.size()) + " starts " + name + " for " +
                          std::to_string(n_ranks) + " ranks");
  }
  if (starts.front() != 0 || !std::is_sorted(starts.begin(), starts.end())) {
    refuse_redistribution(std::string("the starts ") + name + " do not ascend from 0");
  }
}

}  // namespace

ExchangeCost redistribution_cost(std::span<const GlobalIndex> from, std::span<const GlobalIndex> to,
                                 std::span<const std::int64_t> bytes_before,
                                 const mpi::Topology& topology, const Machine& machine,
                                 const ExchangeCostOptions& options) {
  const auto n_ranks = static_cast<std::size_t>(topology.n_ranks());
  check_starts(from, topology.n_ranks(), "before");
  check_starts(to, topology.n_ranks(), "after");
  if (from.back() != to.back()) {
    refuse_redistribution(std::to_string(from.back()) + " rows before, " +
                          std::to_string(to.back()) + " after");
  }
  if (!std::cmp_equal(bytes_before.size(), from.back() + 1) ||
      !std::is_sorted(bytes_before.begin(), bytes_before.end())) {
    refuse_redistribution("the bytes are not those of " + std::to_string(from.back()) +
                          " rows, ascending");
  }
  ExchangeTally tally(machine, topology, options);
  // Both ascend: who has a row next is one of the two at hand, or comes after them.
  for (std::size_t r = 0, q = 0; r < n_ranks && q < n_ranks;) {
    const GlobalIndex begin = std::max(from[r], to[q]);
    const GlobalIndex end = std::min(from[r + 1], to[q + 1]);
    if (begin < end && r != q) {
      const std::int64_t bytes = bytes_before[static_cast<std::size_t>(end)] -
                                 bytes_before[static_cast<std::size_t>(begin)];
      tally.add(0, static_cast<int>(r), static_cast<int>(q), static_cast<double>(bytes));
    }
    if (from[r + 1] <= to[q + 1]) {
      ++r;
    } else {
      ++q;
    }
  }
  return tally.total();
}

}  // namespace nodewise::model
