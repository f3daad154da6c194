#include "nodewise/offload/dist_csr.hpp"

#include "nodewise/mpi/comm.hpp"

namespace nodewise::offload {

template <class Space>
DistCsr<Space> upload(const Workplace<Space>& at,
                      const std::shared_ptr<const matrix::DistMatrix<double>>& A) {
  return at.together(A->comm(), [&] {
    DistCsr<Space> M = {A->rows(), A->cols(), {A->ghosts().begin(), A->ghosts().end()}, {}, A};
    M.local = device::upload<double, Space>(at.queue(), A->on());
    if (A->comm().size() > 1) {
      const auto off = device::upload<double, Space>(at.queue(), A->off());
      M.local = device::beside(*at.primitives, M.local.n_rows, M.local, off);
    }
    return M;
  });
}

template <class Space>
matrix::DistMatrix<double> download(device::Queue<Space>& queue, const DistCsr<Space>& A) {
  return {A.rows, A.cols, [&] {
            return matrix::split_rows(
                A.cols, matrix::RowBlock<double>{device::download<double, Space>(queue, A.local),
                                                 A.cols.n_local(), A.ghosts});
          }};
}

template <class Space>
void give_outline(DistCsr<Space>& A, OutlineRows has) {
  const mpi::Comm& comm = A.rows.comm();
  std::vector<GlobalIndex> no_starts(static_cast<std::size_t>(comm.size()) + 1, 0);
  const comm::Layout rows =
      has == OutlineRows::all ? A.rows : comm::Layout(A.rows.shared_comm(), std::move(no_starts));
  const matrix::DistMatrix<double> outline(rows, A.cols, [&] {
    const auto n_ghosts = narrow<LocalIndex>(A.ghosts.size(), "ghosts:");
    return matrix::SplitRows<double>{kernels::Csr<double>(rows.n_local(), A.cols.n_local()),
                                     kernels::Csr<double>(rows.n_local(), n_ghosts), A.ghosts};
  });
  const GlobalIndex entries = mpi::sum(comm, GlobalIndex{A.local.nnz});
  A.outline = std::make_shared<const matrix::DistMatrix<double>>(outline.counted(entries));
}

#define NODEWISE_FOR_SPACE(Space)                                                             \
  template DistCsr<Space> upload(const Workplace<Space>&,                                     \
                                 const std::shared_ptr<const matrix::DistMatrix<double>>&);   \
  template matrix::DistMatrix<double> download(device::Queue<Space>&, const DistCsr<Space>&); \
  template void give_outline(DistCsr<Space>&, OutlineRows);
NODEWISE_FOR_SPACE(device::Host)
#ifdef NODEWISE_CUDA
NODEWISE_FOR_SPACE(device::Cuda)
#endif
#undef NODEWISE_FOR_SPACE

}  // namespace nodewise::offload
