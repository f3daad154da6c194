#include "nodewise/amg/setup/level_matrix.hpp"

#include <memory>

#include "nodewise/matrix/block_matrix.hpp"

namespace nodewise::amg {

using matrix::DistMatrix;

template <class T>
LevelInfo describe(const DistMatrix<T>& A, const routing::LevelRoutes& routes) {
  LevelInfo info;
  info.rows = A.rows().n_global();
  info.nonzeros = A.nnz_global();
  info.routes = routes;
  info.traffic = comm::traffic(A.exchange().plan(), A.comm().topology(), A.comm().rank());
  info.max_messages = info.traffic.messages_on_node + info.traffic.messages_off_node;
  info.active_ranks = A.n_local() > 0 ? 1 : 0;
  return info;
}

template <class T>
int rows_of_a_point(const ProblemInfo<T>& knowledge, const Options& options) {
  if (knowledge.unknowns > 0) return knowledge.unknowns;
  return knowledge.level == 0 ? options.unknowns : 1;
}

template <class T>
MatrixPointer<T> in_blocks(const MatrixPointer<T>& A, int block, const Options& options) {
  if (options.smoother->blocks == relax::BlockUse::where_full) {
    return matrix::with_blocks_where_full<T>(A, block);
  }
  if (options.smoother->blocks != relax::BlockUse::always || block == 1) return A;
  if (A->blocks() != nullptr && A->blocks()->block() == block) return A;
  return std::make_shared<const DistMatrix<T>>(A->with_blocks(block));
}

#define NODEWISE_INSTANTIATE(T)                                                   \
  template LevelInfo describe(const DistMatrix<T>&, const routing::LevelRoutes&); \
  template int rows_of_a_point(const ProblemInfo<T>&, const Options&);            \
  template MatrixPointer<T> in_blocks(const MatrixPointer<T>&, int, const Options&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg
