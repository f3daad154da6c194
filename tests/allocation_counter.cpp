#include "allocation_counter.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define NODEWISE_TESTS_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NODEWISE_TESTS_SANITIZED
#endif
#endif

namespace {

std::atomic<std::int64_t> n_allocations = 0;

}  // namespace

namespace nodewise::test {

std::int64_t allocations() {
  return n_allocations;
}

bool counts_allocations() {
#ifdef NODEWISE_TESTS_SANITIZED
  return false;
#else
  return true;
#endif
}

}  // namespace nodewise::test

#ifndef NODEWISE_TESTS_SANITIZED
// The forms for arrays and without exceptions call these.
void* operator new(std::size_t bytes) {
  ++n_allocations;
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif
