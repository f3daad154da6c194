// Memory for large arrays.
#pragma once

#include <cstddef>

namespace nodewise {

/// Arrays of as many bytes are worth large pages.
inline constexpr std::size_t large_bytes = std::size_t{4} << 20;

/// Memory that the system is asked to back with large pages, where it has such: a fresh page costs
/// a trap, which took a fifth of a setup with pages of 4 KiB. Throws std::bad_alloc.
void* allocate_large(std::size_t bytes);
void free_large(void* memory) noexcept;

}  // namespace nodewise
