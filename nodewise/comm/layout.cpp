#include "nodewise/comm/layout.hpp"

#include <algorithm>
#include <cstdint>

#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::comm {

std::vector<GlobalIndex> uniform_starts(GlobalIndex n, int n_ranks) {
  if (n < 0) throw Error(ErrorCode::invalid_argument, "layout: a negative size");
  if (n_ranks < 1) throw Error(ErrorCode::invalid_argument, "layout: no ranks");
  const GlobalIndex p = n_ranks;
  std::vector<GlobalIndex> starts(static_cast<std::size_t>(p) + 1);
  for (GlobalIndex r = 0; r <= p; ++r) {
    starts[static_cast<std::size_t>(r)] = r * (n / p) + std::min(r, n % p);
  }
  return starts;
}

Layout::Layout(std::shared_ptr<const mpi::Comm> comm, std::vector<GlobalIndex> starts)
    : comm_(std::move(comm)),
      starts_(std::make_shared<const std::vector<GlobalIndex>>(std::move(starts))) {
  if (std::cmp_not_equal(starts_->size(), comm_->size() + 1) ||
      !std::is_sorted(starts_->begin(), starts_->end())) {
    throw Error(ErrorCode::invalid_argument,
                "layout: needs one ascending start per rank and an end");
  }
  for (int r = 0; r < comm_->size(); ++r) {
    const auto rows = static_cast<std::uint64_t>(end(r)) - static_cast<std::uint64_t>(begin(r));
    narrow<LocalIndex>(rows, "rows of a rank:");  // the signed difference might overflow
  }
  for (const GlobalIndex start : *starts_) {
    fingerprint_ = hash64(static_cast<std::uint64_t>(start), fingerprint_);
  }
}

Layout Layout::uniform(std::shared_ptr<const mpi::Comm> comm, GlobalIndex n) {
  std::vector<GlobalIndex> starts = uniform_starts(n, comm->size());
  return {std::move(comm), std::move(starts)};
}

Layout Layout::from_local_size(std::shared_ptr<const mpi::Comm> comm, GlobalIndex n_local) {
  const std::optional<Error> error = mpi::caught([&] {
    if (n_local < 0) throw Error(ErrorCode::invalid_argument, "layout: a negative size");
    narrow<LocalIndex>(n_local, "rows of a rank:");  // here, so that the sums cannot overflow
  });
  const std::vector<GlobalIndex> sizes = mpi::gather_all(*comm, error ? GlobalIndex{-1} : n_local);
  if (std::count(sizes.begin(), sizes.end(), -1) > 0) mpi::agree(*comm, error);
  std::vector<GlobalIndex> starts(sizes.size() + 1, 0);
  for (std::size_t r = 0; r < sizes.size(); ++r) starts[r + 1] = starts[r] + sizes[r];
  return {std::move(comm), std::move(starts)};
}

int Layout::owner(GlobalIndex i) const {
  const auto above = std::upper_bound(starts_->begin(), starts_->end(), i);
  return static_cast<int>(above - starts_->begin()) - 1;
}

}  // namespace nodewise::comm
