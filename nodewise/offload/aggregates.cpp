#include "nodewise/offload/aggregates.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "nodewise/device/aggregates.hpp"
#include "nodewise/device/coarse_rows.hpp"
#include "nodewise/device/prolongator.hpp"

namespace nodewise::offload {

namespace {

template <class Space>
std::unique_ptr<device::AggregateSteps<Space>> make_steps(const Workplace<Space>& at,
                                                          const DistCsr<Space>& A,
                                                          const Halo<double, Space>& halo,
                                                          const SetRules& rules) {
  const mpi::Comm& comm = A.rows.comm();
  device::Buffer<double, Space> roots;
  if (rules.threshold != 0) {
    at.together(comm, [&] {
      roots = device::Buffer<double, Space>(static_cast<std::size_t>(A.local.n_cols));
      device::diagonal_roots(at.queue(), A.local, roots.data());
    });
    halo.fill(roots.data());
  }
  return at.together(comm, [&] {
    return std::make_unique<device::AggregateSteps<Space>>(
        *at.primitives, A.local,
        device::strong_entries(at.queue(), A.local, roots.data(), rules.threshold), rules.distance,
        rules.seed, A.rows.begin() - A.rows.first());
  });
}

/// The aggregates of other ranks that have members here, ascending.
template <class Space>
std::vector<GlobalIndex> ghost_aggregates(const Workplace<Space>& at, LocalIndex n,
                                          const Aggregates<Space>& aggregates) {
  if (aggregates.layout.comm().size() == 1) return {};
  const auto found =
      device::aggregates_of_others(*at.primitives, n, aggregates.of_point.data(),
                                   aggregates.layout.begin(), aggregates.layout.n_local());
  std::vector<GlobalIndex> ghosts(found.size());
  found.get(at.queue(), std::span<GlobalIndex>(ghosts));
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  return ghosts;
}

/// Local. The prolongator with the numbers of the vector.
template <class Space>
DistCsr<Space> members_of(const Workplace<Space>& at, const comm::Layout& rows,
                          const Aggregates<Space>& aggregates, const double* vector) {
  const comm::Layout& layout = aggregates.layout;
  DistCsr<Space> P = {rows, layout, ghost_aggregates(at, rows.n_local(), aggregates), {}};
  const auto n_ghosts = narrow<LocalIndex>(P.ghosts.size(), "aggregates of other ranks:");
  const device::Buffer<GlobalIndex, Space> ghosts(at.queue(),
                                                  std::span<const GlobalIndex>(P.ghosts));
  device::Buffer<LocalIndex, Space> columns(static_cast<std::size_t>(rows.n_local()));
  device::local_numbers(at.queue(), rows.n_local(), aggregates.of_point.data(), layout.begin(),
                        layout.n_local(), ghosts.data(), n_ghosts, columns.data());
  P.local = device::members_matrix(
      *at.primitives, columns,
      narrow<LocalIndex>(GlobalIndex{layout.n_local()} + n_ghosts, "columns of a prolongator:"),
      vector);
  return P;
}

}  // namespace

template <class Space>
Aggregates<Space> find_aggregates(const Workplace<Space>& at, const DistCsr<Space>& A,
                                  const Halo<double, Space>& halo, const SetRules& rules) {
  const mpi::Comm& comm = A.rows.comm();
  const auto steps = make_steps(at, A, halo, rules);
  const auto undecided = [&] { return std::array<std::int64_t, 1>{steps->count_undecided()}; };
  while (at.sums(comm, undecided)[0] > 0) {
    for (int step = 0; step < rules.distance; ++step) {
      halo.fill(steps->keys(step));
      at.card->local([&] { steps->spread(step); });
    }
    at.card->local([&] { steps->decide(); });
  }
  const LocalIndex n_roots = at.together(comm, [&] { return steps->count_roots(); });
  auto layout = comm::Layout::from_local_size(A.rows.shared_comm(), n_roots);
  at.card->local([&] { steps->number_roots(layout.begin()); });
  for (int round = 0; round < rules.distance; ++round) {
    halo.fill(steps->of_point());
    at.card->local([&] { steps->join(); });
  }
  return {std::move(layout), at.together(comm, [&] { return steps->take(); })};
}

template <class Space>
Tentative<Space> tentative_prolongator(const Workplace<Space>& at, const comm::Layout& rows,
                                       const Aggregates<Space>& aggregates, const double* vector) {
  const mpi::Comm& comm = rows.comm();
  Tentative<Space> made = {
      at.together(comm, [&] { return members_of(at, rows, aggregates, vector); }), {}};
  DistCsr<Space>& P = made.P;
  give_outline(P, OutlineRows::none);
  const DistCsr<Space> members = transpose(at, P);
  at.together(comm, [&] {
    made.coarse_vector = device::Buffer<double, Space>(static_cast<std::size_t>(P.local.n_cols));
    device::lengths_of_rows(at.queue(), members.local, made.coarse_vector.data());
  });
  Halo<double, Space>(*at.card, *P.outline, at.leaving).fill(made.coarse_vector.data());
  at.card->local(
      [&] { device::divide_by_lengths(at.queue(), made.coarse_vector.data(), P.local); });
  return made;
}

#define NODEWISE_FOR_SPACE(Space)                                                               \
  template Aggregates<Space> find_aggregates(const Workplace<Space>&, const DistCsr<Space>&,    \
                                             const Halo<double, Space>&, const SetRules&);      \
  template Tentative<Space> tentative_prolongator(const Workplace<Space>&, const comm::Layout&, \
                                                  const Aggregates<Space>&, const double*);
NODEWISE_FOR_SPACE(device::Host)
#ifdef NODEWISE_CUDA
NODEWISE_FOR_SPACE(device::Cuda)
#endif
#undef NODEWISE_FOR_SPACE

}  // namespace nodewise::offload
