#include "nodewise/base/large_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace nodewise {

namespace {

constexpr std::size_t large_page = std::size_t{2} << 20;

/// What is mapped for so many bytes, so that pieces of a mapping and mappings side by side join.
std::size_t extent_of(std::size_t bytes) {
  return (bytes + large_page - 1) / large_page * large_page;
}

/// A new mapping that begins at a large page; null where there is no memory.
char* map_pages(std::size_t extent) noexcept {
  // Enough to begin where it should; what is too much is given back.
  void* const memory = mmap(nullptr, extent + large_page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const std::size_t past = reinterpret_cast<std::uintptr_t>(memory) % large_page;
  const std::size_t before = past == 0 ? 0 : large_page - past;
  char* const first = static_cast<char*>(memory) + before;
  if (before > 0) munmap(memory, before);
  if (before < large_page) munmap(first + extent, large_page - before);
  return first;
}

/// Where the small pages of an array begin, and where they end. A large page for the rest of it
/// would take a megabyte too much on average.
struct SmallPages {
  std::size_t begin, end;
};
SmallPages small_pages_of(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return {bytes / large_page * large_page, (bytes + page - 1) / page * page};
}

/// Asks for large pages but at the end, behind which the mapping gets a hole.
void trim(char* memory, std::size_t bytes) noexcept {
  const auto [begin, end] = small_pages_of(bytes);
#ifdef MADV_HUGEPAGE
  madvise(memory, begin, MADV_HUGEPAGE);  // a hint: without it, all pages are small
  if (begin < end) madvise(memory + begin, end - begin, MADV_NOHUGEPAGE);
#endif
  if (end < extent_of(bytes)) munmap(memory + end, extent_of(bytes) - end);
}

/// Takes back what trim() took away, so that it will have a large page, and joins: the extent that
/// is there. Small pages stay small until they are unmapped.
std::size_t restore(char* memory, std::size_t bytes) noexcept {
  const auto [begin, end] = small_pages_of(bytes);
  if (begin == end) return begin;
  munmap(memory + begin, end - begin);
#ifdef MAP_FIXED_NOREPLACE
  char* const wanted = memory + begin;
  void* const got = mmap(wanted, large_page, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wanted) return begin + large_page;
  if (got != MAP_FAILED) munmap(got, large_page);  // a kernel that does not know the flag
#endif
  return begin;
}

/// Mappings in use and out of use, which together are never more than were in use at once. Sizes
/// are extents.
class Mappings {
 public:
  char* take(std::size_t size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    char* memory = take_unused(size);
    if (memory == nullptr) {
      keep_unused(std::max(most_used_, used_ + size) - used_ - size);
      memory = map_pages(size);
    }
    if (memory == nullptr) {
      keep_unused(0);
      memory = map_pages(size);
    }
    if (memory == nullptr) throw std::bad_alloc();
    used_ += size;
    most_used_ = std::max(most_used_, used_);
    return memory;
  }

  /// What was taken with `size`, of which `kept` bytes are still mapped.
  void give_back(char* memory, std::size_t size, std::size_t kept) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    used_ -= size;
    keep(memory, kept);
  }

  void release_unused() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    keep_unused(0);
    most_used_ = used_;
  }

 private:
  using Unused = std::map<char*, std::size_t>;

  static bool is_smaller(const Unused::value_type& a, const Unused::value_type& b) {
    return a.second < b.second;
  }

  /// The beginning of the smallest that is large enough; null where none is.
  char* take_unused(std::size_t size) noexcept {
    auto found = unused_.end();
    for (auto at = unused_.begin(); at != unused_.end(); ++at) {
      if (at->second >= size && (found == unused_.end() || is_smaller(*at, *found))) found = at;
    }
    if (found == unused_.end()) return nullptr;
    const auto [memory, found_size] = *found;
    unused_.erase(found);
    unused_bytes_ -= found_size;
    keep(memory + size, found_size - size);
    return memory;
  }
  /// For later, joined with what is unused before and behind it.
  void keep(char* memory, std::size_t size) noexcept {
    if (size == 0) return;
    try {
      auto at = unused_.emplace(memory, size).first;
      unused_bytes_ += size;
      if (const auto next = std::next(at); next != unused_.end() && next->first == memory + size) {
        at->second += next->second;
        unused_.erase(next);
      }
      if (at == unused_.begin()) return;
      const auto before = std::prev(at);
      if (before->first + before->second != memory) return;
      before->second += at->second;
      unused_.erase(at);
    } catch (const std::bad_alloc&) {
      munmap(memory, size);
    }
  }
  /// Gives the smallest back to the system until no more than so many bytes are left.
  void keep_unused(std::size_t bytes) noexcept {
    while (unused_bytes_ > bytes) {
      const auto smallest = std::min_element(unused_.begin(), unused_.end(), is_smaller);
      const std::size_t size = std::min(smallest->second, unused_bytes_ - bytes);
      smallest->second -= size;
      unused_bytes_ -= size;
      munmap(smallest->first + smallest->second, size);
      if (smallest->second == 0) unused_.erase(smallest);
    }
  }

  std::mutex mutex_;
  Unused unused_;  // sizes by where they begin; no two of them touch
  std::size_t unused_bytes_ = 0, used_ = 0, most_used_ = 0;
};

/// Never destroyed: arrays of static duration may be freed after everything else.
Mappings& mappings() {
  static Mappings& all = *new Mappings;
  return all;
}

}  // namespace

void* allocate_large(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  char* const memory = mappings().take(extent_of(bytes));
  trim(memory, bytes);
  return memory;
}

void free_large(void* memory, std::size_t bytes) noexcept {
  char* const first = static_cast<char*>(memory);
  mappings().give_back(first, extent_of(bytes), restore(first, bytes));
}

void release_unused_memory() noexcept {
  mappings().release_unused();
}

}  // namespace nodewise
