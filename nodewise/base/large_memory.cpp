#include "nodewise/base/large_memory.hpp"

#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace nodewise {

namespace {

constexpr std::size_t page = std::size_t{2} << 20;

}  // namespace

void* allocate_large(std::size_t bytes) {
  const std::size_t whole = (bytes + page - 1) / page * page;
  void* memory = whole >= bytes ? std::aligned_alloc(page, whole) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  madvise(memory, whole, MADV_HUGEPAGE);  // a hint: without it, the pages are small
#endif
  return memory;
}

void free_large(void* memory) noexcept {
  std::free(memory);
}

}  // namespace nodewise
