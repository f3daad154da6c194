#include "nodewise/offload/coarse_points.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace nodewise::offload {

namespace {

template <class Space>
device::Buffer<std::uint8_t, Space> strength_of(const Workplace<Space>& at, const DistCsr<Space>& A,
                                                const DependenceRules& rules) {
  return device::strong_dependences(*at.primitives, A.local, rules.threshold, rules.max_row_sum,
                                    rules.absolute);
}

/// Collective. Adds what is counted of ghosts to the counts of their owners.
template <class Space>
void add_to_owners(const Workplace<Space>& at, const DistCsr<Space>& A,
                   device::Buffer<LocalIndex, Space>& counts) {
  const mpi::Comm& comm = A.rows.comm();
  if (comm.size() == 1) return;
  const auto n = static_cast<std::size_t>(A.local.n_rows);
  std::vector<LocalIndex> all, added;
  at.together(comm, [&] {
    all.resize(counts.size());
    added.assign(n, 0);
    counts.get(at.queue(), std::span<LocalIndex>(all));
  });
  A.outline->exchange().reverse_add(std::span<const LocalIndex>(all).subspan(n),
                                    std::span<LocalIndex>(added));
  at.together(comm, [&] {
    const device::Buffer<LocalIndex, Space> here(at.queue(), std::span<const LocalIndex>(added));
    device::add_counts(at.queue(), A.local.n_rows, here.data(), counts.data());
  });
}

/// Local. The numbers of A's ghosts among all rows.
template <class Space>
device::Buffer<GlobalIndex, Space> names_of_ghosts(const Workplace<Space>& at,
                                                   const DistCsr<Space>& A) {
  std::vector<GlobalIndex> names = A.ghosts;
  for (GlobalIndex& name : names) name -= A.rows.first();
  return {at.queue(), std::span<const GlobalIndex>(names)};
}

/// Local. The coarse points among the ghosts of a level, ascending.
template <class Space>
std::vector<GlobalIndex> coarse_ghosts(const Workplace<Space>& at, const DistCsr<Space>& A,
                                       const CoarsePoints<Space>& points) {
  if (A.ghosts.empty()) return {};
  std::vector<GlobalIndex> numbers(A.ghosts.size());
  at.queue().copy_out(numbers.data(), points.numbers.data() + A.local.n_rows,
                      numbers.size() * sizeof(GlobalIndex));
  at.queue().wait();
  std::erase_if(numbers, [](GlobalIndex c) { return c < 0; });
  return numbers;
}

/// The steps of interpolation().
template <class Space>
class Interpolation {
 public:
  Interpolation(const Workplace<Space>& at, const DistCsr<Space>& A,
                const CoarsePoints<Space>& points, const device::InterpolationRules& rules)
      : at_(at), A_(A), points_(points), coarse_(points.layout), rules_(rules) {}

  /// Local. Links of this rank's points, without those of ghosts.
  void find_links(const DependenceRules& dependences) {
    strong_ = strength_of(at_, A_, dependences);
    numbers_ = device::Buffer<LocalIndex, Space>(points_.numbers.size());
    diagonals_ = device::Buffer<double, Space>(points_.numbers.size());
    device::read_diagonal(at_.queue(), A_.local, diagonals_.data());
    ghosts_ = coarse_ghosts(at_, A_, points_);
    number_points();
    auto links = device::coarse_links(*at_.primitives, A_.local, strong_, numbers_.data(),
                                      n_columns(), rules_);
    links_.rows = std::move(links.rows);
    links_.strong = std::move(links.strong);
  }
  double* diagonals() { return diagonals_.data(); }

  /// Collective, on several ranks. Those of the ghosts behind them.
  void fetch_links() {
    DistCsr<Space> own = {A_.rows, coarse_, std::move(ghosts_), std::move(links_.rows)};
    WithGhostRows<Space> all = with_ghost_rows(at_, A_, own, &links_.strong);
    links_.rows = std::move(all.rows);
    links_.strong = std::move(all.marks);
    ghosts_ = std::move(all.ghosts);
  }

  /// Local.
  DistCsr<Space> run() {
    number_points();  // among the ghosts of all links
    rules_.n_owned = coarse_.n_local();
    rules_.n_lower = static_cast<LocalIndex>(
        std::lower_bound(ghosts_.begin(), ghosts_.end(), coarse_.begin()) - ghosts_.begin());
    DistCsr<Space> P = {A_.rows, coarse_, std::move(ghosts_),
                        device::extended_i(*at_.primitives, A_.local, strong_,
                                           {numbers_.data(), diagonals_.data()}, links_, rules_)};
    drop_unused_ghosts(at_.queue(), P);
    return P;
  }

 private:
  LocalIndex n_columns() const {
    return narrow<LocalIndex>(coarse_.n_local() + static_cast<GlobalIndex>(ghosts_.size()),
                              "coarse points with those of other ranks:");
  }
  void number_points() {
    const device::Buffer<GlobalIndex, Space> ghosts(at_.queue(),
                                                    std::span<const GlobalIndex>(ghosts_));
    device::local_numbers(at_.queue(), static_cast<LocalIndex>(numbers_.size()),
                          points_.numbers.data(), coarse_.begin(), coarse_.n_local(), ghosts.data(),
                          static_cast<LocalIndex>(ghosts_.size()), numbers_.data());
  }

  const Workplace<Space>& at_;
  const DistCsr<Space>& A_;
  const CoarsePoints<Space>& points_;
  const comm::Layout& coarse_;
  device::InterpolationRules rules_;
  device::Buffer<std::uint8_t, Space> strong_;
  device::Buffer<LocalIndex, Space> numbers_;
  device::Buffer<double, Space> diagonals_;
  std::vector<GlobalIndex> ghosts_;  // of the columns of the links
  device::CoarseLinks<Space> links_;
};

}  // namespace

template <class Space>
CoarsePoints<Space> find_coarse_points(const Workplace<Space>& at, const DistCsr<Space>& A,
                                       const Halo<double, Space>& halo,
                                       const DependenceRules& rules, int seed) {
  const mpi::Comm& comm = A.rows.comm();
  device::Buffer<GlobalIndex, Space> names;
  const auto steps = at.together(comm, [&] {
    names = names_of_ghosts(at, A);
    return std::make_unique<device::PmisSteps<Space>>(
        *at.primitives, A.local, strength_of(at, A, rules), seed, A.rows.begin() - A.rows.first(),
        names.data());
  });
  add_to_owners(at, A, steps->dependants());
  at.card->local([&] { steps->weigh(); });
  halo.fill(steps->weights());
  const auto undecided = [&] { return std::array<std::int64_t, 1>{steps->count_undecided()}; };
  while (at.sums(comm, undecided)[0] > 0) {
    halo.fill(steps->states());
    at.card->local([&] { steps->decide(); });
  }
  const LocalIndex n_coarse = at.together(comm, [&] { return steps->count_coarse(); });
  auto layout = comm::Layout::from_local_size(A.rows.shared_comm(), n_coarse);
  at.card->local([&] { steps->number(layout.begin()); });
  halo.fill(steps->numbers());
  return {std::move(layout), at.together(comm, [&] { return steps->take(); })};
}

template <class Space>
DistCsr<Space> interpolation(const Workplace<Space>& at, const DistCsr<Space>& A,
                             const Halo<double, Space>& halo, const CoarsePoints<Space>& points,
                             const DependenceRules& dependences, device::InterpolationRules rules) {
  const mpi::Comm& comm = A.rows.comm();
  Interpolation<Space> steps(at, A, points, rules);
  at.together(comm, [&] { steps.find_links(dependences); });
  halo.fill(steps.diagonals());
  if (comm.size() > 1) steps.fetch_links();
  return at.together(comm, [&] { return steps.run(); });
}

#define NODEWISE_FOR_SPACE(Space)                                                                 \
  template CoarsePoints<Space> find_coarse_points(const Workplace<Space>&, const DistCsr<Space>&, \
                                                  const Halo<double, Space>&,                     \
                                                  const DependenceRules&, int);                   \
  template DistCsr<Space> interpolation(const Workplace<Space>&, const DistCsr<Space>&,           \
                                        const Halo<double, Space>&, const CoarsePoints<Space>&,   \
                                        const DependenceRules&, device::InterpolationRules);
NODEWISE_FOR_SPACE(device::Host)
#ifdef NODEWISE_CUDA
NODEWISE_FOR_SPACE(device::Cuda)
#endif
#undef NODEWISE_FOR_SPACE

}  // namespace nodewise::offload
