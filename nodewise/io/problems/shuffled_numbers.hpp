// Numbers shuffled as a pure function, both ways, so that any rank can shuffle any of them.
#pragma once

#include <cstdint>

#include "nodewise/base/types.hpp"

namespace nodewise::io::problems {

/// Of the field `shuffled`, which several problems have.
inline constexpr const char* shuffled_meaning =
    "Successive points of the mesh whose numbers are shuffled: few keep neighbours together, as "
    "mesh generators do, and as many as there are scatter them";

/// Local. Throws invalid_argument for a seed or a stretch outside its range.
void check_shuffled(int seed, int shuffled);

/// A permutation of 0, 1, ..., n - 1 that moves numbers within successive stretches of `stretch`
/// each, of which the last may be shorter. By Feistel networks of hashes on the next power of four,
/// walked along until they lead back into the stretch (Black, Rogaway 2002). O(1) time and memory.
class ShuffledNumbers {
 public:
  /// Local. n >= 0, stretch >= 1; of 1 nothing moves.
  ShuffledNumbers(GlobalIndex n, GlobalIndex stretch, std::uint64_t seed)
      : n_(n), stretch_(stretch), seed_(seed) {}

  /// Local. Where number i of [0, n) goes, and what went there.
  GlobalIndex shuffled(GlobalIndex i) const { return moved(i, false); }
  GlobalIndex unshuffled(GlobalIndex i) const { return moved(i, true); }

 private:
  GlobalIndex moved(GlobalIndex i, bool back) const;

  GlobalIndex n_, stretch_;
  std::uint64_t seed_;
};

}  // namespace nodewise::io::problems
