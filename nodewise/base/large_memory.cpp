#include "nodewise/base/large_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace nodewise {

namespace {

constexpr std::size_t large_page = std::size_t{2} << 20;

/// What can be unmapped: a multiple of the pages that this system has.
std::size_t whole_pages(std::size_t bytes) {
  static const auto small_page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + small_page - 1) / small_page * small_page;
}

/// A new mapping that begins at a large page; null where there is no memory.
char* map_pages(std::size_t size) noexcept {
  // Enough to begin where it should; what is too much is given back.
  void* const memory =
      mmap(nullptr, size + large_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const std::size_t past = reinterpret_cast<std::uintptr_t>(memory) % large_page;
  const std::size_t before = past == 0 ? 0 : large_page - past;
  char* const first = static_cast<char*>(memory) + before;
  if (before > 0) munmap(memory, before);
  munmap(first + size, large_page - before);
#ifdef MADV_HUGEPAGE
  // A hint: without it, the pages are small. So are those of the rest, of which a large one would
  // take a megabyte too much on average.
  madvise(first, size / large_page * large_page, MADV_HUGEPAGE);
#endif
  return first;
}

/// Mappings in use and out of use, which together are never more than were in use at once.
class Mappings {
 public:
  void* take(std::size_t size) {
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

  void give_back(void* memory, std::size_t size) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    used_ -= size;
    keep(static_cast<char*>(memory), size);
  }

  void release_unused() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    keep_unused(0);
    most_used_ = used_;
  }

 private:
  /// The beginning of the smallest that is large enough; null where none is.
  char* take_unused(std::size_t size) noexcept {
    const auto found = unused_.lower_bound(size);
    if (found == unused_.end()) return nullptr;
    const auto [found_size, memory] = *found;
    unused_.erase(found);
    unused_bytes_ -= found_size;
    const std::size_t next =
        std::min((size + large_page - 1) / large_page * large_page, found_size);
    if (next > size) munmap(memory + size, next - size);
    keep(memory + next, found_size - next);
    return memory;
  }
  /// For later, if it is large.
  void keep(char* memory, std::size_t size) noexcept {
    if (size == 0) return;
    if (size < large_bytes) return static_cast<void>(munmap(memory, size));
    try {
      unused_.emplace(size, memory);
      unused_bytes_ += size;
    } catch (const std::bad_alloc&) {
      munmap(memory, size);
    }
  }
  /// Gives the smallest back to the system until no more than so many bytes are left.
  void keep_unused(std::size_t bytes) noexcept {
    while (unused_bytes_ > bytes) {
      const auto smallest = unused_.begin();
      munmap(smallest->second, smallest->first);
      unused_bytes_ -= smallest->first;
      unused_.erase(smallest);
    }
  }

  std::mutex mutex_;
  std::multimap<std::size_t, char*> unused_;  // by size
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
  return mappings().take(whole_pages(bytes));
}

void free_large(void* memory, std::size_t bytes) noexcept {
  mappings().give_back(memory, whole_pages(bytes));
}

void release_unused_memory() noexcept {
  mappings().release_unused();
}

}  // namespace nodewise
