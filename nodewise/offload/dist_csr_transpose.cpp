// Transposes of distributed matrices on devices.
#include <algorithm>
#include <numeric>
#include <utility>

#include "nodewise/comm/route/direct.hpp"
#include "nodewise/offload/dist_csr.hpp"
#include "nodewise/offload/records.hpp"

namespace nodewise::offload {

namespace {

/// Ghosts go to where they are owned: entry g of the result is ghost g of the pattern.
comm::Pattern reversed(const comm::Pattern& pattern) {
  comm::Pattern back;
  back.n_owned = pattern.n_ghosts;
  back.n_ghosts = pattern.send_offsets.back();
  back.send_ranks = pattern.recv_ranks;
  back.send_offsets = pattern.recv_offsets;
  back.send_entries.resize(static_cast<std::size_t>(pattern.n_ghosts));
  std::iota(back.send_entries.begin(), back.send_entries.end(), 0);
  back.recv_ranks = pattern.send_ranks;
  back.recv_offsets = pattern.send_offsets;
  return back;
}

/// What came from other ranks, row by row, each in the order in which it came.
struct Arrived {
  kernels::Csr<double> places;  ///< without values
  std::vector<Offset> from;     ///< where entry k is in what came
  std::vector<GlobalIndex> ghosts;
};

/// Record r, of the names begins[r] .. begins[r + 1], belongs to row rows[r].
Arrived sorted_by_rows(LocalIndex n_rows, std::span<const LocalIndex> rows,
                       std::span<const Offset> begins, std::span<const GlobalIndex> names) {
  Arrived arrived;
  arrived.ghosts.assign(names.begin(), names.end());
  std::sort(arrived.ghosts.begin(), arrived.ghosts.end());
  arrived.ghosts.erase(std::unique(arrived.ghosts.begin(), arrived.ghosts.end()),
                       arrived.ghosts.end());
  arrived.places = {n_rows, narrow<LocalIndex>(arrived.ghosts.size(), "ghosts of a transpose:")};
  Offset* const row_begins = arrived.places.row_ptr.data();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    row_begins[rows[r] + 1] += begins[r + 1] - begins[r];
  }
  std::partial_sum(row_begins, row_begins + n_rows + 1, row_begins);
  std::vector<Offset> next(row_begins, row_begins + n_rows);
  arrived.from.resize(names.size());
  arrived.places.cols.resize(names.size());
  arrived.places.vals.resize(names.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (Offset k = begins[r]; k < begins[r + 1]; ++k) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(rows[r])]++);
      arrived.from[at] = k;
      const GlobalIndex name = names[static_cast<std::size_t>(k)];
      arrived.places.cols.data()[at] = static_cast<LocalIndex>(
          std::lower_bound(arrived.ghosts.begin(), arrived.ghosts.end(), name) -
          arrived.ghosts.begin());
    }
  }
  return arrived;
}

/// The rows of a transpose that belong to other ranks, on their way there.
template <class Space>
class RowReturn {
 public:
  /// `T` has the rows for P's own columns, then those for its ghosts.
  RowReturn(const Workplace<Space>& at, const DistCsr<Space>& P,
            const device::CsrMatrix<double, Space>& T)
      : at_(at), P_(P), T_(T), comm_(P.rows.comm()), pattern_(at.together(comm_, [&] {
          return comm::route::pattern_of(P.outline->exchange().plan());
        })) {
    const comm::Pattern back = at.together(comm_, [&] {
      find_offsets();
      return reversed(pattern_);
    });
    const comm::Plan plan = comm::make_plan(comm_, back, at.route);
    carrier_.emplace(*at.card, P.rows.shared_comm(), at.leaving, plan, offsets_, at.route,
                     at.transport, sizeof(GlobalIndex));
  }

  DistCsr<Space> run() {
    device::Buffer<GlobalIndex, Space> names, arrived_names;
    device::Buffer<double, Space> arrived_vals;
    const Offset n_sent = T_.nnz - first_;
    const Offset n_arriving = carrier_->ghost_offsets().back();
    at_.together(comm_, [&] {
      names = device::Buffer<GlobalIndex, Space>(static_cast<std::size_t>(n_sent));
      arrived_names = device::Buffer<GlobalIndex, Space>(static_cast<std::size_t>(n_arriving));
      arrived_vals = device::Buffer<double, Space>(static_cast<std::size_t>(n_arriving));
      device::name_columns(at_.queue(), n_sent, T_.cols.data() + first_,
                           {P_.rows.begin(), P_.rows.n_local(), nullptr}, names.data());
    });
    carry(names.data(), arrived_names.data());
    carry(T_.vals.data() + first_, arrived_vals.data());
    return at_.together(comm_, [&] { return put_together(arrived_names, arrived_vals); });
  }

 private:
  void find_offsets() {
    const auto n_owned = static_cast<std::size_t>(P_.cols.n_local());
    std::vector<Offset> begins(static_cast<std::size_t>(T_.n_rows) + 1);
    T_.begins.get(at_.queue(), std::span<Offset>(begins));
    first_ = begins[n_owned];
    for (std::size_t i = n_owned; i < begins.size(); ++i) offsets_.push_back(begins[i] - first_);
  }

  template <class Item>
  void carry(const Item* owned, Item* ghosts) {
    carrier_->forward(reinterpret_cast<const std::byte*>(owned),
                      reinterpret_cast<std::byte*>(ghosts), sizeof(Item));
  }

  DistCsr<Space> put_together(const device::Buffer<GlobalIndex, Space>& names,
                              const device::Buffer<double, Space>& vals) const {
    std::vector<GlobalIndex> names_here(names.size());
    names.get(at_.queue(), std::span<GlobalIndex>(names_here));
    const LocalIndex n_rows = P_.cols.n_local();
    Arrived arrived =
        sorted_by_rows(n_rows, pattern_.send_entries, carrier_->ghost_offsets(), names_here);
    auto right = device::upload<double, Space>(at_.queue(), arrived.places);
    const device::Buffer<Offset, Space> from(at_.queue(), std::span<const Offset>(arrived.from));
    device::take(at_.queue(), right.nnz, from.data(), vals.data(), right.vals.data());
    return {P_.cols, P_.rows, std::move(arrived.ghosts),
            device::beside(*at_.primitives, n_rows, T_, right)};
  }

  const Workplace<Space>& at_;
  const DistCsr<Space>& P_;
  const device::CsrMatrix<double, Space>& T_;
  const mpi::Comm& comm_;
  comm::Pattern pattern_;
  std::vector<Offset> offsets_;  // of the records of P's ghosts
  Offset first_ = 0;             // where these begin in T
  std::optional<RecordCarrier<Space>> carrier_;
};

}  // namespace

template <class Space>
DistCsr<Space> transpose(const Workplace<Space>& at, const DistCsr<Space>& P) {
  const mpi::Comm& comm = P.rows.comm();
  auto T = at.together(comm, [&] { return device::transpose(*at.primitives, P.local); });
  if (comm.size() == 1) return {P.cols, P.rows, {}, std::move(T)};
  return RowReturn<Space>(at, P, T).run();
}

template DistCsr<device::Host> transpose(const Workplace<device::Host>&,
                                         const DistCsr<device::Host>&);
#ifdef NODEWISE_CUDA
template DistCsr<device::Cuda> transpose(const Workplace<device::Cuda>&,
                                         const DistCsr<device::Cuda>&);
#endif

}  // namespace nodewise::offload
