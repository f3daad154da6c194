#include "nodewise/run/deal_cores.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/base/format_numbers.hpp"

namespace nodewise::run {

namespace {

/// Successive cores for successive ranks.
struct Deal {
  int first_core = 0, cores = 0;
  int first_rank = 0, ranks = 0;
};

/// How many successive cores are in each domain.
std::vector<int> sizes_of_domains(std::span<const int> domains) {
  std::vector<int> sizes;
  for (std::size_t k = 0; k < domains.size(); ++k) {
    if (k == 0 || domains[k] != domains[k - 1]) sizes.push_back(0);
    ++sizes.back();
  }
  return sizes;
}

/// A deal for each domain; a single one of all cores where domains have no room for whole ranks.
std::vector<Deal> deals_of(std::span<const int> domains, std::span<const int> wanted) {
  const std::vector<int> sizes = sizes_of_domains(domains);
  const int largest = *std::max_element(wanted.begin(), wanted.end());
  const auto n_cores = static_cast<int>(domains.size());
  const auto n_ranks = static_cast<int>(wanted.size());
  int room = 0;
  for (const int size : sizes) room += size / largest;
  if (room < n_ranks) return {{0, n_cores, 0, n_ranks}};
  std::vector<Deal> deals;
  int core = 0, rank = 0;
  for (const int size : sizes) {
    const int fit = size / largest;
    room -= fit;
    const int left = n_ranks - rank, cores_left = n_cores - core;
    const auto even = static_cast<int>((std::int64_t{left} * size + cores_left - 1) / cores_left);
    const int ranks = std::clamp(even, std::max(0, left - room), std::min(fit, left));
    deals.push_back({core, size, rank, ranks});
    core += size;
    rank += ranks;
  }
  return deals;
}

/// The first of `count` successive cores in [begin, end) that are in as few domains as can be.
int best_begin(std::span<const int> domains, int begin, int end, int count) {
  int best = begin, fewest = count + 1;
  for (int first = begin; first + count <= end; ++first) {
    const auto part =
        domains.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    const auto touched = static_cast<int>(sizes_of_domains(part).size());
    if (touched < fewest) best = first;
    fewest = std::min(fewest, touched);
  }
  return best;
}

std::int64_t sum_of(std::span<const int> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

}  // namespace

std::vector<std::vector<int>> deal_cores(std::span<const int> domains,
                                         std::span<const int> wanted) {
  const std::int64_t all = sum_of(wanted);
  if (std::cmp_greater(all, domains.size())) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("`bind`: {} for the threads of {} that may run on {} only; take fewer `threads`"
                    " or let them run on more (Open MPI: mpirun --bind-to none)",
                    counted(all, "core is needed", "cores are needed"),
                    counted(std::ssize(wanted), "rank"), counted(std::ssize(domains), "core")));
  }
  std::vector<std::vector<int>> dealt;
  for (const Deal& deal : deals_of(domains, wanted)) {
    const auto its = wanted.subspan(static_cast<std::size_t>(deal.first_rank),
                                    static_cast<std::size_t>(deal.ranks));
    const std::int64_t total = sum_of(its);
    std::int64_t before = 0;
    // A rank's share is by what it wants of all that is wanted here, which is at least that.
    for (const int count : its) {
      const auto begin = static_cast<int>(deal.cores * before / total);
      before += count;
      const auto end = static_cast<int>(deal.cores * before / total);
      std::vector<int>& cores = dealt.emplace_back(static_cast<std::size_t>(count));
      std::iota(cores.begin(), cores.end(),
                best_begin(domains, deal.first_core + begin, deal.first_core + end, count));
    }
  }
  return dealt;
}

int cores_needed(BindChoice choice, int threads) {
  if (choice != BindChoice::siblings) return threads;
  if (threads < 2) {
    throw Error(ErrorCode::invalid_argument,
                "`bind siblings` needs `threads` of 2 or more: one talks, others compute");
  }
  return threads - 1;
}

std::vector<std::vector<int>> processors_of_threads(std::span<const Core> cores,
                                                    BindChoice choice) {
  std::vector<std::vector<int>> threads;
  if (choice == BindChoice::siblings) {
    if (cores.front().processors.size() < 2) {
      throw Error(ErrorCode::unsupported,
                  "`bind siblings`: the cores that ranks may use have one hardware thread each "
                  "here, so that nothing can run beside another thread; take `bind cores`");
    }
    threads.push_back({cores.front().processors[1]});
  }
  for (const Core& core : cores) {
    threads.push_back(choice == BindChoice::siblings ? std::vector{core.processors.front()}
                                                     : core.processors);
  }
  return threads;
}

}  // namespace nodewise::run
