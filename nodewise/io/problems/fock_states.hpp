// States of electrons and phonons on the sites of a ring, by numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nodewise/base/types.hpp"

namespace nodewise::io::problems {

/// How many ways there are to choose k of n. Throws index_overflow where indices cannot count them.
GlobalIndex binomial(GlobalIndex n, GlobalIndex k);

/// Electrons of one spin: bit j of a state says whether there is one on site j. States are numbered
/// by their bits as numbers, ascending.
class ElectronStates {
 public:
  /// At most 30 sites.
  ElectronStates(int sites, int electrons);

  GlobalIndex size() const { return static_cast<GlobalIndex>(states_.size()); }
  std::uint32_t operator[](GlobalIndex number) const {
    return states_[static_cast<std::size_t>(number)];
  }

  /// An electron that goes to a neighbouring site, once for each bond that it may take. The state's
  /// sign changes where it passes an odd number of others: on the bond that closes the ring.
  struct Hop {
    GlobalIndex to;
    double sign;
  };
  std::vector<Hop> hops(GlobalIndex number) const;

 private:
  int sites_, electrons_;
  std::vector<std::uint32_t> states_;
};

/// So many modes with up to `most` phonons in all. States are numbered by the phonons of the first
/// mode, among equal ones by those of the second, and so on.
class PhononStates {
 public:
  PhononStates(int modes, int most);

  GlobalIndex size() const { return count(modes_, most_); }
  /// The phonons in each mode.
  void read(GlobalIndex number, std::span<int> phonons) const;
  GlobalIndex number_of(std::span<const int> phonons) const;

 private:
  /// States of so many modes with up to `most` phonons.
  GlobalIndex count(std::size_t modes, int most) const {
    return most < 0 ? 0
                    : counts_[modes * static_cast<std::size_t>(most_ + 1) +
                              static_cast<std::size_t>(most)];
  }
  /// Of the last `modes`, with up to `left` phonons, those whose first has fewer than so many.
  GlobalIndex states_before(std::size_t modes, int left, int phonons) const {
    return count(modes, left) - count(modes, left - phonons);
  }

  std::size_t modes_;
  int most_;
  std::vector<GlobalIndex> counts_;
};

}  // namespace nodewise::io::problems
