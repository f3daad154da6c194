// Contiguous ranges of global indices, one per rank.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::comm {

/// Local. Returns where ranges of n indices begin, and where the last ends. Lengths differ by one
/// at most; the first ranks have the longer ones. Throws invalid_argument unless n >= 0, n_ranks >
/// 0.
std::vector<GlobalIndex> uniform_starts(GlobalIndex n, int n_ranks);

/// Rank r owns the global indices [begin(r), end(r)); ranges are ascending and may be empty.
/// A value: copies share their data. Holds P + 1 numbers on each rank.
class Layout {
 public:
  /// Local. `starts` has size() + 1 entries, the same on every rank (which is looked at where a
  /// matrix is made). The first need not be 0.
  Layout(std::shared_ptr<const mpi::Comm> comm, std::vector<GlobalIndex> starts);
  /// Local. n indices in the ranges of uniform_starts().
  /// Like the constructor, throws where a rank would own 2^31 indices or more.
  static Layout uniform(std::shared_ptr<const mpi::Comm> comm, GlobalIndex n);
  /// Collective. Each rank gives the number it owns; throws on every rank where one is negative
  /// or 2^31 or more.
  static Layout from_local_size(std::shared_ptr<const mpi::Comm> comm, GlobalIndex n_local);

  const mpi::Comm& comm() const { return *comm_; }
  const std::shared_ptr<const mpi::Comm>& shared_comm() const { return comm_; }
  std::span<const GlobalIndex> starts() const { return *starts_; }
  GlobalIndex begin(int rank) const { return (*starts_)[static_cast<std::size_t>(rank)]; }
  GlobalIndex end(int rank) const { return (*starts_)[static_cast<std::size_t>(rank) + 1]; }
  /// This rank's range.
  GlobalIndex begin() const { return begin(comm_->rank()); }
  GlobalIndex end() const { return end(comm_->rank()); }
  LocalIndex n_local() const { return static_cast<LocalIndex>(end() - begin()); }
  /// Of all ranks together, and the ends of the whole range.
  GlobalIndex n_global() const { return starts_->back() - starts_->front(); }
  GlobalIndex first() const { return starts_->front(); }
  GlobalIndex last() const { return starts_->back(); }
  bool owns(GlobalIndex i) const { return i >= begin() && i < end(); }
  bool contains(GlobalIndex i) const { return i >= first() && i < last(); }
  /// The rank that owns index i, which must be in [first(), last()). O(log P).
  int owner(GlobalIndex i) const;
  /// The local number of an index this rank owns.
  LocalIndex to_local(GlobalIndex i) const { return static_cast<LocalIndex>(i - begin()); }
  GlobalIndex to_global(LocalIndex i) const { return begin() + i; }

  /// A number that differs between layouts that do, but for a rare chance.
  std::uint64_t fingerprint() const { return fingerprint_; }

  friend bool operator==(const Layout& a, const Layout& b) {
    return a.starts_ == b.starts_ || *a.starts_ == *b.starts_;
  }

 private:
  std::shared_ptr<const mpi::Comm> comm_;
  std::shared_ptr<const std::vector<GlobalIndex>> starts_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace nodewise::comm
