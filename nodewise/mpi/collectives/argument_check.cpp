#include "nodewise/mpi/collectives/argument_check.hpp"

#include "nodewise/base/hash.hpp"

namespace nodewise::mpi::collectives {

namespace {

std::uint64_t hash_of_message(int from, int to, Offset n) {
  const std::uint64_t ends = hash64(static_cast<std::uint64_t>(from), 21);
  return hash64(static_cast<std::uint64_t>(n), hash64(static_cast<std::uint64_t>(to), ends));
}

}  // namespace

void ArgumentCheck::same_everywhere(std::uint64_t value) {
  // A ring: each rank answers for what the rank before it has said.
  const auto rank = static_cast<std::uint64_t>(comm_.rank());
  const std::uint64_t next = (rank + 1) % static_cast<std::uint64_t>(comm_.size());
  balance_ += hash64(value, hash64(rank, 20)) - hash64(value, hash64(next, 20));
}

void ArgumentCheck::sends(int to, Offset n) {
  balance_ += hash_of_message(comm_.rank(), to, n);
}

void ArgumentCheck::receives(int from, Offset n) {
  balance_ -= hash_of_message(from, comm_.rank(), n);
}

void ArgumentCheck::agree(const char* mismatch) {
  std::array<std::uint64_t, 4> sums = {error_ ? 1U : 0U, balance_, totals_[0], totals_[1]};
  sum_in_place<std::uint64_t>(comm_, sums);
  if (sums[0] != 0) mpi::agree(comm_, error_);
  if (sums[1] != 0) throw Error(ErrorCode::invalid_argument, mismatch);
  totals_ = {sums[2], sums[3]};
}

}  // namespace nodewise::mpi::collectives
