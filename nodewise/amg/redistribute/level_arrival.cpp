#include "nodewise/amg/redistribute/level_arrival.hpp"

#include <utility>
#include <vector>

#include "nodewise/amg/redistribute/move_level.hpp"
#include "nodewise/amg/redistribute/move_method.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

using matrix::DistMatrix;

template <class T>
std::shared_ptr<const DistMatrix<T>> move_next_matrix(GridTransfer<T>& transfer,
                                                      const std::shared_ptr<const DistMatrix<T>>& A,
                                                      const comm::RowMove& move) {
  const mpi::Scope scope(A->comm(), "redistribution");
  std::vector<LocalIndex> of_P = std::exchange(transfer.empty_columns, {});
  move_knowledge(transfer, move);
  transfer.empty_columns = std::move(of_P);
  move_sizes(transfer, move);
  transfer.before_move = A;
  return std::make_shared<const DistMatrix<T>>(matrix::redistribute(*A, move));
}

template <class T>
std::shared_ptr<const DistMatrix<T>> move_next_matrix_again(GridTransfer<T>& transfer,
                                                            const DistMatrix<T>& A,
                                                            const std::optional<Error>& failure) {
  const mpi::Scope scope(A.comm(), "redistribution");
  mpi::agree(A.comm(), failure);
  move_sizes(transfer, *transfer.move);
  return std::make_shared<const DistMatrix<T>>(matrix::redistribute(A, *transfer.move));
}

template <class T>
std::shared_ptr<const DistMatrix<T>> prolongation_from_next(const GridTransfer<T>& transfer) {
  if (!transfer.before_move) return transfer.P;
  return std::make_shared<const DistMatrix<T>>(
      matrix::with_moved_columns(*transfer.P, *transfer.move));
}

#define NODEWISE_INSTANTIATE(T)                                                             \
  template std::shared_ptr<const DistMatrix<T>> move_next_matrix(                           \
      GridTransfer<T>&, const std::shared_ptr<const DistMatrix<T>>&, const comm::RowMove&); \
  template std::shared_ptr<const DistMatrix<T>> move_next_matrix_again(                     \
      GridTransfer<T>&, const DistMatrix<T>&, const std::optional<Error>&);                 \
  template std::shared_ptr<const DistMatrix<T>> prolongation_from_next(const GridTransfer<T>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

const MoveMethod& collective_move() {
  static const MoveMethod method = {{"collective",
                                     "right-hand sides are gathered from the ranks that computed "
                                     "the level, corrections scattered "
                                     "to them, in every cycle",
                                     "Gahvari, Gropp, Jordan, Schulz, Yang 2014, section 6.1"},
                                    true};
  return method;
}

}  // namespace nodewise::amg
