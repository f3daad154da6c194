// Memory for large arrays.
#pragma once

#include <cstddef>

namespace nodewise {

/// Arrays of as many bytes are worth large pages.
inline constexpr std::size_t large_bytes = std::size_t{1} << 20;

/// Allocates memory that the system is asked to back with large pages, where it has such: a fresh
/// page costs a trap, which took a fifth of a setup with pages of 4 KiB. The memory is a mapping of
/// its own and not part of the heap. MPI libraries, Open MPI too, tell malloc() to take everything
/// from the heap and to give nothing back; the gaps that temporary arrays left there were a tenth
/// of the memory of a solve. Freed memory serves again, whichever pieces it is in: the system puts
/// their pages side by side without touching their contents (Linux, since 5.7). The total, used or
/// not, never exceeds the most that was in use at once. The memory begins at a pair of cache lines,
/// successive arrays at different places in a page. Throws std::bad_alloc.
void* allocate_large(std::size_t bytes);
/// Frees memory that allocate_large() returned.
void free_large(void* memory) noexcept;
/// Gives what is not in use back to the system.
void release_unused_memory() noexcept;

}  // namespace nodewise
