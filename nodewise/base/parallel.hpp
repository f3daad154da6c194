// Loops on the threads of one rank.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include "nodewise/base/types.hpp"

namespace nodewise::parallel {

/// The most threads a rank can have.
constexpr int max_threads = 256;

/// The threads that loops of this process may run on: 1 unless set, whatever the machine has. Ranks
/// are the first kind of parallelism, and a program that starts one for each core must not get more
/// threads than it asked for.
int threads() noexcept;
/// Not while a loop runs. Throws Error{invalid_argument} where n is below 1 or above max_threads,
/// or above 1 in a library built without OpenMP.
void set_threads(int n);
/// Whether the library was built with OpenMP.
bool available() noexcept;

/// Returns how many parts a loop with this much work is worth splitting into: at most threads().
/// The unit of work is an entry of a matrix. Fewer than some thousand entries take no longer than
/// waking a thread.
int parts_of(std::size_t work) noexcept;

/// The same, as many as if all threads were at hand: of loops whose result depends on the parts, so
/// that it is the same beside a thread that talks.
int parts_on_all_threads(std::size_t work) noexcept;

namespace detail {
/// Calls call(context, part) for each part; the first exception is thrown when all are done.
void run(int parts, void* context, void (*call)(void*, int));
}  // namespace detail

/// Local. Calls f(part) for each of 0 .. parts - 1, each on a thread of its own, and returns when
/// all are done; what one of them throws is thrown here. Parts must not wait for each other, and
/// MPI is not to be called.
template <class F>
void run(int parts, F&& f) {
  if (parts <= 1) return f(0);
  detail::run(parts, &f, [](void* context, int part) {
    (*static_cast<std::remove_reference_t<F>*>(context))(part);
  });
}

namespace detail {
void beside(void* talk_context, void (*talk)(void*), void* work_context, void (*work)(void*));
}  // namespace detail

/// Local. Calls talk() on this thread, which alone may call MPI, and work() at the same time on
/// another one, with all that are left for the loops in it; returns when both are done. What work()
/// throws is thrown here, or else what talk() throws. Each must end whatever the other does. With
/// one thread talk() is called first. Not from a loop. (Schubert, Hager, Fehske, Wellein 2011,
/// figure 5c: task mode.)
template <class Talk, class Work>
void beside(Talk&& talk, Work&& work) {
  detail::beside(
      &talk, [](void* context) { (*static_cast<std::remove_reference_t<Talk>*>(context))(); },
      &work, [](void* context) { (*static_cast<std::remove_reference_t<Work>*>(context))(); });
}

/// Returns where part `part` of n things begins, in parts of equal size.
inline std::size_t equal_part(std::size_t n, int parts, int part) {
  return n * static_cast<std::size_t>(part) / static_cast<std::size_t>(parts);
}

/// The first of the rows whose entries, with one for the row itself, are the part'th of all: so
/// that parts have as much to read.
inline LocalIndex row_part(std::span<const Offset> row_ptr, int parts, int part) {
  const auto n = static_cast<Offset>(row_ptr.size()) - 1;
  const Offset wanted = (row_ptr.back() - row_ptr.front() + n) * part / parts;
  Offset low = 0;
  Offset high = n;
  while (low < high) {
    const Offset middle = (low + high) / 2;
    const Offset before = row_ptr[static_cast<std::size_t>(middle)] - row_ptr.front() + middle;
    (before < wanted ? low : high) = before < wanted ? middle + 1 : middle;
  }
  return static_cast<LocalIndex>(low);
}

/// Local. Calls f(begin, end) for ranges that are all of 0 .. n - 1 together.
template <class F>
void for_range(std::size_t n, F&& f) {
  const int parts = parts_of(n);
  run(parts, [&](int part) { f(equal_part(n, parts, part), equal_part(n, parts, part + 1)); });
}

/// Local. Calls f(begin, end) for ranges of rows with about as many entries each.
template <class F>
void for_rows(std::span<const Offset> row_ptr, F&& f) {
  const int parts = parts_of(static_cast<std::size_t>(row_ptr.back()) + row_ptr.size());
  run(parts,
      [&](int part) { f(row_part(row_ptr, parts, part), row_part(row_ptr, parts, part + 1)); });
}

/// Local. Reduces f(begin, end) over the ranges of for_range() by combine(a, b), in their order.
template <class F, class Combine>
double reduce(std::size_t n, F&& f, Combine&& combine) {
  const int parts = parts_of(n);
  if (parts == 1) return f(std::size_t{0}, n);
  std::array<double, max_threads> partial;
  run(parts, [&](int part) {
    partial[static_cast<std::size_t>(part)] =
        f(equal_part(n, parts, part), equal_part(n, parts, part + 1));
  });
  double total = partial[0];
  for (int part = 1; part < parts; ++part) {
    total = combine(total, partial[static_cast<std::size_t>(part)]);
  }
  return total;
}

/// Local. The sum of f(begin, end) over such ranges.
template <class F>
double sum(std::size_t n, F&& f) {
  return reduce(n, f, [](double a, double b) { return a + b; });
}

/// Local. The largest.
template <class F>
double max(std::size_t n, F&& f) {
  return reduce(n, f, [](double a, double b) { return std::max(a, b); });
}

}  // namespace nodewise::parallel
