// Turns the failure of one rank into the same exception on every rank.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "nodewise/base/error.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi {

/// Collective. If any rank brings an error, every rank throws the error of the lowest such rank,
/// its text preceded by "rank r: " unless every rank failed with the same text.
/// One allreduce; two broadcasts more in case of failure.
void agree(const Comm& comm, const std::optional<Error>& local);

/// Collective. agree(); where no rank failed, `values`, the same number on every rank and at most
/// max_agreed_sums, become their sums over the ranks. One allreduce for both.
void agree_on_sums(const Comm& comm, const std::optional<Error>& local,
                   std::span<std::int64_t> values);
inline constexpr std::size_t max_agreed_sums = 7;
/// Collective. Likewise, of any number of values.
void agree_on_sums(const Comm& comm, const std::optional<Error>& local, std::span<double> values);

/// A number that must be the same on every rank, and its name for the message.
struct Same {
  std::uint64_t value = 0;
  const char* what = "";
};

/// Local. Two numbers of which the sums over the ranks tell require_same() whether values differ.
std::array<std::int64_t, 2> to_compare(const Same& same);
/// Local; the same on every rank. Throws invalid_argument where these sums say that values differ.
void require_same(const Comm& comm, const Same& same, std::span<const std::int64_t, 2> sums);

/// Collective. agree(); where no rank failed but `same.value` differs between ranks, what would
/// show as a hang later, all throw invalid_argument. One allreduce.
void agree_on_same(const Comm& comm, const std::optional<Error>& local, const Same& same);

/// Collective. Both in one allreduce, for two sums less than max_agreed_sums.
void agree_on_sums(const Comm& comm, const std::optional<Error>& local,
                   std::span<std::int64_t> values, const Same& same);

namespace detail {
/// Called before each piece of local work; tests have it throw. Null: nothing is called.
extern void (*before_local_work)();
}  // namespace detail

/// Local. Runs `work` and returns what it threw, if anything; bad_alloc becomes out_of_memory. All
/// ranks must come to know of it.
template <class Work>
std::optional<Error> caught(Work&& work);

/// The same of work that is collective and throws on all of its ranks, or that is taken to succeed
/// on this rank.
template <class Work>
std::optional<Error> error_of(Work&& work);

/// Collective. Runs the purely local `work` on every rank, then agree(): either all ranks return
/// their own result or all throw the same Error. `work` must not communicate.
template <class Work>
auto collectively(const Comm& comm, Work&& work) {
  using Result = std::invoke_result_t<Work>;
  if constexpr (std::is_void_v<Result>) {
    agree(comm, caught(std::forward<Work>(work)));
  } else {
    std::optional<Result> result;
    agree(comm, caught([&] { result.emplace(work()); }));
    return std::move(*result);
  }
}

/// Local. The current exception as an Error; call inside a catch block only.
Error current_error();

template <class Work>
std::optional<Error> caught(Work&& work) {
  return error_of([&] {
    if (detail::before_local_work != nullptr) detail::before_local_work();
    work();
  });
}

template <class Work>
std::optional<Error> error_of(Work&& work) {
  try {
    work();
  } catch (...) {
    return current_error();
  }
  return std::nullopt;
}

}  // namespace nodewise::mpi
