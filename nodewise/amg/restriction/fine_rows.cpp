#include "nodewise/amg/restriction/fine_rows.hpp"

#include <algorithm>

#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::restriction {

template <class T>
FineRows<T>::FineRows(const matrix::DistMatrix<T>& A, const Strength& strength,
                      const coarsen::Splitting& splitting)
    : A_(A), strength_(strength), splitting_(splitting), points_(A.rows(), A.ghosts()) {}

template <class T>
void FineRows<T>::share_fine_points() {
  ghost_states_.resize(static_cast<std::size_t>(A_.n_ghosts()));
  A_.exchange().forward(std::span<const std::int8_t>(splitting_), std::span(ghost_states_));
}

/// Ghosts ascend: those before this rank's rows, then the own columns, then those behind.
template <class T>
void FineRows<T>::append_local_rows() {
  const std::span<const GlobalIndex> ghosts = A_.ghosts();
  const auto before = std::lower_bound(ghosts.begin(), ghosts.end(), A_.rows().begin());
  const auto first_behind = static_cast<LocalIndex>(before - ghosts.begin());
  const auto push = [&](LocalIndex point, std::int8_t state, T value, std::uint8_t strong) {
    if (state == coarsen::coarse) return;
    cols_.push_back(point);
    vals_.push_back(value);
    strong_.push_back(strong);
  };
  for (LocalIndex i = 0; i < A_.n_local(); ++i) {
    const auto append_ghosts = [&](Offset& k, LocalIndex end) {
      for (; k < A_.off().end(i); ++k) {
        const auto p = static_cast<std::size_t>(k);
        const LocalIndex g = A_.off().cols[p];
        if (g >= end) return;
        push(A_.n_local() + g, ghost_states_[static_cast<std::size_t>(g)], A_.off().vals[p],
             strength_.off[p]);
      }
    };
    const std::size_t first = cols_.size();
    Offset k = A_.off().begin(i);
    append_ghosts(k, first_behind);
    for (auto p = static_cast<std::size_t>(A_.on().begin(i));
         p < static_cast<std::size_t>(A_.on().end(i)); ++p) {
      const LocalIndex j = A_.on().cols[p];
      push(j, splitting_[static_cast<std::size_t>(j)], A_.on().vals[p], strength_.on[p]);
    }
    append_ghosts(k, A_.n_ghosts());
    ranges_.push_back({first, cols_.size()});
  }
}

/// The rows of the fine points that some rank asks for.
template <class T>
auto FineRows<T>::outgoing(comm::Exchange& exchange) const -> Couplings {
  Couplings rows;
  for (const LocalIndex i : exchange.exported_entries()) {
    if (splitting_[static_cast<std::size_t>(i)] != coarsen::coarse) {
      for_each_entry(i, [&](LocalIndex j, T value, bool strong) {
        rows.data.push_back({2 * points_.global(j) + (strong ? 1 : 0), value});
      });
    }
    rows.end_record();
  }
  return rows;
}

template <class T>
void FineRows<T>::append_row(LocalIndex point, std::span<const Coupling> couplings) {
  const std::size_t first = cols_.size();
  for (const Coupling& coupling : couplings) {
    cols_.push_back(points_.number(coupling.code / 2));
    vals_.push_back(coupling.value);
    strong_.push_back(coupling.code % 2 != 0 ? 1 : 0);
  }
  const auto u = static_cast<std::size_t>(point);
  if (u >= ranges_.size()) ranges_.resize(u + 1);
  ranges_[u] = {first, cols_.size()};
}

template <class T>
void FineRows<T>::bring_ghost_rows() {
  share_fine_points();
  const Couplings received = A_.exchange().forward_records([&] {
    append_local_rows();
    return outgoing(A_.exchange());
  });
  mpi::collectively(A_.comm(), [&] {
    for (std::size_t g = 0; g < received.size(); ++g) {
      append_row(A_.n_local() + static_cast<LocalIndex>(g), received[g]);
    }
  });
}

/// Ascending, each once.
template <class T>
std::vector<GlobalIndex> FineRows<T>::find_far_points() const {
  const LocalIndex known = A_.n_local() + A_.n_ghosts();
  std::vector<GlobalIndex> far;
  for (LocalIndex i = 0; i < A_.n_local(); ++i) {
    if (splitting_[static_cast<std::size_t>(i)] != coarsen::coarse) continue;
    for_each_entry(i, [&](LocalIndex j, T, bool is_near) {
      if (!is_near || j < A_.n_local()) return;
      for_each_entry(j, [&](LocalIndex k, T, bool is_far) {
        if (is_far && k >= known) far.push_back(points_.global(k));
      });
    });
  }
  std::sort(far.begin(), far.end());
  far.erase(std::unique(far.begin(), far.end()), far.end());
  return far;
}

template <class T>
void FineRows<T>::bring_far_rows() {
  std::vector<GlobalIndex> far;
  const comm::Requests requests = comm::exchange_requests(A_.rows(), [&] {
    far = find_far_points();
    return std::span<const GlobalIndex>(far);
  });
  const auto pattern =
      mpi::collectively(A_.comm(), [&] { return comm::make_pattern(A_.rows(), requests); });
  comm::Exchange exchange(A_.shared_comm(), comm::make_plan(A_.comm(), pattern, A_.route()));
  const Couplings received = exchange.forward_records([&] { return outgoing(exchange); });
  mpi::collectively(A_.comm(), [&] {
    for (std::size_t g = 0; g < received.size(); ++g) {
      append_row(points_.number(far[g]), received[g]);
    }
  });
}

template class FineRows<float>;
template class FineRows<double>;

}  // namespace nodewise::amg::restriction
