#include "nodewise/mpi/agree.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "nodewise/base/hash.hpp"

namespace nodewise::mpi {

namespace {

/// Equal on all ranks exactly when (with overwhelming probability) all bring the same text.
std::int64_t fingerprint(const Error& error) {
  std::uint64_t h = 0;
  for (const char* c = error.what(); *c != '\0'; ++c) h = hash64(static_cast<unsigned char>(*c), h);
  return static_cast<std::int64_t>(h >> 1);
}

}  // namespace

void (*detail::before_local_work)() = nullptr;

Error current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {ErrorCode::out_of_memory, "not enough memory"};
  } catch (const std::length_error&) {
    return {ErrorCode::out_of_memory, "not enough memory: an array would be longer than possible"};
  } catch (const std::exception& error) {
    return {ErrorCode::internal, error.what()};
  } catch (...) {
    return {ErrorCode::internal, "an exception that is no std::exception was thrown"};
  }
}

void agree(const Comm& comm, const std::optional<Error>& local) {
  constexpr int no_rank = std::numeric_limits<int>::max();
  const int failed = min(comm, local ? comm.rank() : no_rank);
  if (failed == no_rank) return;
  const std::int64_t print = local ? fingerprint(*local) : -1;
  const bool everywhere = min(comm, print) == max(comm, print);
  const int code = broadcast(comm, local ? static_cast<int>(local->code()) : 0, failed);
  const std::string text = broadcast(comm, local ? std::string(local->what()) : "", failed);
  const std::string where = everywhere ? "" : "rank " + std::to_string(failed) + ": ";
  throw Error(static_cast<ErrorCode>(code), where + text);
}

void agree_on_sums(const Comm& comm, const std::optional<Error>& local,
                   std::span<std::int64_t> values) {
  std::array<std::int64_t, max_agreed_sums + 1> sums = {local ? 1 : 0};
  if (values.size() > max_agreed_sums) throw Error(ErrorCode::internal, "agreement: many sums");
  std::copy(values.begin(), values.end(), sums.begin() + 1);
  sum_in_place(comm, std::span(sums).first(values.size() + 1));
  if (sums[0] > 0) agree(comm, local);
  std::copy_n(sums.begin() + 1, values.size(), values.begin());
}

void agree_on_sums(const Comm& comm, const std::optional<Error>& local, std::span<double> values) {
  std::vector<double> sums = {local ? 1.0 : 0.0};
  sums.insert(sums.end(), values.begin(), values.end());
  sum_in_place(comm, std::span(sums));
  if (sums[0] > 0) agree(comm, local);
  std::copy(sums.begin() + 1, sums.end(), values.begin());
}

// Numbers are equal where their variance is zero; all ranks find that from the same sums.
std::array<std::int64_t, 2> to_compare(const Same& same) {
  constexpr std::uint64_t bits = 20;  // so that no sum of squares overflows
  const auto part = static_cast<std::int64_t>(hash64(same.value) >> (64 - bits));
  return {part, part * part};
}

void require_same(const Comm& comm, const Same& same, std::span<const std::int64_t, 2> sums) {
  const auto total = static_cast<std::uint64_t>(sums[0]);
  const auto squares = static_cast<std::uint64_t>(sums[1]);
  if (squares * static_cast<std::uint64_t>(comm.size()) == total * total) return;
  throw Error(ErrorCode::invalid_argument,
              std::string(same.what) + " must be the same on every rank");
}

void agree_on_sums(const Comm& comm, const std::optional<Error>& local,
                   std::span<std::int64_t> values, const Same& same) {
  std::array<std::int64_t, max_agreed_sums> sums{};
  if (values.size() + 2 > sums.size()) throw Error(ErrorCode::internal, "agreement: many sums");
  const auto compared = to_compare(same);
  std::copy(compared.begin(), compared.end(), sums.begin());
  std::copy(values.begin(), values.end(), sums.begin() + 2);
  agree_on_sums(comm, local, std::span(sums).first(values.size() + 2));
  require_same(comm, same, std::span(sums).first<2>());
  std::copy_n(sums.begin() + 2, values.size(), values.begin());
}

void agree_on_same(const Comm& comm, const std::optional<Error>& local, const Same& same) {
  agree_on_sums(comm, local, {}, same);
}

}  // namespace nodewise::mpi
