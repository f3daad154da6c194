#include "nodewise/base/large_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace nodewise {

namespace {

constexpr std::size_t large_page = std::size_t{2} << 20;

/// The pages of an array: large ones, and behind them small ones, since a large page for the end
/// would take a megabyte too much on average. In bytes.
struct Extent {
  std::size_t large = 0, small = 0;
  std::size_t all() const { return large + small; }
};

Extent extent_of(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t large = bytes / large_page * large_page;
  return {large, (bytes - large + page - 1) / page * page};
}

/// Returns how far behind the beginning of a page the next array begins, in whole pairs of cache
/// lines. Loops go through several arrays at once. If all began at a page they would be in the same
/// sets of a cache, and a load would wait for the last store to as far behind one: that took 7 % of
/// a setup.
std::size_t next_shift() noexcept {
  static std::atomic<std::size_t> arrays = 0;
  constexpr std::size_t pair = 128, places = 32, apart = 7;  // places are of a page
  return arrays.fetch_add(1, std::memory_order_relaxed) * apart % places * pair;
}

/// A hint: without it, all pages are small.
void ask_for_pages(char* memory, const Extent& extent) noexcept {
#ifdef MADV_HUGEPAGE
  if (extent.large > 0) madvise(memory, extent.large, MADV_HUGEPAGE);
  if (extent.small > 0) madvise(memory + extent.large, extent.small, MADV_NOHUGEPAGE);
#endif
}

/// A new mapping that begins at a large page; null where there is no memory.
char* map_pages(const Extent& extent) noexcept {
  // Enough to begin where it should; what is too much is given back.
  void* const memory = mmap(nullptr, extent.all() + large_page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const std::size_t past = reinterpret_cast<std::uintptr_t>(memory) % large_page;
  const std::size_t before = past == 0 ? 0 : large_page - past;
  char* const first = static_cast<char*>(memory) + before;
  if (before > 0) munmap(memory, before);
  if (before < large_page) munmap(first + extent.all(), large_page - before);
  ask_for_pages(first, extent);
  return first;
}

/// Moves pages with what they hold to where others are mapped, which go. Returns whether the system
/// can; if not, `errno` says why.
bool move_pages(char* from, std::size_t bytes, char* to) noexcept {
#if defined(SYS_mremap) && defined(MREMAP_FIXED)
  constexpr int leave_mapped = 4;  // MREMAP_DONTUNMAP, since Linux 5.7
  // Not by mremap(): in its place UCX puts a function of four arguments, which moves the pages to
  // address 0. What is left is unmapped by munmap(), which such libraries know by.
  if (syscall(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | leave_mapped, to) ==
      -1) {
    return false;
  }
  munmap(from, bytes);
  return true;
#else
  static_cast<void>(from), static_cast<void>(bytes), static_cast<void>(to);
  errno = EINVAL;
  return false;
#endif
}

/// The same, or gives them back and leaves fresh ones in the other place. Throws std::bad_alloc.
void move_or_replace(char* from, const Extent& extent, char* to) {
  if (move_pages(from, extent.all(), to)) return;
  const bool is_intact = errno == EINVAL;  // or else the pages in the other place may be gone
  munmap(from, extent.all());
  if (is_intact) return;
#ifdef MAP_FIXED_NOREPLACE
  void* const fresh = mmap(to, extent.all(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (fresh == to) return ask_for_pages(to, extent);
  if (fresh != MAP_FAILED) munmap(fresh, extent.all());
#endif
  throw std::bad_alloc();
}

/// Pages of one kind that lie side by side, each lot in a mapping of its own, by their bytes.
class Pieces {
 public:
  explicit Pieces(bool are_large)
      : are_large_(are_large), least_(are_large ? large_page : std::size_t{64} << 10) {}

  bool empty() const { return pieces_.empty(); }
  std::size_t bytes() const { return bytes_; }

  void add(std::size_t bytes, char* memory) {
    pieces_.emplace(bytes, memory);
    bytes_ += bytes;
  }
  /// Throws nothing, unlike add().
  void add_all(Pieces& others) noexcept {
    pieces_.merge(others.pieces_);
    bytes_ += std::exchange(others.bytes_, 0);
  }
  /// Moves pages of others to a place where fresh ones are mapped, one piece that is large enough
  /// or else the largest; the fresh ones that stay are a piece, too. Throws std::bad_alloc.
  void move_from(Pieces& others, std::size_t needed, char* to) {
    while (needed > 0 && !others.empty()) {
      auto found = others.pieces_.lower_bound(needed);
      if (found == others.pieces_.end()) --found;
      if (found->first < std::min(needed, least_)) break;
      if (found->first > needed) found = others.cut(found, needed);
      auto piece = others.extract(found);
      const std::size_t size = piece.key();
      move_or_replace(piece.mapped(), are_large_ ? Extent{size, 0} : Extent{0, size}, to);
      piece.mapped() = to;
      pieces_.insert(std::move(piece));
      bytes_ += size;
      to += size;
      needed -= size;
    }
    if (needed > 0) add(needed, to);
  }
  /// Gives so many bytes or a little more back to the system, the smallest pieces first.
  void drop(std::size_t bytes) noexcept {
    while (bytes > 0 && !empty()) {
      auto piece = extract(pieces_.begin());
      const std::size_t whole = (bytes + least_ - 1) / least_ * least_;
      const std::size_t dropped = std::min(piece.key(), whole);
      const std::size_t left = piece.key() - dropped;
      munmap(piece.mapped() + left, dropped);
      bytes -= std::min(bytes, dropped);
      if (left == 0) continue;
      piece.key() = left;
      pieces_.insert(std::move(piece));
      bytes_ += left;
    }
  }
  /// Gives the smallest pieces back until there are no more than so many.
  void drop_until(std::size_t count) noexcept {
    while (pieces_.size() > count) drop(pieces_.begin()->first);
  }

 private:
  using BySize = std::multimap<std::size_t, char*>;

  BySize::node_type extract(BySize::iterator at) {
    bytes_ -= at->first;
    return pieces_.extract(at);
  }
  /// Cuts a piece in two and returns the first, of so many bytes.
  BySize::iterator cut(BySize::iterator at, std::size_t size) {
    const auto [whole, memory] = *at;
    if (whole - size >= least_) {
      pieces_.emplace(whole - size, memory + size);
    } else {
      munmap(memory + size, whole - size);
      bytes_ -= whole - size;
    }
    auto first = pieces_.extract(at);
    first.key() = size;
    return pieces_.insert(std::move(first));
  }

  bool are_large_;
  std::size_t least_;  // pieces of less are not worth a call of the system
  BySize pieces_;
  std::size_t bytes_ = 0;
};

/// The pages of an array, or of none.
struct Pages {
  Pieces large{true}, small{false};
  std::size_t bytes() const { return large.bytes() + small.bytes(); }
  /// Gives so many bytes or a little more back to the system.
  void drop(std::size_t bytes) noexcept {
    const std::size_t all = this->bytes();
    small.drop(bytes);
    const std::size_t dropped = all - this->bytes();
    if (dropped < bytes) large.drop(bytes - dropped);
  }
};

/// Mappings in use and pages out of use, which together are never more than were in use at once. A
/// mapping is put together of pages out of use, which the system moves there without touching what
/// they hold, and fresh ones.
class Mappings {
 public:
  char* take(const Extent& extent) {
    const std::lock_guard<std::mutex> lock(mutex_);
    char* memory = map_pages(extent);
    if (memory == nullptr) {
      keep_unused(0);
      memory = map_pages(extent);
    }
    if (memory == nullptr) throw std::bad_alloc();
    Pages pages;
    try {
      fill(pages, extent, memory);
      used_.emplace(memory, std::move(pages));
    } catch (const std::bad_alloc&) {
      pages.drop(pages.bytes());
      throw;
    }
    used_bytes_ += extent.all();
    most_used_ = std::max(most_used_, used_bytes_);
    keep_unused(most_used_ - used_bytes_);
    return memory;
  }

  /// The mapping that some memory is of.
  void give_back(char* memory) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = std::prev(used_.upper_bound(memory));
    used_bytes_ -= at->second.bytes();
    unused_.large.add_all(at->second.large);
    unused_.small.add_all(at->second.small);
    used_.erase(at);
    // A process may have some 65,000 mappings.
    constexpr std::size_t many = 4096;
    unused_.small.drop_until(many);
    unused_.large.drop_until(many);
  }

  void release_unused() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    keep_unused(0);
    most_used_ = used_bytes_;
  }

 private:
  void fill(Pages& pages, const Extent& extent, char* memory) {
    pages.large.move_from(unused_.large, extent.large, memory);
    pages.small.move_from(unused_.small, extent.small, memory + extent.large);
  }
  void keep_unused(std::size_t bytes) noexcept {
    if (unused_.bytes() > bytes) unused_.drop(unused_.bytes() - bytes);
  }

  std::mutex mutex_;
  Pages unused_;
  std::map<char*, Pages> used_;
  std::size_t used_bytes_ = 0, most_used_ = 0;
};

/// Never destroyed: arrays of static duration may be freed after everything else.
Mappings& mappings() {
  static Mappings& all = *new Mappings;
  return all;
}

}  // namespace

void* allocate_large(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  const std::size_t shift = next_shift();
  return mappings().take(extent_of(bytes + shift)) + shift;
}

void free_large(void* memory) noexcept {
  mappings().give_back(static_cast<char*>(memory));
}

void release_unused_memory() noexcept {
  mappings().release_unused();
}

}  // namespace nodewise
