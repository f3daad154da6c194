#include "nodewise/io/problems/fock_states.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "nodewise/base/error.hpp"

namespace nodewise::io::problems {

GlobalIndex binomial(GlobalIndex n, GlobalIndex k) {
  if (k < 0 || k > n) return 0;
  k = std::min(k, n - k);
  GlobalIndex ways = 1;
  for (GlobalIndex i = 1; i <= k; ++i) {
    // ways * (n - k + i) / i is whole at each step.
    const GlobalIndex factor = n - k + i;
    if (ways > std::numeric_limits<GlobalIndex>::max() / factor) {
      throw Error(ErrorCode::index_overflow, "problem: more states than indices can count");
    }
    ways = ways * factor / i;
  }
  return ways;
}

ElectronStates::ElectronStates(int sites, int electrons) : sites_(sites), electrons_(electrons) {
  states_.reserve(static_cast<std::size_t>(binomial(sites, electrons)));
  const std::uint32_t end = std::uint32_t{1} << sites;
  for (std::uint32_t state = (std::uint32_t{1} << electrons) - 1; state < end;) {
    states_.push_back(state);
    if (state == 0) break;
    // The next number with as many bits.
    const std::uint32_t lowest = state & (~state + 1), carried = state + lowest;
    state = carried | (((state ^ carried) >> 2) / lowest);
  }
}

auto ElectronStates::hops(GlobalIndex number) const -> std::vector<Hop> {
  std::vector<Hop> found;
  const std::uint32_t state = (*this)[number];
  for (int site = 0; site < sites_; ++site) {
    const int next = (site + 1) % sites_;
    const std::uint32_t bond = (std::uint32_t{1} << site) | (std::uint32_t{1} << next);
    if (std::popcount(state & bond) != 1 || site == next) continue;
    const std::uint32_t after = state ^ bond;
    const auto place = std::lower_bound(states_.begin(), states_.end(), after);
    const bool closes = next == 0;
    found.push_back({place - states_.begin(), closes && electrons_ % 2 == 0 ? -1.0 : 1.0});
  }
  return found;
}

PhononStates::PhononStates(int modes, int most)
    : modes_(static_cast<std::size_t>(modes)), most_(most) {
  for (int m = 0; m <= modes; ++m) {
    for (int n = 0; n <= most; ++n) counts_.push_back(binomial(n + GlobalIndex{m}, m));
  }
}

void PhononStates::read(GlobalIndex number, std::span<int> phonons) const {
  int left = most_;
  for (std::size_t mode = 0; mode < modes_; ++mode) {
    const std::size_t behind = modes_ - mode;  // and itself
    int here = 0;
    while (here < left && states_before(behind, left, here + 1) <= number) ++here;
    number -= states_before(behind, left, here);
    phonons[mode] = here;
    left -= here;
  }
}

GlobalIndex PhononStates::number_of(std::span<const int> phonons) const {
  int left = most_;
  GlobalIndex number = 0;
  for (std::size_t mode = 0; mode < modes_; ++mode) {
    number += states_before(modes_ - mode, left, phonons[mode]);
    left -= phonons[mode];
  }
  return number;
}

}  // namespace nodewise::io::problems
