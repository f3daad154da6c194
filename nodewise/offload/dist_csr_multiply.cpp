// Products of distributed matrices on devices, and the rows of other ranks that these need.
#include <algorithm>
#include <iterator>
#include <utility>

#include "nodewise/device/spgemm.hpp"
#include "nodewise/offload/dist_csr.hpp"
#include "nodewise/offload/records.hpp"

namespace nodewise::offload {

namespace {

/// The ghosts, and those of the names that are of other ranks: ascending, each once.
std::vector<GlobalIndex> united(std::span<const GlobalIndex> ghosts,
                                std::span<const GlobalIndex> names, const comm::Layout& cols) {
  std::vector<GlobalIndex> all(ghosts.begin(), ghosts.end());
  std::copy_if(names.begin(), names.end(), std::back_inserter(all),
               [&](GlobalIndex name) { return !cols.owns(name); });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Of each name its place in a list that ascends and has it.
std::vector<LocalIndex> places_in(std::span<const GlobalIndex> list,
                                  std::span<const GlobalIndex> names) {
  std::vector<LocalIndex> places;
  places.reserve(names.size());
  for (const GlobalIndex name : names) {
    places.push_back(
        static_cast<LocalIndex>(std::lower_bound(list.begin(), list.end(), name) - list.begin()));
  }
  return places;
}

/// Brings the rows of B for the ghosts of A. Their columns are sorted out on the host: they are
/// those of a boundary.
template <class Space>
class RowFetch {
 public:
  RowFetch(const Workplace<Space>& at, const DistCsr<Space>& A, const DistCsr<Space>& B,
           const device::Buffer<std::uint8_t, Space>* marks)
      : at_(at),
        B_(B),
        marks_(marks),
        comm_(A.rows.comm()),
        begins_(at.together(comm_, [&] { return begins_of_B(); })),
        carrier_(*at.card, A.rows.shared_comm(), at.leaving, A.outline->exchange().plan(), begins_,
                 A.outline->route(), A.outline->transport(), sizeof(GlobalIndex)),
        n_arriving_(carrier_.ghost_offsets().back()) {}

  WithGhostRows<Space> run() {
    WithGhostRows<Space> all;
    device::Buffer<GlobalIndex, Space> names, arrived;
    at_.together(comm_, [&] {
      all.rows = rows_with_room();
      if (marks_ != nullptr) {
        all.marks = device::Buffer<std::uint8_t, Space>(static_cast<std::size_t>(all.rows.nnz));
      }
      names = device::Buffer<GlobalIndex, Space>(static_cast<std::size_t>(B_.local.nnz));
      arrived = device::Buffer<GlobalIndex, Space>(static_cast<std::size_t>(n_arriving_));
      const device::Buffer<GlobalIndex, Space> ghosts(at_.queue(), std::span(B_.ghosts));
      device::name_columns(at_.queue(), B_.local.nnz, B_.local.cols.data(),
                           {B_.cols.begin(), B_.cols.n_local(), ghosts.data()}, names.data());
    });
    carry(names.data(), arrived.data());
    carry(B_.local.vals.data(), all.rows.vals.data() + B_.local.nnz);
    if (marks_ != nullptr) carry(marks_->data(), all.marks.data() + B_.local.nnz);
    at_.together(comm_, [&] {
      std::vector<GlobalIndex> names_here(arrived.size());
      arrived.get(at_.queue(), std::span<GlobalIndex>(names_here));
      all.ghosts = united(B_.ghosts, names_here, B_.cols);
      place_columns(all, names_here);
      const auto n_own = static_cast<std::size_t>(B_.local.nnz);
      at_.queue().copy_within(all.rows.vals.data(), B_.local.vals.data(), n_own * sizeof(double));
      if (marks_ != nullptr) at_.queue().copy_within(all.marks.data(), marks_->data(), n_own);
    });
    return all;
  }

 private:
  std::vector<Offset> begins_of_B() const {
    std::vector<Offset> begins(static_cast<std::size_t>(B_.local.n_rows) + 1);
    B_.local.begins.get(at_.queue(), std::span<Offset>(begins));
    return begins;
  }

  device::CsrMatrix<double, Space> rows_with_room() const {
    std::vector<Offset> begins = begins_;
    const auto of_ghosts = carrier_.ghost_offsets();
    for (std::size_t g = 1; g < of_ghosts.size(); ++g) {
      begins.push_back(B_.local.nnz + of_ghosts[g]);
    }
    const auto n_rows = narrow<LocalIndex>(begins.size() - 1, "rows with those of ghosts:");
    return {n_rows, 0, device::Buffer<Offset, Space>(at_.queue(), std::span<const Offset>(begins)),
            B_.local.nnz + n_arriving_};
  }

  template <class Item>
  void carry(const Item* owned, Item* ghosts) {
    carrier_.forward(reinterpret_cast<const std::byte*>(owned),
                     reinterpret_cast<std::byte*>(ghosts), sizeof(Item));
  }

  void place_columns(WithGhostRows<Space>& all, std::span<const GlobalIndex> names) const {
    const LocalIndex n_owned = B_.cols.n_local();
    all.rows.n_cols = narrow<LocalIndex>(n_owned + static_cast<GlobalIndex>(all.ghosts.size()),
                                         "columns with those of ghost rows:");
    const device::Buffer<LocalIndex, Space> numbers(
        at_.queue(), std::span<const LocalIndex>(places_in(all.ghosts, B_.ghosts)));
    LocalIndex* const cols = all.rows.cols.data();
    device::renumber_ghosts(at_.queue(), B_.local.nnz, n_owned, numbers.data(),
                            B_.local.cols.data(), cols);
    std::vector<LocalIndex> of_arrived = places_in(all.ghosts, names);
    for (std::size_t k = 0; k < names.size(); ++k) {
      of_arrived[k] = B_.cols.owns(names[k]) ? B_.cols.to_local(names[k]) : n_owned + of_arrived[k];
    }
    at_.queue().copy_in(cols + B_.local.nnz, of_arrived.data(),
                        of_arrived.size() * sizeof(LocalIndex));
    at_.queue().wait();
  }

  const Workplace<Space>& at_;
  const DistCsr<Space>& B_;
  const device::Buffer<std::uint8_t, Space>* marks_;
  const mpi::Comm& comm_;
  std::vector<Offset> begins_;  // of the rows of B
  RecordCarrier<Space> carrier_;
  Offset n_arriving_;
};

}  // namespace

template <class Space>
WithGhostRows<Space> with_ghost_rows(const Workplace<Space>& at, const DistCsr<Space>& A,
                                     const DistCsr<Space>& B,
                                     const device::Buffer<std::uint8_t, Space>* marks) {
  return RowFetch<Space>(at, A, B, marks).run();
}

template <class Space>
void drop_unused_ghosts(device::Queue<Space>& queue, DistCsr<Space>& A) {
  if (A.ghosts.empty()) return;
  std::vector<LocalIndex> counts(A.ghosts.size());
  device::Buffer<LocalIndex, Space> buffer(counts.size());
  queue.clear(buffer.data(), buffer.bytes());
  const LocalIndex n_owned = A.cols.n_local();
  LocalIndex* const cols = A.local.cols.data();
  device::count_ghosts(queue, A.local.nnz, n_owned, cols, buffer.data());
  buffer.get(queue, std::span<LocalIndex>(counts));
  if (std::find(counts.begin(), counts.end(), 0) == counts.end()) return;
  std::vector<GlobalIndex> left;
  for (std::size_t g = 0; g < counts.size(); ++g) {
    const bool is_used = counts[g] > 0;
    counts[g] = static_cast<LocalIndex>(left.size());  // its number from now on
    if (is_used) left.push_back(A.ghosts[g]);
  }
  buffer.put(queue, std::span<const LocalIndex>(counts));
  device::renumber_ghosts(queue, A.local.nnz, n_owned, buffer.data(), cols, cols);
  A.local.n_cols = n_owned + static_cast<LocalIndex>(left.size());
  A.ghosts = std::move(left);
}

template <class Space>
DistCsr<Space> multiply(const Workplace<Space>& at, const DistCsr<Space>& A,
                        const DistCsr<Space>& B) {
  const mpi::Comm& comm = A.rows.comm();
  if (comm.size() == 1) {
    return {A.rows, B.cols, {}, device::multiply(*at.primitives, A.local, B.local)};
  }
  WithGhostRows<Space> all = with_ghost_rows(at, A, B);
  return at.together(comm, [&] {
    DistCsr<Space> C = {A.rows, B.cols, std::move(all.ghosts),
                        device::multiply(*at.primitives, A.local, all.rows)};
    drop_unused_ghosts(at.queue(), C);
    return C;
  });
}

#define NODEWISE_FOR_SPACE(Space)                                                               \
  template WithGhostRows<Space> with_ghost_rows(const Workplace<Space>&, const DistCsr<Space>&, \
                                                const DistCsr<Space>&,                          \
                                                const device::Buffer<std::uint8_t, Space>*);    \
  template void drop_unused_ghosts(device::Queue<Space>&, DistCsr<Space>&);                     \
  template DistCsr<Space> multiply(const Workplace<Space>&, const DistCsr<Space>&,              \
                                   const DistCsr<Space>&);
NODEWISE_FOR_SPACE(device::Host)
#ifdef NODEWISE_CUDA
NODEWISE_FOR_SPACE(device::Cuda)
#endif
#undef NODEWISE_FOR_SPACE

}  // namespace nodewise::offload
