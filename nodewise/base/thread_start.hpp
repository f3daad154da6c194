// What each thread of a rank does before its first loop.
#pragma once

namespace nodewise::parallel {

/// Local; not while a loop runs. From now on every thread calls start(number) once before it takes
/// part in loops, and again where it gets another number: 0 is the thread that begins the loops,
/// others follow up to threads() - 1. An OpenMP library may end threads that a loop leaves without
/// work and begin new ones for the next, so this is no matter of a single loop. Null: nothing more
/// is called. What an earlier call gave is forgotten.
void set_thread_start(void (*start)(int number) noexcept) noexcept;

}  // namespace nodewise::parallel
