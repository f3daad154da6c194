#include "nodewise/amg/redistribute/active_ranks.hpp"

#include <algorithm>
#include <utility>

namespace nodewise::amg {

using matrix::DistMatrix;

bool has_idle_ranks(const comm::Layout& rows) {
  bool has_active = false, has_idle = false;
  for (int r = 0; r < rows.comm().size(); ++r) {
    (rows.begin(r) < rows.end(r) ? has_active : has_idle) = true;
  }
  return has_active && has_idle;
}

ActiveRanks make_active_ranks(const comm::Layout& rows) {
  ActiveRanks active{nullptr, rows, {}};
  for (int r = 0; r < rows.comm().size(); ++r) {
    if (rows.begin(r) < rows.end(r)) active.ranks.push_back(r);
  }
  if (rows.n_local() > 0) active.comm = mpi::Comm::subset(rows.shared_comm(), active.ranks);
  return active;
}

template <class T>
std::shared_ptr<const DistMatrix<T>> on_active_ranks(const DistMatrix<T>& A,
                                                     const ActiveRanks& active) {
  std::vector<GlobalIndex> starts;
  std::vector<int> number(static_cast<std::size_t>(A.comm().size()), -1);
  for (std::size_t k = 0; k < active.ranks.size(); ++k) {
    starts.push_back(active.above.begin(active.ranks[k]));
    number[static_cast<std::size_t>(active.ranks[k])] = static_cast<int>(k);
  }
  starts.push_back(active.above.last());
  const comm::Layout rows(active.comm, std::move(starts));
  return std::make_shared<const DistMatrix<T>>(A.with_comm(rows, rows, number));
}

template <class T>
std::shared_ptr<const DistMatrix<T>> seen_by(const std::shared_ptr<const DistMatrix<T>>& M,
                                             const comm::Layout& rows, const comm::Layout& cols,
                                             std::span<const int> ranks, GlobalIndex nonzeros) {
  return std::make_shared<const DistMatrix<T>>(
      M ? M->with_comm(rows, cols, ranks) : DistMatrix<T>::without_rows(rows, cols, nonzeros));
}

#define NODEWISE_INSTANTIATE(T)                                                              \
  template std::shared_ptr<const DistMatrix<T>> on_active_ranks(const DistMatrix<T>&,        \
                                                                const ActiveRanks&);         \
  template std::shared_ptr<const DistMatrix<T>> seen_by(                                     \
      const std::shared_ptr<const DistMatrix<T>>&, const comm::Layout&, const comm::Layout&, \
      std::span<const int>, GlobalIndex);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg
