// Memory for large arrays.
#pragma once

#include <cstddef>

namespace nodewise {

/// Arrays of as many bytes are worth large pages.
inline constexpr std::size_t large_bytes = std::size_t{1} << 20;

/// Memory that the system is asked to back with large pages, where it has such: a fresh page costs
/// a trap, which took a fifth of a setup with pages of 4 KiB. It is a mapping of its own, not part
/// of the heap: MPI libraries tell malloc() to take everything from there and to give nothing back
/// (so does Open MPI), and the gaps that temporary arrays leave there were a tenth of the memory of
/// a solve. What is freed serves again, whichever pieces it is in: the system puts their pages side
/// by side without touching what they hold (Linux, since 5.7). All of it, in use or not, is no more
/// than has been in use at once. It begins at a pair of cache lines, arrays one after another at
/// different places in a page. Throws std::bad_alloc.
void* allocate_large(std::size_t bytes);
/// What allocate_large() returned.
void free_large(void* memory) noexcept;
/// Gives what is not in use back to the system.
void release_unused_memory() noexcept;

}  // namespace nodewise
