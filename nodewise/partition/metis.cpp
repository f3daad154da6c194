#include "nodewise/partition/metis.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#ifdef NODEWISE_METIS
#include <metis.h>
#endif

#include <fmt/format.h>

#include "nodewise/base/error.hpp"

namespace nodewise::partition {

#ifdef NODEWISE_METIS

namespace {

void check_status(int status) {
  if (status == METIS_ERROR_MEMORY) {
    throw Error(ErrorCode::out_of_memory, "partition: METIS has not enough memory");
  }
  if (status != METIS_OK) {
    throw Error(ErrorCode::internal, fmt::format("partition: METIS failed (status {})", status));
  }
}

/// The numbers, scaled down where their sum would be too large.
std::vector<idx_t> metis_weights(std::span<const std::int64_t> numbers) {
  const std::int64_t sum = std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
  const std::int64_t scale = 1 + sum / (std::numeric_limits<std::int32_t>::max() / 2);
  std::vector<idx_t> weights;
  for (const std::int64_t n : numbers) {
    weights.push_back(static_cast<idx_t>(std::max<std::int64_t>(1, n / scale)));
  }
  return weights;
}

/// Their sum is to be 1.
std::vector<real_t> metis_shares(std::span<const int> shares) {
  const auto all = static_cast<real_t>(std::accumulate(shares.begin(), shares.end(), 0));
  std::vector<real_t> parts;
  for (const int share : shares) parts.push_back(static_cast<real_t>(share) / all);
  return parts;
}

/// As many successive points to each part, one more to those with the largest shares. METIS would
/// leave parts of so few points empty, and complain of that on standard output.
std::vector<int> successive_parts(int n_points, std::span<const int> shares) {
  const auto n_parts = static_cast<int>(shares.size());
  std::vector<int> largest_first(shares.size());
  std::iota(largest_first.begin(), largest_first.end(), 0);
  std::stable_sort(largest_first.begin(), largest_first.end(), [&](int a, int b) {
    return shares[static_cast<std::size_t>(a)] > shares[static_cast<std::size_t>(b)];
  });
  std::vector<int> sizes(shares.size(), n_points / n_parts);
  for (int k = 0; k < n_points % n_parts; ++k) {
    ++sizes[static_cast<std::size_t>(largest_first[static_cast<std::size_t>(k)])];
  }
  std::vector<int> parts;
  for (int part = 0; part < n_parts; ++part) {
    parts.insert(parts.end(), static_cast<std::size_t>(sizes[static_cast<std::size_t>(part)]),
                 part);
  }
  return parts;
}

}  // namespace

bool has_metis() {
  return true;
}

std::vector<int> parts_by_metis(const PointGraph& graph, std::span<const int> shares) {
  std::vector<idx_t> parts(graph.weights.size(), 0);
  auto n_parts = static_cast<idx_t>(shares.size());
  auto n = static_cast<idx_t>(graph.n_points());
  if (n_parts == 1 || n == 0) return {parts.begin(), parts.end()};
  if (n < 2 * n_parts) return successive_parts(graph.n_points(), shares);
  if (graph.neighbours.size() > static_cast<std::size_t>(std::numeric_limits<idx_t>::max())) {
    throw Error(ErrorCode::unsupported,
                fmt::format("partition: METIS takes up to {} couplings, there are {}",
                            std::numeric_limits<idx_t>::max(), graph.neighbours.size()));
  }
  std::vector<idx_t> begins(graph.begins.begin(), graph.begins.end());
  std::vector<idx_t> neighbours(graph.neighbours.begin(), graph.neighbours.end());
  std::vector<idx_t> weights(graph.weights.begin(), graph.weights.end());
  std::vector<real_t> wanted = metis_shares(shares);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_OBJTYPE] = METIS_OBJTYPE_VOL;
  options[METIS_OPTION_SEED] = 1;
  idx_t one_weight = 1, objective = 0;
  check_status(METIS_PartGraphKway(&n, &one_weight, begins.data(), neighbours.data(),
                                   weights.data(), nullptr, nullptr, &n_parts, wanted.data(),
                                   nullptr, options, &objective, parts.data()));
  return {parts.begin(), parts.end()};
}

std::vector<int> parts_by_metis(const PointGraph& graph, std::span<const std::int64_t> couplings,
                                int n_parts) {
  std::vector<idx_t> parts(graph.weights.size(), 0);
  auto n = static_cast<idx_t>(graph.n_points());
  if (n_parts == 1 || n <= n_parts) {
    if (n_parts > 1) std::iota(parts.begin(), parts.end(), 0);
    return {parts.begin(), parts.end()};
  }
  std::vector<idx_t> begins(graph.begins.begin(), graph.begins.end());
  std::vector<idx_t> neighbours(graph.neighbours.begin(), graph.neighbours.end());
  std::vector<idx_t> weights = metis_weights(graph.weights);
  std::vector<idx_t> cut = metis_weights(couplings);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  idx_t one_weight = 1, objective = 0, wanted = n_parts;
  check_status(METIS_PartGraphRecursive(&n, &one_weight, begins.data(), neighbours.data(),
                                        weights.data(), nullptr, cut.data(), &wanted, nullptr,
                                        nullptr, options, &objective, parts.data()));
  return {parts.begin(), parts.end()};
}

#else

bool has_metis() {
  return false;
}

std::vector<int> parts_by_metis(const PointGraph&, std::span<const int>) {
  throw Error(ErrorCode::unsupported,
              "partition: this build of Nodewise has no METIS (Debian: libmetis-dev)");
}

std::vector<int> parts_by_metis(const PointGraph& graph, std::span<const std::int64_t>, int) {
  return parts_by_metis(graph, std::span<const int>());
}

#endif

}  // namespace nodewise::partition
