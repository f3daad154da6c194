#include "nodewise/amg/cycle/coarse_gather.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

SubComm::SubComm(const mpi::Comm& comm, int color) {
  mpi::check(MPI_Comm_split(comm.get(), color < 0 ? MPI_UNDEFINED : color, comm.rank(), &comm_),
             "MPI_Comm_split");
}

SubComm::SubComm(SubComm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}

SubComm& SubComm::operator=(SubComm&& other) noexcept {
  std::swap(comm_, other.comm_);
  return *this;
}

SubComm::~SubComm() {
  if (!mpi::is_finalized() && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

namespace {

std::vector<int> holders_of_ranks(const mpi::Comm& comm, const CoarseSolveMethod& where) {
  std::vector<int> holder_of;
  for (int r = 0; r < comm.size(); ++r) holder_of.push_back((*where.holder)(comm.topology(), r));
  return holder_of;
}

/// Appends a number of rows to counts, and where they start to starts.
void append(int n, std::vector<int>& counts, std::vector<int>& starts) {
  starts.push_back(starts.empty() ? 0 : starts.back() + counts.back());
  counts.push_back(n);
}

}  // namespace

CoarseHolders::CoarseHolders(const comm::Layout& rows, const CoarseSolveMethod& where)
    : comm_(rows.comm()), where_(where), holder_of_(holders_of_ranks(comm_, where)) {
  place(rows);
}

void CoarseHolders::connect() {
  const int holder = holder_of_[static_cast<std::size_t>(comm_.rank())];
  if (where_.has_groups) group_ = SubComm(comm_, holder);
  if (where_.has_several_holders) {
    holders_ = SubComm(comm_, holder == comm_.rank() ? 0 : -1);
  }
}

void CoarseHolders::place(const comm::Layout& rows) {
  const int me = comm_.rank();
  for (int holder = 0; holder < comm_.size(); ++holder) {
    if (holder_of_[static_cast<std::size_t>(holder)] != holder) continue;
    const auto begin = static_cast<int>(order_.size());
    for (int r = 0; r < comm_.size(); ++r) {
      if (holder_of_[static_cast<std::size_t>(r)] != holder) continue;
      for (GlobalIndex i = rows.begin(r); i < rows.end(r); ++i) {
        order_.push_back(static_cast<int>(i - rows.first()));
      }
      if (holder_of_[static_cast<std::size_t>(me)] == holder) {
        append(static_cast<int>(rows.end(r) - rows.begin(r)), group_counts_, group_starts_);
      }
    }
    const auto n = static_cast<int>(order_.size()) - begin;
    append(n, holder_counts_, holder_starts_);
    if (holder != me) continue;
    first_held_ = begin;
    n_held_ = n;
  }
}

namespace {

/// The numbers of a row as one element, so that counts and places are of rows.
class RowType {
 public:
  RowType(MPI_Datatype number, int width) {
    mpi::check(MPI_Type_contiguous(width, number, &type_), "MPI_Type_contiguous");
    mpi::check(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~RowType() { MPI_Type_free(&type_); }
  RowType(const RowType&) = delete;
  RowType& operator=(const RowType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace

template <class T>
void CoarseHolders::gather(std::span<const T> mine, std::span<T> all, int width) const {
  const RowType row(mpi::datatype<T>(), width);
  const MPI_Datatype type = row.get();
  const int n_mine = static_cast<int>(mine.size()) / width;
  T* const held = all.data() + std::ptrdiff_t{first_held_} * width;
  if (group_.exists()) {
    const mpi::CollectiveCall call(comm_);
    mpi::check(MPI_Gatherv(mine.data(), n_mine, type, held, group_counts_.data(),
                           group_starts_.data(), type, 0, group_.get()),
               "MPI_Gatherv");
  }
  if (!holders_.exists()) return;
  const mpi::CollectiveCall call(comm_);
  const void* from = group_.exists() ? MPI_IN_PLACE : static_cast<const void*>(mine.data());
  mpi::check(MPI_Allgatherv(from, n_held_, type, all.data(), holder_counts_.data(),
                            holder_starts_.data(), type, holders_.get()),
             "MPI_Allgatherv");
}

template <class T>
void CoarseHolders::scatter(std::span<const T> held, std::span<T> mine, int width) const {
  if (!group_.exists()) {
    std::copy(held.begin(), held.end(), mine.begin());
    return;
  }
  const RowType row(mpi::datatype<T>(), width);
  const MPI_Datatype type = row.get();
  const mpi::CollectiveCall call(comm_);
  mpi::check(
      MPI_Scatterv(held.data(), group_counts_.data(), group_starts_.data(), type, mine.data(),
                   static_cast<int>(mine.size()) / width, type, 0, group_.get()),
      "MPI_Scatterv");
}

#define NODEWISE_INSTANTIATE(T)                                                     \
  template void CoarseHolders::gather(std::span<const T>, std::span<T>, int) const; \
  template void CoarseHolders::scatter(std::span<const T>, std::span<T>, int) const;
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

const CoarseSolveMethod& every_rank_coarse_solve() {
  static const CoarseSolveMethod method = {
      {"every_rank", "each rank holds its own rows of the inverse: one gathering", ""},
      {.holder = [](const mpi::Topology&, int r) { return r; },
       .has_groups = false,
       .has_several_holders = true,
       .has_factors = false,
       .place = ""}};
  return method;
}

const CoarseSolveMethod& every_node_coarse_solve() {
  static const CoarseSolveMethod method = {
      {"every_node", "a rank of each node for all of it: fewer messages between nodes", ""},
      {.holder = [](const mpi::Topology& topology,
                    int r) { return topology.ranks_on(topology.node(r)).front(); },
       .has_groups = true,
       .has_several_holders = true,
       .has_factors = false,
       .place = " on every node"}};
  return method;
}

const CoarseSolveMethod& one_rank_coarse_solve() {
  static const CoarseSolveMethod method = {{"one_rank", "rank 0 for all ranks", ""},
                                           {.holder = [](const mpi::Topology&, int) { return 0; },
                                            .has_groups = true,
                                            .has_several_holders = false,
                                            .has_factors = false,
                                            .place = " on one rank"}};
  return method;
}

const CoarseSolveMethod& relaxation_coarse_solve() {
  static const CoarseSolveMethod method = {{"relaxation", "the last level is smoothed instead", ""},
                                           {.holder = nullptr,
                                            .has_groups = false,
                                            .has_several_holders = false,
                                            .has_factors = false,
                                            .place = ""}};
  return method;
}

}  // namespace nodewise::amg
