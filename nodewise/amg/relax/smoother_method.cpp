#include "nodewise/amg/relax/smoother_method.hpp"

#include "nodewise/base/parallel.hpp"

namespace nodewise::amg::relax {

SweepOrder order_of(const Choice<SmootherMethod>& smoother) {
  if (!smoother->is_directed()) return SweepOrder::forward;
  Choice<SmootherMethod> copy = smoother;
  return *(*smoother->order)(copy);
}

void set_order(Choice<SmootherMethod>& smoother, SweepOrder order) {
  if (smoother->is_directed()) *(*smoother->order)(smoother) = order;
}

bool needs_row_scales(const SmootherMethod& smoother, const mpi::Comm& comm) {
  const bool has_parts = comm.size() > 1 || parallel::threads() > 1;
  return smoother.l1_terms == L1Terms::all ||
         (smoother.l1_terms == L1Terms::between_parts && has_parts);
}

template <>
std::unique_ptr<const Relaxation<double>> make_relaxation(const matrix::DistMatrix<double>& A,
                                                          const Choice<SmootherMethod>& smoother,
                                                          const MatrixFacts& facts) {
  return (*smoother->in_double)(A, smoother, facts);
}

template <>
std::unique_ptr<const Relaxation<float>> make_relaxation(const matrix::DistMatrix<float>& A,
                                                         const Choice<SmootherMethod>& smoother,
                                                         const MatrixFacts& facts) {
  return (*smoother->in_float)(A, smoother, facts);
}

}  // namespace nodewise::amg::relax
